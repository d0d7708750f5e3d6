// SPDX-License-Identifier: Apache-2.0
/// Advice about images, NumPy files and benchmarks is followed, too: the complaint must be gone, or a later
/// one come.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <regex>

#include "../pipeline/program.hpp"
#include "smile/files/npy.hpp"
#include "support/media_files.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using test::Outcome;
using test::smile;
using test::TemporaryFolder;
using Words = std::vector<std::string>;

/// Something that is refused, and what the advice means in deeds.
struct Deed {
  const char* name;
  std::function<void(const TemporaryFolder&)> make;  ///< the files; "data" is what the configuration names
  Words settings;
  const char* complaint;
  const char* advice;
  std::function<void(const TemporaryFolder&, Words&)> follow;
};
std::ostream& operator<<(std::ostream& out, const Deed& d) {
  return out << d.name;
}

class MediaAdvice : public testing::TestWithParam<Deed> {};

TEST_P(MediaAdvice, is_followed_and_the_complaint_is_gone) {
  const Deed& deed = GetParam();
  TemporaryFolder folder;
  deed.make(folder);
  const auto check = [&](const Words& settings) {
    const std::string config = folder.write("config.yaml",
                                            "model: {model: FCN}\ntraining: {warmstart: {batch_size: 2}, "
                                            "sampler: {batch_size: 2, n_chains: 1}}\n");
    Words words = {"check", config, "--set", "data.path=" + std::string(folder / "data")};
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    return smile(words);
  };
  Words settings = deed.settings;
  const Outcome refused = check(settings);
  ASSERT_EQ(refused.status, 2) << refused.error;
  EXPECT_TRUE(refused.is_one_line_error()) << refused.error;
  ASSERT_NE(refused.error.find(deed.complaint), std::string::npos) << refused.error;
  ASSERT_NE(refused.error.find(deed.advice, refused.error.find("; ")), std::string::npos) << refused.error;
  deed.follow(folder, settings);
  const Outcome after = check(settings);
  EXPECT_EQ(after.error.find(deed.complaint), std::string::npos) << after.error;
  EXPECT_EQ(after.error.find("there is no key"), std::string::npos) << after.error;
}

void make_folder(const TemporaryFolder& folder, bool two_sizes = false) {
  for (const char* name : {"cat", "dog"}) {
    fs::create_directories(folder / ("data/" + std::string(name)));
    for (int i = 0; i < 10; ++i) {
      const std::size_t side = two_sizes && i == 3 ? 12 : 8;
      folder.write("data/" + std::string(name) + "/" + std::to_string(i) + ".jpg",
                   test::jpeg_file(side, side, 3, test::smooth_picture(side, side)));
    }
  }
}

void make_idx(const TemporaryFolder& folder, int images = 20, int labels = 20) {
  fs::create_directories(folder / "data");
  std::vector<int> classes;
  for (int i = 0; i < labels; ++i) classes.push_back(i % 2);
  folder.write("data/train-images-idx3-ubyte", test::idx_images(std::uint32_t(images), 4, 4));
  folder.write("data/train-labels-idx1-ubyte", test::idx_labels(classes));
}

void make_cifar(const TemporaryFolder& folder, const char* name, bool bad = false) {
  fs::create_directories(folder / "data");
  std::vector<int> classes;
  for (int i = 0; i < 20; ++i) classes.push_back(bad && i == 3 ? 77 : i % 2);
  folder.write("data/" + std::string(name), test::cifar_records(classes));
}

