// SPDX-License-Identifier: Apache-2.0
#include "smile/benchmark/analytic.hpp"

#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "benchmark/analytic_ledger.hpp"
#include "benchmark/analytic_outcome.hpp"
#include "benchmark/energy_errors.hpp"
#include "experiment/phase_progress.hpp"
#include "run/output_guard.hpp"
#include "smile/ensemble/lane_chains.hpp"
#include "smile/ensemble/parallel.hpp"
#include "smile/error.hpp"
#include "smile/files/npy.hpp"
#include "smile/instruction_set.hpp"
#include "smile/run/run_paths.hpp"
#include "smile/statistics/convergence.hpp"

namespace smile {
namespace {

using analytic::ChainOutcome;

/// Effective draws of every θ_j² below which a chain cannot win.
constexpr double kFewestEffectiveDraws = 10;
/// Blocks whose means carry the autocorrelation of a chain.
constexpr std::uint64_t kBlocks = 1000;
/// Draws of the first two coordinates that are kept of a chain.
constexpr std::uint64_t kRecorded = 20000;
/// Var(θ_j²) of the funnel that the authors use (spec 1.11).
constexpr double kAuthorsFunnel = 4.24e7;
/// A mode counts as visited with a recorded draw this near.
constexpr double kModeRadius = 2;

/// Q and c with c from cond^(−½) to cond^(½).
OrthogonalScales scales_of(const AnalyticConfig& config, std::size_t dimension) {
  OrthogonalScales scales = benchmark_scales(dimension);
  for (double& c : scales.scales) c = std::pow(c, std::log10(config.condition_number) / 2);
  return scales;
}

AnalyticalDensity density_of(AnalyticalKind kind, const AnalyticConfig& config) {
  if (kind == AnalyticalKind::icg) return AnalyticalDensity(scales_of(config, AnalyticalDensity::kDimension));
  if (kind != AnalyticalKind::gaussian) return AnalyticalDensity(kind);
  const NpyArray array = read_npy(*config.covariance);
  const bool square = array.shape().size() == 2 && array.shape()[0] == array.shape()[1];
  if (!square)
    throw Error(config.covariance->string(), "the array is no square matrix",
                "store a covariance of shape [d, d]");
  return AnalyticalDensity::gaussian(array.as<double>(), array.shape()[0], config.covariance->string());
}

InjectedNoise noise_of(const AnalyticCell& cell, const AnalyticalDensity& density,
                       const AnalyticConfig& config) {
  InjectedNoise noise;
  noise.structure = cell.noise;
  noise.base = cell.distribution;
  noise.parameter = cell.parameter;
  noise.amplitude = config.noise_scale;
  if (cell.distribution == BaseNoise::lognormal && !config.lognormal_unit_variance)
    noise.amplitude *= std::sqrt(std::expm1(cell.parameter * cell.parameter)) *
                       std::exp(cell.parameter * cell.parameter / 2);
  noise.width = density.noise_width();
  noise.scales = scales_of(config, density.dimension());
  const bool own =
      config.noise_rotation == NoiseRotation::independent ||
      (config.noise_rotation == NoiseRotation::authors && cell.distribution != BaseNoise::gaussian);
  if (own) noise.scales.rotation = random_rotation(config.seed, density.dimension());
  return noise;
}

std::variant<MicrocanonicalOptions, LangevinOptions, SghmcOptions> sampler_of(const AnalyticMethod& method,
                                                                              double step_size,
                                                                              std::uint64_t steps) {
  const SamplerRow& row = method.row();
  if (row.dynamics == Dynamics::sghmc) {
    SghmcOptions options;
    options.friction = method.friction;
    return options;
  }
  if (row.dynamics == Dynamics::langevin) {
    LangevinOptions options;
    options.preconditioned = row.has_key("psgld_alpha");
    if (row.cyclic) {
      const std::uint64_t cycles = std::max<std::uint64_t>(1, steps / method.cycle_steps);
      options.sampling_schedule = {ScheduleKind::cosine, step_size, step_size * 1e-3, cycles, 0};
    }
    return options;
  }
  MicrocanonicalOptions options;
  options.rule = StepSizeRule::fixed;
  options.guardrail = false;
  options.integrator = method.integrator;
  options.energy = method.energy;
  if (row.preconditioned) options.preconditioner = method.preconditioner;
  options.decoherence_length = method.decoherence_lengths.front();  // whether there is explicit noise at all
  return options;
}

/// New gradients of one step.
std::uint64_t gradients_per_step(const AnalyticMethod& method) {
  return std::visit([](const auto& options) { return gradients_of(options, 1); },
                    sampler_of(method, method.step_sizes.front(), 1));
}

std::vector<AnalyticCell> cells_of(const AnalyticConfig& config) {
  std::vector<AnalyticCell> cells;
  const auto add = [&](const AnalyticCell& kind) {
    AnalyticCell cell = kind;
    const AnalyticMethod& method = config.methods[cell.method];
    cell.steps = std::max<std::uint64_t>(
        1, config.equal_gradients ? config.steps / gradients_per_step(method) : config.steps);
    for (double length : method.decoherence_lengths)
      for (double step : method.step_sizes) {
        cell.points.emplace_back();
        cell.points.back().step_size = step;
        cell.points.back().decoherence_length = length;
        cell.points.back().bias.resize(config.chains);
        cell.points.back().modes.resize(config.chains);
      }
    cells.push_back(std::move(cell));
  };
  for (const AnalyticalKind target : config.targets) {
    for (std::size_t m = 0; m < config.methods.size(); ++m)
      if (!config.methods[m].uses_noise())
        add({target, NoiseStructure::none, BaseNoise::gaussian, 0, m, 0, {}, {}, false});
    for (NoiseStructure noise : config.noises)
      for (BaseNoise base : config.distributions) {
        std::vector<double> parameters{0};
        if (base == BaseNoise::student_t) parameters = {config.student_t_df};
        if (base == BaseNoise::lognormal) parameters = config.lognormal_sigma;
        for (double parameter : parameters)
          for (std::size_t m = 0; m < config.methods.size(); ++m)
            if (config.methods[m].uses_noise()) add({target, noise, base, parameter, m, 0, {}, {}, false});
      }
  }
  return cells;
}

/// Some chains of one cell that run side by side. With a step size that follows a schedule all have the same.
struct Bundle {
  std::size_t cell;
  std::vector<std::pair<std::size_t, std::uint32_t>> chains;  // grid point, chain
};

std::vector<Bundle> bundles_of(const std::vector<AnalyticCell>& cells, const AnalyticConfig& config) {
  std::vector<Bundle> bundles;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const bool scheduled = config.methods[cells[c].method].row().cyclic;
    bundles.push_back({c, {}});
    for (std::size_t p = 0; p < cells[c].points.size(); ++p) {
      for (std::uint32_t chain = 0; chain < config.chains; ++chain) {
        if (bundles.back().chains.size() == kChainsPerBundle) bundles.push_back({c, {}});
        bundles.back().chains.push_back({p, chain});
      }
      if (scheduled && p + 1 < cells[c].points.size()) bundles.push_back({c, {}});
    }
  }
  return bundles;
}

/// Effective draws for the mean of θ_j²: its variance in the chain over the variance of its mean, which the
/// means of blocks tell (a block hides what is faster than itself, and nothing that is slower).
double effective_draws(const LaneChainResult& result, std::size_t j, std::uint64_t blocks) {
  ConvergenceDiagnostics diagnostics(1, blocks);
  const std::span<const double> means(result.block_means.data() + j * blocks, blocks);
  const double effective_blocks = diagnostics.ess_mean(means);
  double mean = 0, square = 0;
  for (double m : means) mean += m / double(blocks);
  for (double m : means) square += (m - mean) * (m - mean) / double(blocks);
  const double variance = result.mean_fourth[j] - result.mean_square[j] * result.mean_square[j];
  if (!(effective_blocks > 0) || !(square > 0) || !std::isfinite(variance)) return 0;
  return variance / (square / effective_blocks);
}

std::set<std::size_t> modes_of(const std::vector<float>& recorded) {
  std::set<std::size_t> modes;
  for (std::size_t i = 0; i + 1 < recorded.size(); i += 2)
    for (std::size_t a = 0; a < 5; ++a)
      for (std::size_t b = 0; b < 5; ++b)
        if (std::hypot(recorded[i] - AnalyticalDensity::kModes[a],
                       recorded[i + 1] - AnalyticalDensity::kModes[b]) < kModeRadius)
          modes.insert(5 * a + b);
  return modes;
}

ChainOutcome judge(const LaneChainResult& result, const AnalyticalDensity& density, std::uint64_t blocks) {
  ChainOutcome outcome;
  outcome.failed = result.failed;
  outcome.refused = result.refused;
  outcome.steps = result.steps;
  outcome.move = result.mean_move;
  outcome.recorded = result.recorded;
  if (density.kind() == AnalyticalKind::gmm) outcome.modes = modes_of(result.recorded);
  outcome.bias = outcome.authors =
      bias_squared(result.mean_square, density.second_moment(), density.variance_of_square());
  if (density.kind() == AnalyticalKind::funnel) {
    std::vector<double> variance(density.dimension(), kAuthorsFunnel);
    variance[0] = density.variance_of_square()[0];
    outcome.authors = bias_squared(result.mean_square, density.second_moment(), variance);
  }
  if (result.failed || !std::isfinite(outcome.bias)) {
    outcome.failed = true;
    outcome.bias = outcome.authors = std::numeric_limits<double>::infinity();
    return outcome;
  }
  outcome.effective = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < density.dimension(); ++j)
    outcome.effective = std::min(outcome.effective, effective_draws(result, j, blocks));
  return outcome;
}

