// SPDX-License-Identifier: Apache-2.0
// Every file of test vectors is replayed by some test: a file nobody knows fails here.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "support/vectors.hpp"

namespace smile {
namespace {

TEST(VectorTopics, every_file_is_replayed_somewhere) {
  const std::set<std::string> known{// tests/unit/dynamics
                                    "momentum_scalars", "momentum_update", "refreshment",
                                    // tests/unit/adaptation
                                    "preconditioner", "tuner", "schedules",
                                    // tests/unit/samplers
                                    "integrators", "microcanonical_naive", "microcanonical_tuned",
                                    "microcanonical_resets", "compat_authors", "mile", "sg_samplers",
                                    "default_sampler",
                                    // tests/unit/statistics
                                    "gamma_quantile",
                                    // tests/unit/targets, tests/unit/network
                                    "priors", "likelihoods", "fcn",
                                    // tests/unit/evaluation
                                    "metrics_classification", "metrics_regression", "diagnostics",
                                    // the analytical benchmark
                                    "analytical"};
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::vectors_directory())) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    EXPECT_TRUE(known.contains(entry.path().stem().string())) << "nobody replays " << entry.path();
  }
  EXPECT_GT(files, 0u);
}

}  // namespace
}  // namespace smile
