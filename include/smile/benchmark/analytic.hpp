// SPDX-License-Identifier: Apache-2.0
/// The analytical benchmark: bias of the samplers on densities with known moments, over grids of step sizes.
/// @source the paper, Tables 1 and 5, Figures 4 and 5; spec 1.11
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "smile/config/samplers.hpp"
#include "smile/ensemble/progress.hpp"
#include "smile/samplers/microcanonical.hpp"
#include "smile/statistics/gamma.hpp"
#include "smile/targets/analytical.hpp"

namespace smile {

/// One sampler with its grid. Every combination of a step size and a decoherence length is a grid point.
struct AnalyticMethod {
  std::string name;                ///< of a sampler that runs in bundles; full-batch ones see no noise
  std::string label;               ///< in tables and plots; the name where not given
  std::vector<double> step_sizes;  ///< > 0, ascending
  std::vector<double> decoherence_lengths;  ///< > 0, ascending; {∞} where there is no explicit noise
  Integrator integrator = Integrator::mclachlan;
  EnergyMode energy = EnergyMode::carried;
  PreconditionerOptions preconditioner;  ///< of psmile-naive
  double friction = 0.05;                ///< α of sghmc
  std::uint64_t cycle_steps = 5000;      ///< of csgld
  /// What the program knows of the sampler.
  const SamplerRow& row() const { return sampler_row(name); }
  bool uses_noise() const { return row().stochastic; }
};

/// Which orthogonal matrix turns noise that is `correlated` or `spatially-varied` (spec 06, 6.8).
enum class NoiseRotation {
  target,       ///< that of the target `icg`: noise is largest along its widest directions
  independent,  ///< one of its own, from the configuration's seed
  authors,      ///< the target's for Gaussian noise, one of its own for the others
};
template <>
struct Named<NoiseRotation> {
  static constexpr Alternative<NoiseRotation> all[] = {{NoiseRotation::target, "target"},
                                                       {NoiseRotation::independent, "independent"},
                                                       {NoiseRotation::authors, "authors"}};
};

struct AnalyticConfig {
  std::string file;  ///< that it was read from
  std::string experiment_name = "analytic", saving_dir = "results";
  std::uint64_t seed = 1;
  std::uint64_t steps = 1'000'000;  ///< of each chain
  std::uint64_t chains = 10;        ///< of each grid point
  bool equal_gradients =
      false;                ///< `steps` counts gradients: an integrator with two a step takes half the steps
  bool exact_start = true;  ///< an exact draw of the target; else the paper's fixed start
  std::vector<AnalyticalKind> targets;
  std::optional<std::filesystem::path> covariance;  ///< of target gaussian: a .npy file, @shape [d, d]
  std::vector<NoiseStructure> noises;
  std::vector<BaseNoise> distributions{BaseNoise::gaussian};
  NoiseRotation noise_rotation = NoiseRotation::target;
  double noise_scale = 16;
  /// Of c (spec 1.11), in icg and in the noise: c runs from cond^(−½) to cond^(½), and icg has cond² for its
  /// Σ.
  double condition_number = 100;
  double student_t_df = 5;
  std::vector<double> lognormal_sigma{0.05};
  /// Lognormal noise rescaled to unit variance, as the other laws are; false: only its mean is taken off, so
  /// that its size grows with σ.
  bool lognormal_unit_variance = true;
  bool record_energies = false;  ///< |ΔE| of single steps, of each microcanonical cell's best point
  bool record_modes = false;     ///< keep draws of the first two coordinates, for plots and counts of modes
  std::vector<AnalyticMethod> methods;
};

/// Reads and checks a configuration. @throws Error with file:line, the key, the value and what is allowed
AnalyticConfig load_analytic_config(const std::filesystem::path& file);

/// What the chains of one grid point gave.
struct AnalyticPoint {
  double step_size = 0, decoherence_length = std::numeric_limits<double>::infinity();
  std::vector<double> bias;          ///< b² of each chain; ∞ where it failed
  double mean = 0;                   ///< of b² over the chains
  double standard_error = 0;         ///< bootstrap standard deviation of that mean
  double authors_mean = 0;           ///< funnel: with the authors' empirical normaliser; else as `mean`
  double least_effective_draws = 0;  ///< over chains and coordinates, of θ_j²
  std::uint64_t marked_chains = 0;   ///< failed, or under 10 effective draws of some θ_j²
  std::uint64_t refused_steps = 0;
  double mean_move = 0;            ///< mean_t ‖θ_t − θ_{t−1}‖ where recorded
  std::vector<std::size_t> modes;  ///< of gmm: visited by each chain
  std::size_t all_modes = 0;       ///< visited by all chains together
  std::vector<float> recorded;     ///< (θ₀, θ₁) of all chains in turn
  bool can_win() const { return marked_chains == 0; }
};

/// |ΔE| of single steps of one chain and what fits it (Figure 3).
struct EnergyErrors {
  std::vector<double> sorted;                           ///< ascending
  GammaDistribution gamma;                              ///< by moments
  double half_normal_scale = 0;                         ///< root mean square
  double gamma_distance = 0, half_normal_distance = 0;  ///< Kolmogorov's, to the values
};

/// One target, one noise, one method.
struct AnalyticCell {
  AnalyticalKind target = AnalyticalKind::icg;
  NoiseStructure noise = NoiseStructure::none;
  BaseNoise distribution = BaseNoise::gaussian;
  double parameter = 0;  ///< of the distribution
  std::size_t method = 0;
  std::uint64_t steps = 0;
  std::vector<AnalyticPoint> points;
  std::optional<std::size_t> winner;  ///< the point with the least mean b² of those that can win
  bool at_edge = false;               ///< the winner lies at an end of its grid
  /// Of the winner, or of the point with the least b²; empty where they are not recorded.
  std::optional<EnergyErrors> energies = {};
};

struct AnalyticReport {
  AnalyticConfig config;
  std::vector<AnalyticCell> cells;
  double seconds = 0;                  ///< of this process
  std::uint64_t chain_steps = 0;       ///< of all chains
  std::uint64_t kept_chain_steps = 0;  ///< of them, those that an interrupted run had done before
  bool interrupted = false;
};

struct AnalyticRunOptions {
  int threads = 0;  ///< 0: one a core; changes no result
  std::function<void(const Progress&)> on_progress;
  const std::atomic<bool>* stop = nullptr;
  /// Where finished bundles of chains are kept until all are done, so that the same configuration goes on
  /// after an interrupt; empty: nowhere. The caller removes the file when the results are written.
  std::filesystem::path ledger;
};

/// Runs all chains of all grid points, on threads, 32 in the lanes of each. Interrupted, it ends when
/// the bundles under way are done (some seconds), and `interrupted` is set and the cells are empty.
/// @throws Error for a covariance that is none, and where the ledger cannot be written
AnalyticReport run_analytic(const AnalyticConfig& config, const AnalyticRunOptions& options);

/// Standard deviation of the mean of resampled values (1,000 times); 0 for one value.
double bootstrap_error(const std::vector<double>& values, std::uint64_t seed);

/// All that the results depend on, as JSON.
std::string analytic_config_json(const AnalyticConfig& config);

}  // namespace smile
