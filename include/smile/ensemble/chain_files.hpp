// SPDX-License-Identifier: Apache-2.0
/// What run_ensemble() leaves of each chain in a folder: where the files lie and what their columns are. KK
/// is the chain's number.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "smile/files/row_file.hpp"

namespace smile {

inline constexpr const char* kDrawsFolder = "samples";
inline constexpr const char* kTraceFolder = "trace";
inline constexpr const char* kCheckpointFolder = "checkpoint";

/// samples/chain-KK.npy. Draws are read with DrawsReader, since large ones are not in that file but in the
/// folder beside it.
std::filesystem::path draws_path(const std::filesystem::path& directory, std::uint32_t chain);
/// samples/warmup-KK.npy
std::filesystem::path warmup_draws_path(const std::filesystem::path& directory, std::uint32_t chain);
/// trace/chain-KK.csv: rows are StepRow.
std::filesystem::path trace_path(const std::filesystem::path& directory, std::uint32_t chain);
/// trace/chain-KK-draws.csv: rows are DrawRow.
std::filesystem::path draws_trace_path(const std::filesystem::path& directory, std::uint32_t chain);
/// trace/chain-KK-monitor.csv: rows are WindowRow.
std::filesystem::path monitor_path(const std::filesystem::path& directory, std::uint32_t chain);
/// checkpoint/chain-KK.bin
std::filesystem::path checkpoint_path(const std::filesystem::path& directory, std::uint32_t chain);

/// A step of a chain. Some 2,000 of a chain are kept, evenly. NaN: does not apply.
struct StepRow {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t step = 0;  ///< from 1, warm-up and sampling together
  std::string phase;       ///< "warmup" or "sampling"
  double log_density = kNone, energy_change = kNone, step_size = kNone;
  std::uint64_t refused = 0;         ///< 1 where the step was refused
  std::string cause;                 ///< of the refusal
  std::uint64_t refused_so_far = 0;  ///< from the chain's first step
  double gradient_norm = kNone, turn_angle = kNone, probability = kNone;
  double gamma_shape = kNone, gamma_scale = kNone;
};

/// What the step was like whose position became a stored draw: a line a draw, in step with
/// samples/chain-KK.npy.
struct DrawRow {
  static constexpr double kNone = StepRow::kNone;
  std::uint64_t step = 0;
  double log_density = kNone, energy_change = kNone, step_size = kNone, gradient_norm = kNone;
  std::uint64_t refused_so_far = 0, nonfinite_so_far = 0;  ///< steps of the sampling phase
};

/// A window of 1,000 steps, or what is left of them at the end of a phase.
struct WindowRow {
  static constexpr double kNone = StepRow::kNone;
  std::uint64_t step = 0;  ///< the window's last
  std::string phase;
  double step_size = kNone, turn_angle = kNone, gradient_rms = kNone, implied_decoherence_length = kNone;
  double position_norm2_per_dim = kNone, same_batch_energy_variance_per_dim = kNone;
  double training_log_likelihood = kNone;
  std::uint64_t refused = 0, nonfinite = 0;  ///< steps of the window
  double velocity_correlation_1 = kNone, velocity_correlation_16 = kNone, velocity_correlation_256 = kNone;
  double gamma_shape = kNone, gamma_scale = kNone, kolmogorov_distance = kNone;
};

template <>
struct Columns<StepRow> {
  static constexpr RowColumn<StepRow> all[] = {{"step", &StepRow::step},
                                               {"phase", &StepRow::phase},
                                               {"log_density", &StepRow::log_density},
                                               {"energy_change", &StepRow::energy_change},
                                               {"step_size", &StepRow::step_size},
                                               {"refused", &StepRow::refused},
                                               {"cause", &StepRow::cause},
                                               {"refused_so_far", &StepRow::refused_so_far},
                                               {"gradient_norm", &StepRow::gradient_norm},
                                               {"turn_angle", &StepRow::turn_angle},
                                               {"probability", &StepRow::probability},
                                               {"gamma_shape", &StepRow::gamma_shape},
                                               {"gamma_scale", &StepRow::gamma_scale}};
};

template <>
struct Columns<DrawRow> {
  static constexpr RowColumn<DrawRow> all[] = {{"step", &DrawRow::step},
                                               {"log_density", &DrawRow::log_density},
                                               {"energy_change", &DrawRow::energy_change},
                                               {"step_size", &DrawRow::step_size},
                                               {"gradient_norm", &DrawRow::gradient_norm},
                                               {"refused_so_far", &DrawRow::refused_so_far},
                                               {"nonfinite_so_far", &DrawRow::nonfinite_so_far}};
};

template <>
struct Columns<WindowRow> {
  static constexpr RowColumn<WindowRow> all[] = {
      {"step", &WindowRow::step},
      {"phase", &WindowRow::phase},
      {"step_size", &WindowRow::step_size},
      {"turn_angle", &WindowRow::turn_angle},
      {"gradient_rms", &WindowRow::gradient_rms},
      {"implied_decoherence_length", &WindowRow::implied_decoherence_length},
      {"position_norm2_per_dim", &WindowRow::position_norm2_per_dim},
      {"same_batch_energy_variance_per_dim", &WindowRow::same_batch_energy_variance_per_dim},
      {"training_log_likelihood", &WindowRow::training_log_likelihood},
      {"refused", &WindowRow::refused},
      {"nonfinite", &WindowRow::nonfinite},
      {"velocity_correlation_1", &WindowRow::velocity_correlation_1},
      {"velocity_correlation_16", &WindowRow::velocity_correlation_16},
      {"velocity_correlation_256", &WindowRow::velocity_correlation_256},
      {"gamma_shape", &WindowRow::gamma_shape},
      {"gamma_scale", &WindowRow::gamma_scale},
      {"kolmogorov_distance", &WindowRow::kolmogorov_distance}};
};

}  // namespace smile
