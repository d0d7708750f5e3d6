// SPDX-License-Identifier: Apache-2.0
/// eval/chains.json: the numbers of each chain. Whoever writes or reads that file does it here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "smile/diagnosis/chain_report.hpp"

namespace smile {

/// What the steps of the warm-up, or those of sampling, were like; NaN where a quantity does not apply.
struct StepsReport {
  std::uint64_t steps = 0, gradients = 0, refused = 0;
  std::vector<std::pair<std::string, std::uint64_t>> refused_by_cause;  ///< causes that occurred
  double refusal_frequency = std::numeric_limits<double>::quiet_NaN();
  double mean_step_size = std::numeric_limits<double>::quiet_NaN();  ///< geometric
  double mean_turn_angle = std::numeric_limits<double>::quiet_NaN();
  double gradient_rms = std::numeric_limits<double>::quiet_NaN();
  double implied_decoherence_length = std::numeric_limits<double>::quiet_NaN();
  double same_batch_energy_variance = std::numeric_limits<double>::quiet_NaN();  ///< per dimension
};

/// |ΔE| of the sampling steps: a histogram of its decimal logarithm, and the fitted Gamma distribution.
struct EnergyReport {
  std::uint64_t finite = 0;  ///< steps whose ΔE is
  double log10_first_edge = 0, log10_bin_width = 0;
  std::vector<std::uint64_t> counts;  ///< without the empty bins at both ends
  double gamma_shape = std::numeric_limits<double>::quiet_NaN();
  double gamma_scale = std::numeric_limits<double>::quiet_NaN();
  double kolmogorov_distance = std::numeric_limits<double>::quiet_NaN();
};

struct ChainReport {
  std::uint32_t chain = 0;
  std::string status;  ///< "complete", "failed", "incomplete"
  std::string reason;  ///< of a failure
  std::uint64_t steps = 0, warmup_steps = 0, total_steps = 0, draws_stored = 0;
  experiment::ChainScore score;
  double seconds = 0;
  double steps_per_second = std::numeric_limits<double>::quiet_NaN();
  double gradients_per_second = std::numeric_limits<double>::quiet_NaN();
  double training_log_likelihood = std::numeric_limits<double>::quiet_NaN();  ///< of all rows
  double position_norm2_per_dim = std::numeric_limits<double>::quiet_NaN();
  double step_size_first = std::numeric_limits<double>::quiet_NaN();
  double step_size_after_warmup = std::numeric_limits<double>::quiet_NaN();
  double step_size_last = std::numeric_limits<double>::quiet_NaN();
  StepsReport warmup, sampling;
  EnergyReport energy;
  std::vector<std::pair<std::string, double>> tuned;  ///< quantities by name
  std::vector<std::string> findings;
};

ChainReport report_of(const ChainRecord& record, const experiment::ChainScore& score);
/// Writes the file of a run.
/// @throws Error of kind run where it cannot be written
void write_chains(const std::filesystem::path& run, std::span<const ChainReport> chains);
/// Empty where there is none, or none that can be read.
std::vector<ChainReport> read_chains(const std::filesystem::path& run);

}  // namespace smile
