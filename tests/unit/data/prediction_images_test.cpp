// SPDX-License-Identifier: Apache-2.0
// New images for a trained network.
#include "smile/data/prediction_images.hpp"

#include <gtest/gtest.h>

#include "smile/error.hpp"
#include "support/media_files.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

DatasetInfo info_of(std::size_t channels, std::size_t height, std::size_t width,
                    std::vector<std::string> classes) {
  DatasetInfo info;
  info.image = ImageInfo{channels, height, width, std::vector<double>(channels, 0.5),
                         std::vector<double>(channels, 0.25)};
  info.labels.names = std::move(classes);
  return info;
}

std::string message_of(const fs::path& path, const DatasetInfo& info, bool resize = false) {
  try {
    PredictionImageReader reader(path, info, resize);
    for (PredictionImages block; reader.next(3, block);) {
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_status(), 2);
    return error.what();
  }
  return "";
}

void expect_error(const std::string& part, const fs::path& path, const DatasetInfo& info,
                  bool resize = false) {
  const std::string message = message_of(path, info, resize);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(PredictionImages, idx_images_come_in_blocks_with_the_labels_beside_them) {
  const TemporaryFolder folder;
  const auto info = info_of(1, 4, 3, {"0", "1", "2", "3", "4"});
  for (const bool packed : {false, true}) {
    const auto put = [&](const std::string& name, const std::string& content) {
      return folder.write(packed ? name + ".gz" : name, packed ? test::gzipped(content) : content);
    };
    const auto path = put("t10k-images-idx3-ubyte", test::idx_images(10, 4, 3));
    put("t10k-labels-idx1-ubyte", test::idx_labels({0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
    const auto alone = put("new-images", test::idx_images(10, 4, 3));
    PredictionImageReader reader(path, info, false), without(alone, info, false);
    EXPECT_EQ(reader.size(), 10u);
    EXPECT_EQ(reader.longest_name(), 0u);
    EXPECT_EQ(reader.files().size(), 2u);
    EXPECT_EQ(without.files(), std::vector<fs::path>{alone});
    PredictionImages block, other;
    std::size_t blocks = 0;
    for (; reader.next(4, block); ++blocks) {
      ASSERT_TRUE(without.next(4, other));
      EXPECT_TRUE(other.labels.empty());
      EXPECT_EQ(block.first, 4 * blocks);
      ASSERT_EQ(block.images.size(), blocks < 2 ? 4u : 2u);
      EXPECT_EQ(block.labels.at(1), (4 * blocks + 1) % 5);
      std::vector<float> a(block.images.size() * 12), b(a.size());
      block.images.assemble({}, a);
      other.images.assemble({}, b);
      EXPECT_EQ(a, b);
      // Normalised as in training.
      const std::string file = test::idx_images(10, 4, 3);
      const auto pixel = static_cast<unsigned char>(file[16 + 12 * block.first]);
      EXPECT_NEAR(a[0], (pixel / 255.0 - 0.5) / 0.25, 1e-6);
    }
    EXPECT_EQ(blocks, 3u);
  }
}

TEST(PredictionImages, photographs_are_named_resized_and_grey_where_the_network_is) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "new/sub");
  const auto picture = test::smooth_picture(20, 16);
  folder.write("new/b.png", test::png_file(20, 16, PNG_FORMAT_RGB, picture));
  folder.write("new/a.JPG", test::jpeg_file(20, 16, 3, picture));
  folder.write("new/readme.txt", "x");
  const auto colour = info_of(3, 10, 10, {"ant", "bee"}), grey = info_of(1, 20, 16, {"ant", "bee"});
  PredictionImageReader reader(folder / "new", colour, true);
  EXPECT_EQ(reader.size(), 2u);
  EXPECT_EQ(reader.longest_name(), 5u);
  ASSERT_EQ(reader.warnings().size(), 2u);
  EXPECT_NE(reader.warnings()[0].find("sub-folders are passed over"), std::string::npos);
  EXPECT_NE(reader.warnings()[1].find("1 files that are no"), std::string::npos);
  PredictionImages block;
  ASSERT_TRUE(reader.next(100, block));
  EXPECT_EQ(block.names, (std::vector<std::string>{"a.JPG", "b.png"}));
  EXPECT_TRUE(block.labels.empty());
  EXPECT_EQ(block.images.shape(), (ImageShape{3, 10, 10}));
  EXPECT_FALSE(reader.next(100, block));
  expect_error("the image is 16 × 20 (colour), and the network takes 10 × 10 (colour)", folder / "new",
               colour);

  // One file; red is 0.299 of white.
  std::vector<std::uint8_t> red(20 * 16 * 3);
  for (std::size_t i = 0; i < red.size(); i += 3) red[i] = 200;
  const auto path = folder.write("red.png", test::png_file(20, 16, PNG_FORMAT_RGB, red));
  PredictionImageReader one(path, grey, false);
  ASSERT_TRUE(one.next(1, block));
  EXPECT_EQ(block.names, std::vector<std::string>{"red.png"});
  std::vector<float> values(20 * 16);
  block.images.assemble({}, values);
  EXPECT_NEAR(values[7], (60 / 255.0 - 0.5) / 0.25, 1e-6);
}

TEST(PredictionImages, class_folders_give_labels_by_the_trainings_names) {
  const TemporaryFolder folder;
  const std::string png = test::png_file(8, 8, PNG_FORMAT_RGB, test::smooth_picture(8, 8));
  for (const char* name : {"wasp", "bee"}) {
    fs::create_directories(folder / "new" / name);
    for (const char* file : {"2.png", "1.png"}) folder.write(std::string("new/") + name + "/" + file, png);
  }
  const auto info = info_of(3, 8, 8, {"ant", "bee", "wasp"});
  PredictionImageReader reader(folder / "new", info, false);
  PredictionImages block;
  ASSERT_TRUE(reader.next(100, block));
  EXPECT_EQ(block.labels, (std::vector<std::uint32_t>{1, 1, 2, 2}));
  EXPECT_EQ(block.names, (std::vector<std::string>{"bee/1.png", "bee/2.png", "wasp/1.png", "wasp/2.png"}));
  fs::create_directories(folder / "new/moth");
  // An empty folder is no class, and images beside the classes' folders are no test of them.
  EXPECT_EQ(message_of(folder / "new", info), "");
  folder.write("new/moth/1.png", png);
  expect_error("moth: the training images have no class of this name", folder / "new", info);
  folder.write("new/1.png", png);
  expect_error("there are images beside the folder of the class bee", folder / "new", info);
}

TEST(PredictionImages, cifar_records_have_labels_where_training_had_those) {
  const TemporaryFolder folder;
  std::vector<std::string> ten;
  for (int c = 0; c < 10; ++c) ten.push_back("class " + std::to_string(c));
  auto info = info_of(3, 16, 16, ten);
  info.image->format = "cifar10";
  const auto path = folder.write("test.bin.gz", test::gzipped(test::cifar_records({7, 2, 9})));
  PredictionImageReader reader(path, info, true);
  PredictionImages block;
  ASSERT_TRUE(reader.next(2, block));
  EXPECT_EQ(block.labels, (std::vector<std::uint32_t>{7, 2}));
  EXPECT_EQ(block.images.shape(), (ImageShape{3, 16, 16}));
  ASSERT_TRUE(reader.next(2, block));
  EXPECT_EQ(block.labels, std::vector<std::uint32_t>{9});
  EXPECT_EQ(block.first, 2u);
  EXPECT_TRUE(reader.warnings().empty());
  // Others are predicted all the same.
  auto folders = info;
  folders.image->format = "folder";
  const auto few = info_of(3, 32, 32, {"0", "1"});
  for (const auto& other : {folders, few}) {
    PredictionImageReader unlabelled(path, other, true);
    ASSERT_TRUE(unlabelled.next(9, block));
    EXPECT_EQ(block.images.size(), 3u);
    EXPECT_TRUE(block.labels.empty());
    ASSERT_EQ(unlabelled.warnings().size(), 1u);
    EXPECT_NE(unlabelled.warnings()[0].find("its labels are left aside, as training had other classes"),
              std::string::npos);
  }
}

TEST(PredictionImages, what_cannot_be_predicted_is_told) {
  const TemporaryFolder folder;
  const auto info = info_of(1, 4, 3, {"0", "1"});
  expect_error("no such file", folder / "nothing", info);
  fs::create_directories(folder / "empty");
  expect_error("there are no images in it", folder / "empty", info);
  fs::create_directories(folder / "broken");
  folder.write("broken/x.png", "no picture");
  expect_error("broken/x.png", folder / "broken", info);
  expect_error("IDX file is cut short", folder.write("short", test::idx_images(3, 4, 3).substr(0, 40)), info);
  const auto images = folder.write("a-images-idx3-ubyte", test::idx_images(3, 4, 3));
  folder.write("a-labels-idx1-ubyte", test::idx_labels({0, 1, 2}));
  folder.write("a-labels-idx1-ubyte", test::idx_labels({0, 1}));
  expect_error("has 2 labels, but", images, info);
  expect_error("the image is 5 × 5 (grey), and the network takes 3 × 4 (grey)",
               folder.write("large", test::idx_images(3, 5, 5)), info);
  expect_error("and the network takes 32 × 32 (colour)", folder.write("grey", test::idx_images(3, 32, 32)),
               info_of(3, 32, 32, {"0", "1"}), true);
  const auto colour = info_of(3, 32, 32, {"0", "1"});
  for (const auto& network : {info, colour}) {
    const auto& part =
        network.image->channels == 1 ? "no image and no IDX file" : "no whole number of CIFAR-10 records";
    expect_error(part, folder.write("text", "hello"), network);
  }
  expect_error("no data; copy the file again, or give a .jpg", folder.write("nothing.bin", ""), colour);
  folder.write("broken/y.png", "");
  expect_error("2 images cannot be read", folder / "broken", info);
  fs::create_directory_symlink(folder / "loop", folder / "loop");
  EXPECT_NE(message_of(folder / "loop", info), "");
}

}  // namespace
}  // namespace smile