void summarise(AnalyticPoint& point, const std::vector<ChainOutcome>& outcomes, std::uint64_t seed) {
  std::set<std::size_t> modes;
  const double count = double(outcomes.size());
  point.least_effective_draws = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const ChainOutcome& outcome = outcomes[i];
    point.bias[i] = outcome.bias;
    point.mean += outcome.bias / count;
    point.authors_mean += outcome.authors / count;
    point.mean_move += outcome.move / count;
    point.refused_steps += outcome.refused;
    point.least_effective_draws = std::min(point.least_effective_draws, outcome.effective);
    if (outcome.failed || outcome.effective < kFewestEffectiveDraws) ++point.marked_chains;
    point.modes[i] = outcome.modes.size();
    modes.insert(outcome.modes.begin(), outcome.modes.end());
    point.recorded.insert(point.recorded.end(), outcome.recorded.begin(), outcome.recorded.end());
  }
  point.all_modes = modes.size();
  point.standard_error = bootstrap_error(point.bias, seed);
}

void choose_winner(AnalyticCell& cell, const AnalyticMethod& method) {
  for (std::size_t p = 0; p < cell.points.size(); ++p)
    if (cell.points[p].can_win() && (!cell.winner || cell.points[p].mean < cell.points[*cell.winner].mean))
      cell.winner = p;
  if (!cell.winner) return;
  const auto at_end = [&](double value, const std::vector<double>& grid) {
    return grid.size() > 1 && (value == grid.front() || value == grid.back());
  };
  const AnalyticPoint& best = cell.points[*cell.winner];
  cell.at_edge = at_end(best.step_size, method.step_sizes) ||
                 at_end(best.decoherence_length, method.decoherence_lengths);
}

