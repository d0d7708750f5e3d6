/// The chains one by one: what the ensemble's metrics would hide.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "smile/ensemble/ensemble_runner.hpp"

namespace smile::experiment {

/// Test metrics of one chain alone; NaN where it has none.
struct ChainScore {
  std::size_t draws = 0;
  double lppd = std::numeric_limits<double>::quiet_NaN();
  double rmse = std::numeric_limits<double>::quiet_NaN();
};
using ChainScores = std::vector<ChainScore>;

/// Which complete chains have left the region where the others are: a training log-likelihood or test metrics
/// far from the others', or not numbers at all.
struct BlownUp {
  std::vector<bool> chains;     ///< one a record
  double usual_likelihood = 0;  ///< median over the complete chains, per observation
};
BlownUp blown_up(std::span<const ChainRecord> records, std::span<const ChainScore> scores,
                 std::size_t observations);

/// Failed and blown-up chains and the findings of samplers and monitors, one sentence each; the same finding
/// of many chains is said once.
/// @param observations  N, to compare training log-likelihoods per observation
std::vector<std::string> chain_warnings(std::span<const ChainRecord> records,
                                        std::span<const ChainScore> scores, std::size_t observations);

/// eval/chains.json
std::string chains_json(std::span<const ChainRecord> records, std::span<const ChainScore> scores);

}  // namespace smile::experiment
