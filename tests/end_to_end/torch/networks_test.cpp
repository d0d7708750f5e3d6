// SPDX-License-Identifier: Apache-2.0
// Images and text from files to metrics with LibTorch networks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "data.hpp"
#include "end_to_end/pipeline/program.hpp"
#include "smile/files/npy.hpp"
#include "support/media_files.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

double metric(const fs::path& run, const std::string& name, const char* phase = "sampling") {
  const json text = json::parse(content_of(run / "eval" / "metrics.json"));
  for (const auto& row : text["metrics"])
    if (row["name"] == name && row[phase].is_number()) return row[phase];
  return NAN;
}

void expect_same_draws(const fs::path& a, const fs::path& b) {
  for (const std::string name : {"samples/chain-00.npy", "samples/chain-01.npy"}) {
    ASSERT_GT(content_of(a / name).size(), 1000u);
    EXPECT_TRUE(content_of(a / name) == content_of(b / name)) << name;
  }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class Images : public testing::Test {
 protected:
  Images() { write_idx(folder / "images", 400, 101); }
  TemporaryFolder folder;
  const std::string data = (folder / "images").string();
};

TEST_F(Images, LeNetLearnsSamplesAndIsEvaluatedOnEveryImage) {
  const auto config = folder.write("config.yaml", lenet_config(data));
  const fs::path run = folder / "run";
  const Outcome outcome = smile({"run", config, "--out", run});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  // 12×12, 4 classes: 6·26 + 16·151 + 120·(16·1·1 + 1) + 84·121 + 4·85.
  EXPECT_EQ(NpyRows(run / "samples/chain-00.npy").columns(),
            6u * 26 + 16 * 151 + 120 * 17 + 84 * 121 + 4 * 85);
  EXPECT_GT(metric(run, "accuracy"), 0.8);
  EXPECT_GT(metric(run, "accuracy", "ensemble_initialization"), 0.8);
  EXPECT_GT(metric(run, "LPPD"), -0.7);
  const auto arrays = read_npz(run / "eval/predictions.npz");
  EXPECT_EQ(array_named(arrays, "lppd", run).shape(), std::vector<std::size_t>{101});
  const json parameters = json::parse(content_of(run / "parameters.json"));
  EXPECT_EQ(parameters.front()["name"], "conv1.weight");
  EXPECT_EQ(parameters.front()["shape"], (json{6, 1, 5, 5}));
  // The run evaluates again from its own directory alone.
  const json before = json::parse(content_of(run / "eval/metrics.json"));
  ASSERT_EQ(smile({"evaluate", run, "--quiet"}).status, 0);
  EXPECT_EQ(json::parse(content_of(run / "eval/metrics.json"))["metrics"], before["metrics"]);
}

/// The column of a CSV file of predictions.
std::vector<std::string> column(const fs::path& csv, const std::string& name) {
  std::istringstream lines(content_of(csv));
  std::vector<std::string> values;
  std::size_t place = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::vector<std::string> all;
    for (std::string field; std::getline(fields, field, ',');) all.push_back(field);
    if (values.empty()) place = std::size_t(std::find(all.begin(), all.end(), name) - all.begin());
    values.push_back(place < all.size() ? all[place] : "");
  }
  values.erase(values.begin());
  return values;
}

