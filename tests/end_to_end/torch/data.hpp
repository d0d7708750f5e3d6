// SPDX-License-Identifier: Apache-2.0
/// Small data sets written as the files a user has.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace smile::test {

/// Images of one bright square whose place is the class (four of them), with noise, in IDX files.
inline void write_idx(const std::filesystem::path& folder, std::size_t train, std::size_t test,
                      std::size_t side = 12) {
  std::filesystem::create_directories(folder);
  std::mt19937 random(5);
  const auto number = [](std::ofstream& out, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) out.put(char(value >> shift));
  };
  for (const auto& [part, count] : {std::pair<std::string, std::size_t>{"train", train}, {"t10k", test}}) {
    std::ofstream images(folder / (part + "-images-idx3-ubyte"), std::ios::binary);
    std::ofstream labels(folder / (part + "-labels-idx1-ubyte"), std::ios::binary);
    number(images, 2051), number(images, std::uint32_t(count));
    number(images, std::uint32_t(side)), number(images, std::uint32_t(side));
    number(labels, 2049), number(labels, std::uint32_t(count));
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t label = i % 4, half = side / 2;
      labels.put(char(label));
      for (std::size_t y = 0; y < side; ++y)
        for (std::size_t x = 0; x < side; ++x) {
          const bool bright = (y < half) == (label / 2 == 0) && (x < half) == (label % 2 == 0);
          images.put(char((bright ? 130 : 60) + int(random() % 120)));
        }
    }
  }
}

/// A text with a rule that a small model learns: after "ab" comes "c", and the like.
inline std::string patterned_text(std::size_t lines) {
  std::mt19937 random(7);
  const std::vector<std::string> words{"tomorrow", "and", "creeps", "in", "this", "petty", "pace", "—"};
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    for (int w = 0; w < 5; ++w) text += words[random() % words.size()] + (w < 4 ? " " : "\n");
  }
  return text;
}

/// LeNet on the images of `data`; seconds.
inline std::string lenet_config(const std::string& data, const std::string& sampler = "psmile-auto",
                                const std::string& more = "") {
  return "experiment_name: lenet\nrng: 3\ndata:\n  path: " + data +
         "\n  data_type: image\n  task: class\n  train_split: 0.8\n  valid_split: 0.195\n  test_split: "
         "0.005\n"
         "model:\n  model: LeNet\n  activation: gelu\ntraining:\n  warmstart:\n    max_epochs: 6\n    "
         "batch_size: "
         "32\n    optimizer_config: {name: adamw, parameters: {learning_rate: 0.003}}\n  sampler:\n    "
         "name: " +
         sampler +
         "\n    batch_size: 40\n    n_chains: 2\n    warmup_steps: 60\n    n_samples: 120\n    n_thinning: "
         "6\n    prior_config: {name: WarmStart}\n" +  // 14,000 parameters and 320 images
         more;
}

inline std::string gpt_config(const std::string& data, const std::string& more = "") {
  return "experiment_name: gpt\nrng: 3\ndata:\n  path: " + data +
         "\n  data_type: text\n  task: class_multilabel\nmodel:\n  model: GPT\n  context_len: 16\n  "
         "emb_size: 16\n"
         "  n_blocks: 1\n  n_heads: 2\ntraining:\n  warmstart:\n    max_epochs: 12\n    batch_size: 16\n"
         "    optimizer_config: {name: adamw, parameters: {learning_rate: 0.01}}\n  sampler:\n    name: "
         "psmile\n"
         "    step_size: 0.001\n    batch_size: 16\n    n_chains: 2\n    warmup_steps: 40\n    n_samples: "
         "60\n"
         "    n_thinning: 6\n" +
         more;
}

}  // namespace smile::test
