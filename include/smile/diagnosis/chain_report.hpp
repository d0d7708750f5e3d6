// SPDX-License-Identifier: Apache-2.0
/// The chains one by one: what the ensemble's metrics would hide, and which chains have gone astray.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "smile/data/dataset.hpp"
#include "smile/ensemble/ensemble_runner.hpp"

namespace smile::experiment {

/// Test metrics of one chain alone; NaN where it has none.
struct ChainScore {
  std::size_t draws = 0;
  double lppd = std::numeric_limits<double>::quiet_NaN();
  double rmse = std::numeric_limits<double>::quiet_NaN();
  double start_lppd = std::numeric_limits<double>::quiet_NaN();  ///< of the member it started from, alone
};
using ChainScores = std::vector<ChainScore>;

/// What the training rows say of chains.
struct TrainingRows {
  std::size_t count = 0;    ///< N, to compare log-likelihoods per row; 0: not known
  double nothing_learned =  ///< log-likelihood of a row, NaN: not known
      std::numeric_limits<double>::quiet_NaN();

  double per_row(double log_likelihood) const {
    return count > 0 ? log_likelihood / double(count) : std::numeric_limits<double>::quiet_NaN();
  }
};
/// Log-likelihood of a point (a row, an image, a token) without a network: equal classes, or mean and spread
/// of the targets. NaN: not known.
/// @param scaled  whether regression targets were standardised
double nothing_learned(const DatasetInfo& info, bool scaled);
TrainingRows training_rows_of(const DatasetInfo& info, bool scaled);

/// Where a complete chain has gone. The comparison with other chains shows a single bad one, those with the
/// start and with no network at all show when all are bad.
struct Astray {
  bool apart = false;  ///< training log-likelihood or test metrics far from the others', or no numbers
  bool worse_than_nothing = false;  ///< the training rows are less likely than under no network at all
  bool worse_than_start = false;    ///< test LPPD far below that of the member it started from
  bool any() const { return apart || worse_than_nothing || worse_than_start; }
};
struct AstrayChains {
  std::vector<Astray> chains;   ///< one a record
  double usual_likelihood = 0;  ///< median over the complete chains, of a training row
};
AstrayChains find_astray(std::span<const ChainRecord> records, std::span<const ChainScore> scores,
                         const TrainingRows& rows);

}  // namespace smile::experiment
