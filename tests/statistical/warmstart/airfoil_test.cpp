// SPDX-License-Identifier: Apache-2.0
// A deep ensemble on a real data set: every member, whatever its seed, learns it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "smile/data/dataset.hpp"
#include "smile/warmstart/member.hpp"

namespace smile {
namespace {

constexpr std::size_t kMembers = 10, kColumns = 6;

/// data/uci/airfoil.data, standardised by its training rows, the rows shuffled by `seed`: 70 % for training,
/// 10 % for validation.
MemberData airfoil(std::uint64_t seed) {
  std::ifstream file(SMILE_SOURCE_DIR "/data/uci/airfoil.data");
  std::vector<double> values;
  for (double value; file >> value;) values.push_back(value);
  const std::size_t rows = values.size() / kColumns;
  EXPECT_EQ(rows, 1503u);
  std::vector<std::uint32_t> order(rows);
  random_permutation({.seed = seed, .purpose = Purpose::split}, 0, order);
  const std::size_t train_rows = rows * 7 / 10, valid_rows = rows / 10;
  for (std::size_t c = 0; c < kColumns; ++c) {
    double sum = 0, squares = 0;
    for (std::size_t k = 0; k < train_rows; ++k) sum += values[order[k] * kColumns + c];
    const double mean = sum / static_cast<double>(train_rows);
    for (std::size_t k = 0; k < train_rows; ++k)
      squares += std::pow(values[order[k] * kColumns + c] - mean, 2);
    const double sd = std::sqrt(squares / static_cast<double>(train_rows));
    for (std::size_t r = 0; r < rows; ++r) values[r * kColumns + c] = (values[r * kColumns + c] - mean) / sd;
  }
  const auto part = [&](std::size_t first, std::size_t count) {
    DataPart out;
    out.rows = count;
    for (std::size_t k = first; k < first + count; ++k) {
      const double* row = values.data() + order[k] * kColumns;
      out.features.insert(out.features.end(), row, row + kColumns - 1);
      out.targets.push_back(row[kColumns - 1]);
    }
    return out;
  };
  return member_data(part(0, train_rows), part(train_rows, valid_rows), kColumns - 1);
}

TEST(Airfoil, every_member_explains_most_of_the_variance_in_time) {
  const FcnSpec spec{kColumns - 1, {16, 16, 16, 1}, Activation::relu, true, Task::mean_regression};
  for (const std::uint64_t seed : {1u, 2u}) {
    const MemberData data = airfoil(seed);
    double seconds = 0;
    std::uint64_t epochs = 0;
    for (std::uint32_t member = 0; member < kMembers; ++member) {
      const MemberResult result = train_member(spec, data, {.seed = seed}, member);
      EXPECT_FALSE(result.restarted || result.diverged);
      EXPECT_LT(result.residual_sd, 0.5) << "seed " << seed << ", member " << member;
      EXPECT_GT(result.residual_sd, 0.1) << "no network of this size does better on this data";
      EXPECT_EQ(result.position[result.position.size() - 1],
                static_cast<float>(std::log(result.residual_sd)));
      seconds += result.seconds;
      epochs += result.epochs.size();
    }
    RecordProperty("seconds", std::to_string(seconds));
    std::printf("seed %d: %.2f s, %d epochs for %d members\n", static_cast<int>(seed), seconds,
                static_cast<int>(epochs), static_cast<int>(kMembers));
    EXPECT_LT(seconds / kMembers, 2.0);
  }
}

}  // namespace
}  // namespace smile