/// Steps of the one chain whose energy errors are kept.
constexpr std::uint64_t kEnergySteps = 20000;

void record_energies(AnalyticCell& cell, const AnalyticalDensity& density, const AnalyticConfig& config) {
  const AnalyticMethod& method = config.methods[cell.method];
  if (!method.row().is_microcanonical()) return;
  const auto least = std::min_element(cell.points.begin(), cell.points.end(),
                                      [](const auto& a, const auto& b) { return a.mean < b.mean; });
  const AnalyticPoint& point = cell.winner ? cell.points[*cell.winner] : *least;
  auto options = std::get<MicrocanonicalOptions>(sampler_of(method, point.step_size, cell.steps));
  options.step_size = point.step_size;
  options.decoherence_length = point.decoherence_length;
  std::vector<double> start = density.paper_start();
  if (config.exact_start) {
    Stream stream({config.seed, 0, Purpose::analytic_start});
    density.draw(stream, start);
  }
  cell.energies = analytic::energy_errors(density, noise_of(cell, density, config), options, start,
                                          config.seed, std::min(cell.steps, kEnergySteps));
}

/// All that the outcomes depend on, in one line: the configuration, a given covariance, and what may round
/// differently.
std::string benchmark_line(const AnalyticConfig& config,
                           const std::map<AnalyticalKind, AnalyticalDensity>& densities) {
  std::string line = "{\"version\": \"" SMILE_VERSION "\", \"instruction_set\": \"" + instruction_set() +
                     "\", \"config\": " + analytic_config_json(config);
  const auto given = densities.find(AnalyticalKind::gaussian);
  if (given != densities.end()) {
    const auto& precision = given->second.precision();
    line += ", \"precision_crc\": " +
            std::to_string(::crc32_z(0, reinterpret_cast<const Bytef*>(precision.data()),
                                     precision.size() * sizeof(double)));
  }
  return line + "}";
}

}  // namespace