TEST_F(Images, NewImagesArePredictedAsTheTestPartIs) {
  const auto config = folder.write("config.yaml", lenet_config(data));
  const fs::path run = folder / "run", csv = folder / "new.csv";
  ASSERT_EQ(smile({"run", config, "--out", run, "--quiet"}).status, 0);
  const Outcome known =
      smile({"predict", run, "--data", folder / "images/t10k-images-idx3-ubyte", "--out", csv});
  ASSERT_EQ(known.status, 0) << known.error;
  double lppd = 0, accuracy = 0;
  ASSERT_EQ(std::sscanf(known.out.c_str(), "LPPD: %lf\naccuracy: %lf", &lppd, &accuracy), 2) << known.out;
  EXPECT_NEAR(lppd, metric(run, "LPPD"), 6e-5);
  EXPECT_NEAR(accuracy, metric(run, "accuracy"), 6e-5);
  const auto expected = column(csv, "p_2"), predicted = column(csv, "predicted");
  ASSERT_EQ(expected.size(), 101u);

  // As pictures, without labels.
  const std::string idx = content_of(folder / "images/t10k-images-idx3-ubyte");
  fs::create_directories(folder / "pictures");
  for (std::size_t i = 0; i < 3; ++i) {
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(idx.data()) + 16 + 144 * i;
    folder.write("pictures/" + std::to_string(i) + ".png",
                 png_file(12, 12, PNG_FORMAT_GRAY, std::vector<std::uint8_t>(pixels, pixels + 144)));
  }
  const Outcome pictures = smile({"predict", run, "--data", folder / "pictures", "--out", csv});
  ASSERT_EQ(pictures.status, 0) << pictures.error;
  EXPECT_EQ(pictures.out, csv.string() + "\n");
  EXPECT_EQ(column(csv, "file"), (std::vector<std::string>{"0.png", "1.png", "2.png"}));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(std::stod(column(csv, "p_2").at(i)), std::stod(expected[i]), 1e-6);
    EXPECT_EQ(column(csv, "predicted").at(i), predicted[i]);
  }
  ASSERT_EQ(smile({"predict", run, "--data", folder / "pictures", "--out", folder / "new.json"}).status, 0);
  EXPECT_EQ(json::parse(content_of(folder / "new.json"))[1]["file"], "1.png");
  ASSERT_EQ(smile({"predict", run, "--data", folder / "pictures", "--out", folder / "new.npy"}).status, 0);
  EXPECT_NE(content_of(folder / "new.npy").find("('row', '<i8'), ('file', '<U5'), ('predicted', '<U1')"),
            std::string::npos);

  folder.write("pictures/3.png", png_file(9, 9, PNG_FORMAT_GRAY, std::vector<std::uint8_t>(81)));
  const Outcome wrong = smile({"predict", run, "--data", folder / "pictures", "--out", folder / "wrong.csv"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(wrong.is_one_line_error()) << wrong.error;
  EXPECT_NE(wrong.error.find("3.png: the image is 9 × 9 (grey), and the network takes 12 × 12 (grey)"),
            std::string::npos)
      << wrong.error;
  EXPECT_FALSE(fs::exists(folder / "wrong.csv"));
  fs::remove(folder / "pictures/3.png");
  const std::string picture = content_of(folder / "pictures/1.png");
  const Outcome replacing = smile(
      {"predict", run, "--data", folder / "pictures", "--out", folder / "pictures/1.png", "--format", "csv"});
  EXPECT_EQ(replacing.status, 2);
  EXPECT_NE(replacing.error.find("which is read"), std::string::npos);
  EXPECT_TRUE(content_of(folder / "pictures/1.png") == picture);
}

TEST_F(Images, DrawsDoNotDependOnThreads) {
  const auto config = folder.write("config.yaml", lenet_config(data, "psmile"));
  for (const char* threads : {"1", "2"})
    ASSERT_EQ(smile({"run", config, "--out", folder / threads, "--threads", threads, "--quiet"}).status, 0);
  expect_same_draws(folder / "1", folder / "2");
}

TEST_F(Images, InterruptedKilledAndResumedEndsInTheSameBytes) {
  const auto config = folder.write("config.yaml", lenet_config(data, "psmile"));
  const auto command = [&](const char* name, bool resume) {
    std::vector<std::string> arguments = {
        "run", config, "--out", folder / name, "--set", "training.sampler.n_samples=400", "--quiet"};
    if (resume) arguments.push_back("--resume");
    return arguments;
  };
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(smile(command("whole", false)).status, 0);
  const auto length =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  int stopped = 0;
  for (const auto& [signal, at] : {std::pair{SIGINT, 3}, {SIGKILL, 2}, {SIGINT, 5}, {SIGKILL, 1}}) {
    Program program(command("broken", fs::exists(folder / "broken/config.yaml")));
    std::this_thread::sleep_for(length * at / 7);
    program.send(signal);
    if (program.wait().status != 0) ++stopped;
  }
  EXPECT_GE(stopped, 2);
  const Outcome last = smile(command("broken", true));
  ASSERT_EQ(last.status, 0) << last.error;
  expect_same_draws(folder / "whole", folder / "broken");
}

TEST_F(Images, EverySamplerMovesALeNet) {
  const auto config = folder.write("config.yaml", lenet_config(data));
  ASSERT_EQ(smile({"run", config, "--out", folder / "first", "--quiet"}).status, 0);
  for (const char* sampler : {"smile-naive", "psmile-naive", "smile", "psmile", "smile-auto", "sghmc"}) {
    const bool automatic = std::string(sampler).ends_with("-auto");
    std::vector<std::string> arguments = {
        "run",
        config,
        "--out",
        folder / sampler,
        "--quiet",
        "--set",
        std::string("training.sampler.name=") + sampler,
        "--set",
        "training.warmstart.warmstart_exp_dir=" + (folder / "first").string()};
    if (!automatic) {
      arguments.push_back("--set");
      arguments.push_back(std::string("training.sampler.step_size=") +
                          (std::string(sampler) == "sghmc" ? "1e-6" : "0.003"));
    }
    const Outcome outcome = smile(arguments);
    EXPECT_EQ(outcome.status, 0) << sampler << ": " << outcome.error;
    EXPECT_GT(metric(folder / sampler, "accuracy"), 0.6) << sampler;
  }
}

// The last layers move, the others stay at their member's values and are stored once.
TEST_F(Images, FrozenLayersStay) {
  const auto config = folder.write(
      "config.yaml", lenet_config(data, "psmile-auto", "    params_frozen: [conv1, conv2, dense1]\n"));
  const fs::path run = folder / "run";
  const Outcome outcome = smile({"run", config, "--out", run, "--quiet"});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(NpyRows(run / "samples/chain-00.npy").columns(), 84u * 121 + 4 * 85);
  EXPECT_GT(metric(run, "accuracy"), 0.8);
  // A file of one draw has the whole network; stacked draws have the frozen tensors once a chain.
  const Outcome each = smile({"export", run, "--format", "torch", "--per-draw", "--out", folder / "each"});
  ASSERT_EQ(each.status, 0) << each.error;
  EXPECT_GT(fs::file_size(folder / "each/chain-01-draw-000003.pt"),
            4u * (6 * 26 + 16 * 151 + 120 * 17 + 84 * 121));
  ASSERT_EQ(smile({"export", run, "--format", "npz", "--out", folder / "draws.npz"}).status, 0);
  const auto arrays = read_npz(folder / "draws.npz");
  EXPECT_EQ(array_named(arrays, "dense2.weight", run).shape(), (std::vector<std::size_t>{2, 20, 84, 120}));
  const NpyArray frozen = array_named(arrays, "conv1.weight", run);
  EXPECT_EQ(frozen.shape(), (std::vector<std::size_t>{2, 6, 1, 5, 5}));
  const auto values = frozen.as<float>();
  for (std::size_t chain : {0, 1}) {
    const auto member = read_npy(run / ("warmstart/member-0" + std::to_string(chain) + ".npy")).as<float>();
    EXPECT_TRUE(
        std::equal(member.begin(), member.begin() + 150, values.begin() + std::ptrdiff_t(chain * 150)));
  }
  // Evaluation puts members and draws together again.
  const json before = json::parse(content_of(run / "eval/metrics.json"));
  ASSERT_EQ(smile({"evaluate", run, "--quiet"}).status, 0);
  EXPECT_EQ(json::parse(content_of(run / "eval/metrics.json"))["metrics"], before["metrics"]);
}

TEST_F(Images, AreFlattenedForTheFcnOfBothEngines) {
  const auto text = replaced(replaced(lenet_config(data), "model: LeNet\n  activation: gelu",
                                      "model: FCN\n  hidden_structure: [12, 4]\n  activation: tanh"),
                             "data_type: image", "data_type: image\n  flatten: true");
  const auto config = folder.write("config.yaml", text);
  for (const char* engine : {"native", "torch"}) {
    const Outcome outcome = smile(
        {"run", config, "--out", folder / engine, "--quiet", "--set", std::string("model.engine=") + engine});
    ASSERT_EQ(outcome.status, 0) << engine << ": " << outcome.error;
    EXPECT_GT(metric(folder / engine, "accuracy"), 0.7) << engine;
  }
  // New images, flattened likewise.
  for (const char* engine : {"native", "torch"}) {
    const Outcome outcome =
        smile({"predict", folder / engine, "--data", folder / "images/t10k-images-idx3-ubyte"});
    ASSERT_EQ(outcome.status, 0) << engine << ": " << outcome.error;
    double lppd = 0;
    ASSERT_EQ(std::sscanf(outcome.out.c_str(), "LPPD: %lf", &lppd), 1) << outcome.out;
    EXPECT_NEAR(lppd, metric(folder / engine, "LPPD"), 6e-5) << engine;
  }
  // One seed, one network: the members are the same up to rounding.
  EXPECT_NEAR(metric(folder / "native", "LPPD", "ensemble_initialization"),
              metric(folder / "torch", "LPPD", "ensemble_initialization"), 1e-3);
}

TEST_F(Images, WrongInputIsToldInOneLine) {
  const auto config = folder.write("config.yaml", lenet_config(data));
  const auto refused = [&](const std::vector<std::string>& settings, const std::string& expected) {
    std::vector<std::string> arguments = {"run", config, "--out", folder / "never", "--quiet"};
    for (const auto& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    const Outcome outcome = smile(arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.error;
    EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
    EXPECT_NE(outcome.error.find(expected), std::string::npos) << outcome.error;
    EXPECT_FALSE(fs::exists(folder / "never"));
  };
  folder.write("text.pt", "this is no network");
  refused({"model.model=torchscript", "model.path=" + (folder / "text.pt").string()},
          "this is no TorchScript file; save the network with torch.jit.script");
  refused({"model.model=torchscript", "model.path=" + (folder / "none.pt").string()},
          "there is no such file");
  refused({"model.model=torchscript"}, "the TorchScript file is not given; add model.path");
  refused({"model.model=ViT", "model.patch_size=5"}, "no whole number of patches of 5");
  refused({"model.model=GPT"}, "do not go together");
  refused({"model.out_dim=3"}, "the label of item 3 is 3, out of the range 0 to 2");
  refused({"data.image_format=cifar10"}, "images");
  refused({"data.image_size=8"}, "LeNet cannot take images of 8×8");
  refused({"model.model=ResNet7", "data.image_size=4"}, "ResNet7 cannot take images of 4×4");
  refused({"data.image_size=100000"}, "data.image_size: `100000`");
  refused({"data.flatten=true"}, "LeNet takes images as they are");
  refused({"training.warmstart.warmstart_files=[" + (folder / "text.pt").string() + "]",
           "training.warmstart.warmstart_exp_dir=" + folder.path().string()},
          "both warmstart_files and warmstart_exp_dir");
  refused({"training.warmstart.warmstart_files=[" + (folder / "text.pt").string() + "]"},
          "this is no TorchScript file");
  if (smile({"run", config, "--out", folder / "cuda", "--quiet", "--device", "cuda"}).status == 2)
    refused({"device=cuda"}, "`cuda` is not available in this build: ");
}

TEST(Tables, TheNativeEngineIsNotAskedForADevice) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const Outcome outcome = smile({"run", config, "--out", folder / "run", "--quiet", "--device", "cuda"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
  EXPECT_NE(
      outcome.error.find("the native engine of FCN computes on the CPU; write cpu, or model.engine: torch"),
      std::string::npos)
      << outcome.error;
  EXPECT_FALSE(fs::exists(folder / "run"));
}

TEST(Tables, BothEnginesPredictNewRows) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  for (const char* engine : {"native", "torch"}) {
    const fs::path run = folder / engine;
    const Outcome outcome =
        smile({"run", config, "--out", run, "--quiet", "--set", std::string("model.engine=") + engine,
               "--set", "evaluation_args.ood=" + airfoil()});
    ASSERT_EQ(outcome.status, 0) << engine << ": " << outcome.error;
    // The whole data set against its test rows: no telling them apart.
    EXPECT_NEAR(metric(run, "OOD AUROC of log-density"), 0.5, 0.06) << engine;
    std::vector<std::string> rows;
    std::istringstream lines(content_of(airfoil()));
    for (std::string line; std::getline(lines, line);) rows.push_back(line);
    std::string text;
    const auto splits = read_npz(run / "dataset_splits.npz");
    for (const auto row : array_named(splits, "test", run).as<std::uint32_t>()) text += rows.at(row) + "\n";
    const Outcome predicted = smile({"predict", run, "--data", folder.write("test.data", text), "--out",
                                     folder / (std::string(engine) + ".csv")});
    ASSERT_EQ(predicted.status, 0) << engine << ": " << predicted.error;
    const auto at = predicted.out.find("LPPD: ");
    ASSERT_NE(at, std::string::npos) << predicted.out;
    EXPECT_NEAR(std::stod(predicted.out.substr(at + 6)), metric(run, "LPPD"), 1e-4) << engine;
  }
}

#ifdef SMILE_EXAMPLE_TORCH_MODULE
// examples/03_torch_module.cpp: a module of one's own in a C++ program.
TEST(Library, AModuleOfOnesOwnIsSampled) {
  TemporaryFolder folder;
  const std::string out = (folder / "out.txt").string();
  const std::string command = std::string(SMILE_EXAMPLE_TORCH_MODULE) + " " + airfoil() + " " +
                              (folder / "chains").string() + " >" + out + " 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << content_of(out);
  const std::string text = content_of(out);
  const auto lppd = [&](const std::string& row) {
    const auto line = text.find(row), at = text.find("LPPD ", line);
    return line == std::string::npos || at == std::string::npos ? NAN : std::stod(text.substr(at + 5));
  };
  EXPECT_GT(lppd("psmile-auto"), 0) << text;
  EXPECT_GT(lppd("psmile-auto"), lppd("deep ensemble")) << text;
}
#endif

class Text : public testing::Test {
 protected:
  TemporaryFolder folder;
  const std::string data = folder.write("text.txt", patterned_text(700)).string();
};

TEST_F(Text, GptLearnsSamplesAndWrites) {
  const auto config = folder.write("config.yaml", gpt_config(data));
  const fs::path run = folder / "run";
  const Outcome outcome = smile({"run", config, "--out", run});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  // A character of some words is known from those before it: far better than the entropy of the letters.
  EXPECT_LT(metric(run, "perplexity"), 6);
  EXPECT_NEAR(metric(run, "perplexity"), std::exp(-metric(run, "LPPD")), 1e-9);
  const auto arrays = read_npz(run / "eval/predictions.npz");
  const json splits = json::parse(content_of(run / "eval/metrics.json"));
  const std::size_t characters = [&] {
    std::size_t count = 0;
    for (const char c : patterned_text(700)) count += (c & 0xc0) != 0x80;
    return count;
  }();
  // Every token of the test part but the first.
  const std::size_t test =
      characters - std::size_t(0.7 * double(characters)) - std::size_t(0.1 * double(characters));
  EXPECT_EQ(array_named(arrays, "lppd", run).shape(), std::vector<std::size_t>{test - 1});
  const auto write = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"generate", run, "--prompt", "petty ", "--tokens", "60"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return smile(arguments);
  };
  const Outcome text = write({});
  ASSERT_EQ(text.status, 0) << text.error;
  EXPECT_EQ(text.out.rfind("petty ", 0), 0u) << text.out;
  EXPECT_GE(text.out.size(), 60u);
  EXPECT_EQ(write({}).out, text.out);
  EXPECT_NE(write({"--seed", "5"}).out, text.out);
  // Almost no temperature: always the likeliest.
  EXPECT_EQ(write({"--temperature", "1e-6", "--seed", "5"}).out, write({"--temperature", "1e-6"}).out);
  EXPECT_EQ(write({"--seed", "-1"}).status, 2);
  const Outcome unknown = smile({"generate", run, "--prompt", "Ω"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(unknown.is_one_line_error()) << unknown.error;
  EXPECT_NE(unknown.error.find("vocabulary"), std::string::npos) << unknown.error;
}

TEST_F(Text, WrongInputIsToldInOneLine) {
  const auto config = folder.write("config.yaml", gpt_config(data));
  for (const auto& [setting, expected] :
       {std::pair<std::string, std::string>{"model.context_len=100000", "text.txt"},
        {"model.vocab_size=80", "model.vocab_size: 80, but the data have"},
        {"model.n_heads=3", "16 is no multiple of the 3 heads"},
        {"model.emb_size=1000000", "model.emb_size: `1000000`"},
        {"training.tokenizer.tokenizer=BPE", "`BPE` is not available in this build"},
        {"data.path=" + folder.write("one.txt", std::string(5000, 'a')).string(),
         "all its characters are the same"}}) {
    const Outcome outcome = smile({"run", config, "--out", folder / "never", "--quiet", "--set", setting});
    EXPECT_EQ(outcome.status, 2) << outcome.error;
    EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
    EXPECT_NE(outcome.error.find(expected), std::string::npos) << outcome.error;
  }
}

// What is for images has no effect on texts.
TEST_F(Text, AugmentationIsForImages) {
  const auto config = folder.write("config.yaml", gpt_config(data));
  const Outcome outcome =
      smile({"run", config, "--out", folder / "run", "--set", "data.augment=basic", "--set",
             "training.warmstart.max_epochs=1", "--set", "training.sampler.n_samples=12"});
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_NE(outcome.error.find("data.augment has no effect here"), std::string::npos) << outcome.error;
}

// Text is written with the chains that are sound, and the others are named.
TEST_F(Text, GenerateNamesAChainLeftOut) {
  const auto config = folder.write("config.yaml", gpt_config(data));
  const fs::path run = folder / "run";
  ASSERT_EQ(smile({"run", config, "--out", run, "--quiet", "--set", "training.warmstart.max_epochs=1",
                   "--set", "training.sampler.n_samples=12"})
                .status,
            0);
  fs::resize_file(run / "samples/chain-01.npy", fs::file_size(run / "samples/chain-01.npy") - 100);
  const Outcome outcome = smile({"generate", run, "--prompt", "petty ", "--tokens", "5"});
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_NE(outcome.error.find("chain 1 failed and is left out"), std::string::npos) << outcome.error;
}

TEST_F(Text, ResumeRefusesAnotherVocabulary) {
  const auto config = folder.write("config.yaml", gpt_config(data));
  const std::vector<std::string> settings = {"--set", "training.sampler.n_samples=12", "--set",
                                             "training.warmstart.max_epochs=1", "--quiet"};
  std::vector<std::string> run = {"run", config, "--out", folder / "run"};
  run.insert(run.end(), settings.begin(), settings.end());
  ASSERT_EQ(smile(run).status, 0);
  std::string other = patterned_text(700);  // as many characters, but one of them another
  for (std::size_t at; (at = other.find("—")) != std::string::npos;) other.replace(at, 3, "Ω");
  folder.write("text.txt", other);
  run.push_back("--resume");
  const Outcome outcome = smile(run);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
  EXPECT_NE(outcome.error.find("its characters are not those"), std::string::npos) << outcome.error;
  const Outcome evaluated = smile({"evaluate", folder / "run"});
  EXPECT_EQ(evaluated.status, 2);
  EXPECT_NE(evaluated.error.find("its characters are not those"), std::string::npos) << evaluated.error;
}

/// Python with PyTorch, or nothing.
std::string python_with_torch() {
  for (const char* python : {"/usr/bin/python3", "python3"})
    if (std::system((std::string(python) + " -c 'import torch, numpy' >/dev/null 2>&1").c_str()) == 0)
      return python;
  return {};
}

// One documented path: trained in Python, scripted, sampled, evaluated, exported, loaded back.
TEST_F(Images, ANetworkTrainedInPythonIsSampledAndItsDrawsGoBackIntoIt) {
  const std::string python = python_with_torch();
  if (python.empty()) GTEST_SKIP() << "no Python with PyTorch";
  const std::string examples = SMILE_SOURCE_DIR "/examples/python_network/";
  const std::string network = (folder / "network.pt").string(), log = (folder / "log").string();
  const auto call = [&](const std::string& command) {
    return std::system((python + " " + command + " >" + log + " 2>&1").c_str());
  };
  ASSERT_EQ(call(examples + "train.py " + data + " " + network + " --epochs 6"), 0) << content_of(log);
  const auto text =
      replaced(replaced(lenet_config(data), "model: LeNet\n  activation: gelu",
                        "model: torchscript\n  path: " + network),
               "max_epochs: 6\n    batch_size: 32\n    optimizer_config: {name: adamw, parameters: "
               "{learning_rate: 0.003}}",
               "warmstart_files: [" + network + "]");
  const auto config = folder.write("config.yaml", text + "evaluations: [PredPerf, Lppd, PredSaver]\n");
  const fs::path run = folder / "run";
  const Outcome outcome = smile({"run", config, "--out", run, "--quiet"});
  ASSERT_EQ(outcome.status, 0) << outcome.error << "\n" << text;
  EXPECT_GT(metric(run, "accuracy"), 0.8);
  const json parameters = json::parse(content_of(run / "parameters.json"));
  EXPECT_EQ(parameters.front()["name"], "features.0.weight");
  const Outcome exported =
      smile({"export", run, "--format", "safetensors", "--per-draw", "--out", folder / "draws", "--quiet"});
  ASSERT_EQ(exported.status, 0) << exported.error;
  EXPECT_EQ(call(examples + "load_draw.py " + (folder / "draws/chain-01-draw-000005.safetensors").string() +
                 " " + network + " " + data + " --outputs " + (run / "eval/outputs-01.npy").string()),
            0)
      << content_of(log);

  // Another network in the file's place is noticed.
  const std::string kept = content_of(network);
  ASSERT_EQ(call("-c \"import torch; m = torch.jit.load('" + network + "'); p = next(m.parameters()); " +
                 "p.data.mul_(2); m.save('" + network + "')\""),
            0)
      << content_of(log);
  for (const auto& arguments :
       {std::vector<std::string>{"evaluate", run}, {"run", config, "--out", run, "--resume", "--quiet"}}) {
    const Outcome swapped = smile(arguments);
    EXPECT_EQ(swapped.status, 2) << swapped.error;
    EXPECT_TRUE(swapped.is_one_line_error()) << swapped.error;
    EXPECT_NE(swapped.error.find("it is not the network that the run in"), std::string::npos)
        << swapped.error;
  }
  folder.write("network.pt", kept);
  EXPECT_EQ(smile({"evaluate", run, "--quiet"}).status, 0);
  // Nor are chains started at numbers that are none.
  const std::string broken = (folder / "broken.pt").string();
  ASSERT_EQ(call("-c \"import torch; m = torch.jit.load('" + network + "'); p = next(m.parameters()); " +
                 "p.data.mul_(float('nan')); m.save('" + broken + "')\""),
            0)
      << content_of(log);
  const Outcome nan = smile({"run", config, "--out", folder / "never", "--quiet", "--set",
                             "training.warmstart.warmstart_files=[" + broken + "]"});
  EXPECT_EQ(nan.status, 2) << nan.error;
  EXPECT_NE(nan.error.find("has a value that is not a number"), std::string::npos) << nan.error;

  const auto script = [&](const std::string& module, const std::string& file) {
    return call("-c \"import torch; n = torch.nn; torch.jit.script(" + module + ").save('" + file + "')\"");
  };
  const auto refused_as = [&](const std::string& file, const std::string& expected) {
    const Outcome refused = smile({"run", config, "--out", folder / "never", "--quiet", "--set",
                                   "model.path=" + file, "--set", "training.warmstart.warmstart_files=null"});
    EXPECT_EQ(refused.status, 2) << refused.error;
    EXPECT_TRUE(refused.is_one_line_error()) << refused.error;
    EXPECT_NE(refused.error.find(expected), std::string::npos) << refused.error;
  };
  for (const auto& [body, expected] :
       {std::pair<std::string, std::string>{"torch.nn.functional.dropout(self.l(x.flatten(1)), 0.3)",
                                            "the output for a row depends on"},
        {"self.l(x.flatten(1) - x.flatten(1).mean(0))", "the output for a row depends on"},
        {"self.l(x.flatten(1)).detach()", "no gradient can be taken of the network"}}) {
    const std::string file = (folder / "odd.pt").string();
    const auto code = folder.write("odd.py",
                                   "import torch\nclass Odd(torch.nn.Module):\n    def __init__(self):\n"
                                   "        super().__init__()\n        self.l = torch.nn.Linear(144, 4)\n"
                                   "    def forward(self, x):\n        return " +
                                       body + "\ntorch.jit.script(Odd().eval()).save('" + file + "')\n");
    ASSERT_EQ(call(code.string()), 0) << content_of(log);
    refused_as(file, expected);
  }
  for (const auto& [module, expected] :
       {std::pair<std::string, std::string>{
            "n.Sequential(n.Flatten(), n.Linear(144, 8), n.BatchNorm1d(8), n.Linear(8, 4))",
            "layer 2: BatchNorm1d in training mode"},
        {"n.Sequential(n.Flatten(), n.Dropout(0.3), n.Linear(144, 4))", "layer 1: Dropout is active"},
        {"n.Sequential(n.Flatten(), n.Linear(144, 3))", "the task needs 4"},
        {"n.Sequential(n.Flatten(), n.Linear(99, 4))", "the network does not take these data"}}) {
    const std::string file = (folder / "refused.pt").string();
    ASSERT_EQ(script(module, file), 0) << content_of(log);
    refused_as(file, expected);
  }
}

}  // namespace
}  // namespace smile::test
