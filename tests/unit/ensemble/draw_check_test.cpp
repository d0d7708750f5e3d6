// SPDX-License-Identifier: Apache-2.0
#include "smile/ensemble/draw_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "smile/files/npy.hpp"
#include "toy.hpp"

namespace smile {
namespace {

/// Two chains of 50 draws, and their records.
class DrawCheck : public testing::Test {
 protected:
  DrawCheck() {
    records = run_ensemble(toy::options_for(folder.path(), 2, 2), [](std::uint32_t chain) {
      return toy::make_chain("psmile", {60, 150}, chain);
    });
  }
  std::vector<float> draws(std::uint32_t chain) const {
    return read_npy(draws_path(folder.path(), chain)).as<float>();
  }
  void rewrite(std::uint32_t chain, const std::vector<float>& values) const {
    auto file = NpyAppender::create(draws_path(folder.path(), chain), toy::kDimension);
    for (std::size_t i = 0; i < values.size(); i += toy::kDimension)
      file.append(std::span(values).subspan(i, toy::kDimension));
  }
  std::string problem(std::uint32_t chain = 0) const { return draws_problem(folder.path(), records[chain]); }

  toy::Folder folder;
  std::vector<ChainRecord> records;
};

TEST_F(DrawCheck, FindsNothingInWhatTheChainsStored) {
  ASSERT_EQ(records[0].stored, 50u);
  EXPECT_EQ(problem(0), "");
  EXPECT_EQ(problem(1), "");
  rewrite(0, draws(0));
  EXPECT_EQ(problem(0), "") << "the bytes count, not who wrote them";
}

TEST_F(DrawCheck, FindsDrawsThatChangedPlaces) {
  std::vector<float> values = draws(0);
  for (std::size_t j = 0; j < toy::kDimension; ++j)
    std::swap(values[7 * toy::kDimension + j], values[31 * toy::kDimension + j]);
  rewrite(0, values);
  EXPECT_NE(
      problem().find("chain-00.npy: its 50 draws are not those that the chain stored, or not in its order"),
      std::string::npos)
      << problem();
  rewrite(0, draws(1));
  EXPECT_NE(problem(), "") << "another chain's draws";
}

TEST_F(DrawCheck, FindsPaddingWithNaN) {
  std::vector<float> values = draws(0);
  values.resize(values.size() + 3 * toy::kDimension, std::numeric_limits<float>::quiet_NaN());
  rewrite(0, values);
  EXPECT_NE(problem().find("draw 50 holds a value that is not a number (parameter 0)"), std::string::npos)
      << problem();
  values = draws(1);
  values[12 * toy::kDimension + 4] = std::numeric_limits<float>::infinity();
  rewrite(1, values);
  EXPECT_NE(problem(1).find("draw 12 holds a value that is not a number (parameter 4)"), std::string::npos)
      << problem(1);
}

TEST_F(DrawCheck, FindsMissingDrawsAndAMissingFile) {
  std::vector<float> values = draws(0);
  values.resize(20 * toy::kDimension);
  rewrite(0, values);
  EXPECT_NE(problem().find("holds 20 draws and the chain stored 50"), std::string::npos) << problem();
  std::filesystem::remove(draws_path(folder.path(), 0));
  EXPECT_NE(problem().find("is missing, 50 draws should be in it"), std::string::npos) << problem();
  std::ofstream(draws_path(folder.path(), 1)) << "nonsense";
  EXPECT_NE(problem(1).find("chain-01.npy: "), std::string::npos) << problem(1);
}

TEST_F(DrawCheck, TakesDrawsBehindThoseOfTheLastCheckpoint) {
  ChainRecord earlier = records[0];  // as a killed process leaves it: fewer counted than stored
  earlier.stored = 30;
  earlier.draws_crc32 = 0;
  const NpyRows rows(draws_path(folder.path(), 0));
  for (std::size_t i = 0; i < 30; ++i)
    earlier.draws_crc32 = crc32_of(std::as_bytes(rows.row(i)), earlier.draws_crc32);
  EXPECT_EQ(draws_problem(folder.path(), earlier), "");
}

TEST_F(DrawCheck, KnowsDrawsInHalfPrecisionAndInAFileEach) {
  for (const DrawsType type : {DrawsType::float16, DrawsType::bfloat16})
    for (const std::size_t largest : {kLargestSharedDraw, std::size_t{0}}) {
      toy::Folder other;
      EnsembleOptions options = toy::options_for(other.path(), 1, 1);
      options.draws = {type, largest};
      const auto record = run_ensemble(options, [](std::uint32_t chain) {
        return toy::make_chain("psmile", {60, 150}, chain);
      })[0];
      ASSERT_EQ(record.stored, 50u);
      EXPECT_EQ(draws_problem(other.path(), record), "") << name_of(type) << " " << largest;
      if (largest != 0) continue;
      const auto folder_of_draws = other.path() / "samples" / "chain-00";
      std::filesystem::rename(folder_of_draws / "draw-000003.npy", folder_of_draws / "x");
      std::filesystem::rename(folder_of_draws / "draw-000004.npy", folder_of_draws / "draw-000003.npy");
      std::filesystem::rename(folder_of_draws / "x", folder_of_draws / "draw-000004.npy");
      EXPECT_NE(draws_problem(other.path(), record), "");
    }
}

}  // namespace
}  // namespace smile