double bootstrap_error(const std::vector<double>& values, std::uint64_t seed) {
  constexpr int kResamples = 1000;
  if (values.size() < 2) return 0;
  Stream stream({seed, 0, Purpose::bootstrap});
  double sum = 0, squares = 0;
  for (int r = 0; r < kResamples; ++r) {
    double mean = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      mean += values[stream.below(std::uint32_t(values.size()))];
    mean /= double(values.size());
    sum += mean;
    squares += mean * mean;
  }
  return std::sqrt(std::max(0.0, squares / kResamples - sum / kResamples * (sum / kResamples)));
}

std::string analytic_config_json(const AnalyticConfig& config) {
  using nlohmann::json;
  json targets = json::array(), noises = json::array(), laws = json::array(), methods = json::array();
  for (const AnalyticalKind target : config.targets) targets.push_back(name_of(target));
  for (const NoiseStructure noise : config.noises) noises.push_back(name_of(noise));
  for (const BaseNoise law : config.distributions) laws.push_back(name_of(law));
  for (const AnalyticMethod& method : config.methods) {
    json lengths = json::array();
    for (const double length : method.decoherence_lengths) lengths.push_back(length);
    methods.push_back(
        {{"name", method.name},
         {"label", method.label},
         {"step_sizes", method.step_sizes},
         {"decoherence_lengths", lengths},
         {"integrator", name_of(method.integrator)},
         {"energy", name_of(method.energy)},
         {"preconditioner_rate", method.preconditioner.rate},
         {"preconditioner_centre", name_of(method.preconditioner.centre)},
         {"preconditioner_scale",
          method.preconditioner.normalisation == Normalisation::inverse_rms ? "inverse-rms" : "rms"},
         {"friction", method.friction},
         {"cycle_steps", method.cycle_steps}});
  }
  return json{{"rng", config.seed},
              {"steps", config.steps},
              {"chains", config.chains},
              {"equal_gradients", config.equal_gradients},
              {"start", config.exact_start ? "exact" : "paper"},
              {"targets", targets},
              {"noises", noises},
              {"distributions", laws},
              {"noise_rotation", name_of(config.noise_rotation)},
              {"noise_scale", config.noise_scale},
              {"condition_number", config.condition_number},
              {"student_t_df", config.student_t_df},
              {"lognormal_sigma", config.lognormal_sigma},
              {"lognormal_unit_variance", config.lognormal_unit_variance},
              {"record_modes", config.record_modes},
              {"record_energies", config.record_energies},
              {"methods", methods}}
      .dump();
}

