// SPDX-License-Identifier: Apache-2.0
/// What chains are judged by, and the judges.
#pragma once

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/json_number.hpp"
#include "smile/config/config.hpp"
#include "smile/diagnosis/chains_file.hpp"
#include "smile/diagnosis/diagnosis.hpp"
#include "smile/run/metrics_file.hpp"

namespace smile::diagnosis {

/// What is the same for all chains: settings, and the files of eval/ where the run was evaluated.
struct RunEvidence {
  std::filesystem::path run;
  SamplerConfig sampler;
  std::string resume;  ///< the command
  experiment::TrainingRows rows;
  double nothing_learned = ChainDiagnosis::kNone;  ///< log-likelihood of a test point without a network
  std::optional<MetricsFile> metrics;
  std::vector<ChainReport> chains;
  nlohmann::json diagnostics, sampling;

  std::size_t dimension = 0;  ///< d; 0: not known

  bool chooses_step() const { return sampler.turns(); }
  /// More parameters than training rows under the prior N(0, 1): chains leave the neighbourhood of the
  /// trained networks (spec 06, 6.4).
  bool wide_under_standard_prior() const {
    return rows.count > 0 && sampler.prior_config.is_standard() && dimension > rows.count;
  }
  /// What makes steps smaller, or larger.
  std::string smaller_step() const;
  std::string larger_step() const;
};

struct ChainEvidence {
  ChainRecord record;
  experiment::ChainScore score;  ///< test metrics, where the run was evaluated
  std::string damage;            ///< what is wrong with its checkpoint or draws, or empty
  experiment::Astray astray;
  double usual_likelihood = 0;  ///< of a training row, median of the chains

  /// Draws that speak for the chain: those evaluated, or those stored.
  std::size_t draws() const { return score.draws > 0 ? score.draws : std::size_t(record.stored); }
};

/// Fills in the findings and the verdict.
void judge_chain(ChainDiagnosis& diagnosis, const ChainEvidence& chain, const RunEvidence& run);
/// Fills in the findings about all chains together.
void judge_run(RunDiagnosis& diagnosis, const RunEvidence& run);

}  // namespace smile::diagnosis