const Words kImages = {"data.data_type=image", "data.task=class", "data.flatten=true"};
Words images_and(const Words& more) {
  Words all = kImages;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(
    Images, MediaAdvice,
    testing::Values(
        Deed{"photographs_of_two_sizes", [](const auto& f) { make_folder(f, true); }, kImages, "12 × 12",
             "data.image_size",
             [](const auto&, Words& settings) { settings.push_back("data.image_size=8"); }},
        Deed{"a_broken_photograph",
             [](const auto& f) {
               make_folder(f);
               f.write("data/cat/3.jpg", "\xff\xd8\xff broken");
             },
             kImages, "cat/3.jpg", "replace or remove the file",
             [](const auto& f, Words&) { fs::remove(f / "data/cat/3.jpg"); }},
        Deed{"two_broken_photographs",
             [](const auto& f) {
               make_folder(f);
               f.write("data/cat/3.jpg", "");
               f.write("data/dog/4.jpg", "no picture");
             },
             kImages, "2 images cannot be read", "replace or remove these files",
             [](const auto& f, Words&) {
               fs::remove(f / "data/cat/3.jpg"), fs::remove(f / "data/dog/4.jpg");
             }},
        Deed{"no_class_folders",
             [](const auto& f) {
               fs::create_directories(f / "data/train");
               fs::create_directories(f / "data/val");
             },
             images_and({"data.image_format=folder"}), "there are no class folders in it",
             "a folder of images for each class",
             [](const auto& f, Words&) {
               fs::remove_all(f / "data");
               make_folder(f);
             }},
        Deed{
            "labels_are_not_there",
            [](const auto& f) {
              make_idx(f);
              fs::rename(f / "data/train-labels-idx1-ubyte", f / "data/labels");
            },
            kImages, "train-labels-idx1-ubyte", "put",
            [](const auto& f, Words&) { fs::rename(f / "data/labels", f / "data/train-labels-idx1-ubyte"); }},
        Deed{"more_labels_than_images", [](const auto& f) { make_idx(f, 20, 21); }, kImages, "has 21 labels",
             "give the two files of one set", [](const auto& f, Words&) { make_idx(f); }},
        Deed{"an_idx_file_cut_short",
             [](const auto& f) {
               make_idx(f);
               fs::resize_file(f / "data/train-images-idx3-ubyte", 100);
             },
             kImages, "cut short", "copy or download the file again",
             [](const auto& f, Words&) { make_idx(f); }},
        Deed{"an_unknown_set_of_torchvision", [](const auto& f) { make_folder(f); },
             images_and({"data.source=torchvision"}), "names no set of torchvision's",
             "set data.source: local",
             [](const auto&, Words& settings) { settings.back() = "data.source=local"; }},
        Deed{"a_cifar_file_of_another_kind", [](const auto& f) { make_cifar(f, "train.bin", true); },
             images_and({"data.image_format=cifar10"}), "the label of record 3 is 77", "copy the file again",
             [](const auto& f, Words&) { make_cifar(f, "train.bin"); }},
        Deed{"an_empty_part", [](const auto& f) { make_folder(f); },
             images_and({"data.datapoint_limit=4", "data.valid_split=0.1"}), "the valid part empty",
             "give more images or change the fractions",
             [](const auto&, Words& settings) {
               settings.insert(settings.end(),
                               {"data.train_split=0.5", "data.valid_split=0.25", "data.test_split=0.25"});
             }}),
    [](const auto& kind) { return std::string(kind.param.name); });

void matrix(const TemporaryFolder& folder, const char* name, bool hole) {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(hole && i == 3 ? std::nan("") : (i * 7) % 11 + i * 0.1);
  write_npy(folder / name, {20, 3}, values);
}

/// In the folder of the test: the path of the configuration is a setting.
class NumpyAdvice : public testing::Test {
 protected:
  Outcome check(const Words& more) {
    const std::string config = folder_.write(
        "config.yaml", "training: {warmstart: {batch_size: 2}, sampler: {batch_size: 2, n_chains: 1}}\n");
    Words words = {"check",          config,  "--set",
                   "data.task=regr", "--set", "data.path=" + std::string(folder_ / "t.npy")};
    for (const std::string& setting : more) words.insert(words.end(), {"--set", setting});
    return smile(words);
  }
  TemporaryFolder folder_;
};

TEST_F(NumpyAdvice, is_followed_and_the_complaint_is_gone) {
  matrix(folder_, "t.npy", true);
  const Outcome missing = check({});
  ASSERT_EQ(missing.status, 2);
  ASSERT_NE(missing.error.find("or set 'data.missing: drop' or 'data.missing: mean'"), std::string::npos)
      << missing.error;
  EXPECT_EQ(check({"data.missing=drop"}).status, 0);
  EXPECT_EQ(check({"data.missing=mean"}).status, 0);
  write_npy(folder_ / "t.npy", {60}, std::vector<double>(60, 1.5));
  ASSERT_NE(check({}).error.find("; give an array of shape (rows, columns)"), std::string::npos);
  matrix(folder_, "t.npy", false);
  EXPECT_EQ(check({}).status, 0);
}

/// The advice of `smile analytic`: the right name, the key left out, a value of the range.
TEST(AnalyticAdvice, is_followed_and_the_complaint_is_gone) {
  const std::string good =
      "targets: [icg]\nnoises: [isotropic]\nsteps: 100\nchains: 2\nmethods:\n  - {name: psmile-naive, "
      "step_size: 0.01}\n";
  struct Case {
    const char *old, *fresh, *complaint;
  };
  for (const Case& c : std::vector<Case>{
           {"[icg]", "[icq]", "`icq` is unknown"},
           {"[isotropic]", "[isotrope]", "`isotrope` is unknown"},
           {"steps: 100", "stepz: 100", "there is no such key"},
           {"steps: 100", "steps: 0", "`0` is out of range"},
           {"steps: 100", "steps: many", "`many` is not a number"},
           {"chains: 2", "chains: 2.5", "`2.5` is out of range"},
           {"step_size: 0.01", "step_size: -1", "`-1` is out of range"},
           {"psmile-naive, step", "sgld, friction: 0.1, step", "sgld has no friction"},
           {"psmile-naive, step", "sgld, preconditioner_rate: 0.1, step", "sgld has no preconditioner"},
           {"psmile-naive, step", "mclmc, step", "decoherence_length: the key is missing"},
           {"[icg]", "icg", "is not a list of names"},
           {"[icg]", "[icg, icg]", "a name stands twice"},
           {"step_size: 0.01", "step_size: [0.1, 0.01]", "do not ascend"},
       }) {
    TemporaryFolder folder;
    std::string text = good;
    text.replace(text.find(c.old), std::strlen(c.old), c.fresh);
    const auto run = [&](const std::string& configuration) {
      return smile({"analytic", folder.write("a.yaml", configuration), "--out",
                    folder / ("out" + std::to_string(configuration.size()))});
    };
    const Outcome refused = run(text);
    ASSERT_EQ(refused.status, 2) << c.fresh << refused.error;
    EXPECT_TRUE(refused.is_one_line_error()) << refused.error;
    ASSERT_NE(refused.error.find(c.complaint), std::string::npos) << refused.error;
    const std::string mend = refused.error.substr(refused.error.find("; ") + 2);
    std::smatch m;
    const std::string fresh = c.fresh;
    std::string followed;
    if (std::regex_search(mend, m, std::regex("did you mean `([^`]*)`"))) {
      // The word that is closest to it is the one that was changed.
      followed = c.old;
      EXPECT_NE(std::string(c.old).find(m[1]), std::string::npos) << mend;
    } else if (mend.find("leave the key out") != std::string::npos) {
      followed = std::regex_replace(fresh, std::regex("(friction|preconditioner_rate): 0.1, "), "");
    } else if (mend.find("give mclmc a number") != std::string::npos) {
      followed = "mclmc, decoherence_length: 10, step";
    } else if (std::regex_search(mend, m, std::regex("write, for example, (\\[[^\\]]*\\])"))) {
      followed = m[1];
    } else if (mend.find("keep one of the two") != std::string::npos) {
      followed = "[icg]";
    } else if (mend.find("ascending order") != std::string::npos) {
      followed = "step_size: [0.01, 0.1]";
    } else if (mend.find("expected ") != std::string::npos) {
      followed = c.old;  // a value of the range that the advice states
      EXPECT_TRUE(std::regex_search(mend, std::regex("(>|≥|\\[|\\() ?-?[0-9]"))) << mend;
    }
    ASSERT_NE(followed, "") << "advice that cannot be followed: " << mend;
    std::string mended = good;
    mended.replace(mended.find(c.old), std::strlen(c.old), followed);
    const Outcome after = run(mended);
    EXPECT_EQ(after.status, 0) << mend << "\n" << mended << after.error;
  }
}

/// A text in another encoding: the command that is printed writes the file that is read.
TEST(TableAdvice, the_printed_conversion_gives_a_table_that_is_read) {
  if (std::system("iconv --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no iconv";
  TemporaryFolder folder;
  fs::create_directories(folder / "a b");
  std::string latin1 =
                  "gr\xf6\xdf"
                  "e,y\n",
              utf16("\xff\xfe", 2);
  for (int i = 0; i < 40; ++i) latin1 += std::to_string(i % 7) + "," + std::to_string(i % 5) + ".5\n";
  for (const char c : std::string("x,y\n") + latin1.substr(latin1.find('\n') + 1)) utf16 += c, utf16 += '\0';
  for (const std::string& text : {latin1, utf16}) {
    const std::string table = folder.write("a b/t.csv", text);
    const Outcome refused = smile({"init", table, "--out", folder / "x.yaml", "--replace"});
    ASSERT_EQ(refused.status, 2);
    std::smatch m;
    ASSERT_TRUE(std::regex_search(refused.error, m, std::regex("`(iconv [^`]*)`"))) << refused.error;
    ASSERT_EQ(std::system(("cd '" + folder.path().string() + "' && " + std::string(m[1])).c_str()), 0)
        << m[1];
    const Outcome read = smile({"init", folder / "new.csv", "--out", folder / "x.yaml", "--replace"});
    EXPECT_EQ(read.status, 0) << read.error;
  }
}

}  // namespace
}  // namespace smile