AnalyticReport run_analytic(const AnalyticConfig& config, const AnalyticRunOptions& options) {
  if (!options.ledger.empty()) {
    OutputGuard guard;
    guard.reads(config.file);
    if (config.covariance) guard.reads(*config.covariance);
    const AnalyticPaths outputs(options.ledger.parent_path());
    for (const auto& file : {outputs.table(), outputs.points(), outputs.results()}) guard.check(file);
  }
  AnalyticReport report;
  report.config = config;
  report.cells = cells_of(config);
  std::map<AnalyticalKind, AnalyticalDensity> densities;
  for (const AnalyticalKind target : config.targets) densities.emplace(target, density_of(target, config));
  std::vector<std::vector<ChainOutcome>> outcomes(report.cells.size());
  for (std::size_t c = 0; c < report.cells.size(); ++c)
    outcomes[c].resize(report.cells[c].points.size() * config.chains);

  const std::vector<Bundle> bundles = bundles_of(report.cells, config);
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> done{0}, total{0}, kept{0}, finished_bundles{0};
  for (const Bundle& bundle : bundles) total += bundle.chains.size() * report.cells[bundle.cell].steps;

  std::unique_ptr<analytic::Ledger> ledger;
  if (!options.ledger.empty())
    ledger = std::make_unique<analytic::Ledger>(options.ledger, benchmark_line(config, densities));

  const auto run_bundle = [&](std::size_t b) {
    if (options.stop && *options.stop) return;
    const Bundle& bundle = bundles[b];
    const AnalyticCell& cell = report.cells[bundle.cell];
    const auto place_of = [&](std::size_t i) -> ChainOutcome& {
      const auto& [point, number] = bundle.chains[i];
      return outcomes[bundle.cell][point * config.chains + number];
    };
    if (const auto* known = ledger ? ledger->find(b) : nullptr;
        known && known->size() == bundle.chains.size()) {
      for (std::size_t i = 0; i < known->size(); ++i) place_of(i) = (*known)[i];
      for (const ChainOutcome& outcome : *known) kept += outcome.steps;
      total -= bundle.chains.size() * cell.steps;
      ++finished_bundles;
      return;
    }
    const AnalyticalDensity& density = densities.at(cell.target);
    const InjectedNoise noise = noise_of(cell, density, config);
    LaneExperiment experiment;
    experiment.density = &density;
    experiment.noise = &noise;
    experiment.sampler = sampler_of(config.methods[cell.method],
                                    cell.points[bundle.chains.front().first].step_size, cell.steps);
    experiment.seed = config.seed;
    experiment.steps = cell.steps;
    experiment.blocks = std::min(kBlocks, cell.steps);
    if (config.record_modes) experiment.record_every = std::max<std::uint64_t>(1, cell.steps / kRecorded);
    std::vector<LaneChain> chains;
    for (const auto& [point, number] : bundle.chains) {
      LaneChain chain{number, cell.points[point].step_size, cell.points[point].decoherence_length,
                      density.paper_start()};
      if (config.exact_start) {
        Stream stream({config.seed, number, Purpose::analytic_start});
        density.draw(stream, chain.start);
      }
      chains.push_back(std::move(chain));
    }
    const auto results = run_in_lanes(experiment, chains);
    std::vector<ChainOutcome> fresh;
    for (const LaneChainResult& result : results) fresh.push_back(judge(result, density, experiment.blocks));
    if (ledger) ledger->add(b, fresh);
    for (std::size_t i = 0; i < fresh.size(); ++i) place_of(i) = std::move(fresh[i]);
    done += bundle.chains.size() * cell.steps;
    ++finished_bundles;
  };
  experiment::PhaseProgress progress(options.on_progress, "benchmark", "chain-steps");
  const auto tell = [&](bool finished) { progress.tell(done, total, finished); };
  const std::size_t threads = options.threads > 0 ? std::size_t(options.threads) : ensemble::usable_cores();
  ensemble::parallel_for(bundles.size(), threads, run_bundle, tell);

  report.interrupted = finished_bundles < bundles.size();
  report.kept_chain_steps = kept;
  for (std::size_t c = 0; c < report.cells.size() && !report.interrupted; ++c) {
    AnalyticCell& cell = report.cells[c];
    for (std::size_t p = 0; p < cell.points.size(); ++p) {
      const auto first = outcomes[c].begin() + std::ptrdiff_t(p * config.chains);
      const std::vector<ChainOutcome> own(first, first + std::ptrdiff_t(config.chains));
      for (const ChainOutcome& outcome : own) report.chain_steps += outcome.steps;
      summarise(cell.points[p], own, config.seed);
    }
    choose_winner(cell, config.methods[cell.method]);
    if (config.record_energies) record_energies(cell, densities.at(cell.target), config);
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace smile
