// SPDX-License-Identifier: Apache-2.0
/// The evaluation phase: members and draws become metrics, diagnostics and eval/ (spec 3).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "experiment/draws.hpp"
#include "experiment/laplace_of.hpp"
#include "experiment/log_densities.hpp"
#include "experiment/phase_progress.hpp"
#include "experiment/posterior_checks.hpp"
#include "experiment/task_accumulator.hpp"
#include "experiment/walk.hpp"
#include "run/json_file.hpp"
#include "smile/diagnosis/chains_file.hpp"
#include "smile/diagnosis/diagnosis.hpp"
#include "smile/ensemble/parallel.hpp"
#include "smile/evaluation/diagnostics.hpp"
#include "smile/evaluation/json.hpp"
#include "smile/evaluation/metrics.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/files/npy.hpp"
#include "smile/run/metrics_file.hpp"
#include "smile/run/run_paths.hpp"

namespace smile::experiment {
namespace {

namespace fs = std::filesystem;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kDensityDraws = 1000;  ///< draws a chain whose log-density is diagnosed
/// The same of a network where a pass over all training rows takes seconds, and the points (images, tokens)
/// of the rows that are passed.
constexpr std::size_t kDensityDrawsOfLarge = 100, kDensityPointsOfLarge = 4096;
/// Draws a chain whose gradients tell its temperature.
constexpr std::size_t kCheckedDraws = 200, kCheckedDrawsOfLarge = 20;
/// Draws a chain that are scored on the validation rows.
constexpr std::size_t kWalkDraws = 200, kWalkDrawsOfLarge = 20;
constexpr std::size_t kFollowedRows = 10;  ///< test rows whose predictions are diagnosed like parameters

/// Metrics by name, in the order in which they were first set; one column for each phase.
class MetricTable {
 public:
  void set(Phase phase, const MetricSources& sources) {
    for (const MetricValue& metric : metric_values(sources)) {
      MetricRow& of_name = row(metric.label);
      (phase == Phase::ensemble ? of_name.ensemble : of_name.sampling) = metric.value;
    }
  }
  std::vector<MetricRow> rows;

 private:
  MetricRow& row(const std::string& name) {
    for (MetricRow& r : rows)
      if (r.name == name) return r;
    return rows.emplace_back(MetricRow{name});
  }
};

/// Everything that evaluation needs and makes.
struct Evaluation {
  const Experiment& e;
  const RunDirectory& directory;
  const RunOptions& options;
  MetricTable table;
  std::vector<std::string> warnings;
  std::vector<double> members_lppd{};  ///< of the test rows; empty: not known

  RunPaths paths() const { return RunPaths(directory.path()); }
  RegressionOptions regression() const {
    RegressionOptions regression;
    regression.target_scale = e.info.normalisation.target_sd;
    regression.nominal_coverages = e.config.evaluation_args.nominal_coverages;
    return regression;
  }
  ClassificationOptions classification() const {
    ClassificationOptions classification;
    classification.bins = std::size_t(e.config.evaluation_args.ece_bins);
    return classification;
  }
};

/// A run with eval/metrics.json counts as evaluated, so that it goes before the other files begin to change,
/// and comes last.
void withdraw(const Evaluation& evaluation) {
  std::error_code ignored;
  fs::remove(evaluation.paths().metrics(), ignored);
}

/// On the test rows.
TaskAccumulator accumulator_of(const Evaluation& evaluation, std::vector<std::size_t> draws_per_chain) {
  const Experiment& e = evaluation.e;
  return {e.config.task(),         e.outputs(),
          e.test.targets,          std::move(draws_per_chain),
          evaluation.regression(), evaluation.classification()};
}

MetricSources sources_of(const RegressionMetrics& m) {
  return {.regression = &m};
}
MetricSources sources_of(const ClassificationMetrics& m) {
  return {.classification = &m};
}

double residual_sd(Predictor& network, std::span<const double> targets, const HostVector<float>& position) {
  std::vector<float> means(targets.size());
  network.predict(Part::valid, position, means);
  double sum = 0;
  for (std::size_t i = 0; i < means.size(); ++i)
    sum += (double(means[i]) - targets[i]) * (double(means[i]) - targets[i]);
  return std::sqrt(sum / double(means.size()));
}

/// Phase `ensemble_initialization`: the warm-started networks alone; each chain's own start goes into
/// `scores`.
void evaluate_members(Evaluation& evaluation, const std::vector<HostVector<float>>& members,
                      ChainScores& scores) {
  const Experiment& e = evaluation.e;
  const auto network = e.network->predictor();
  const std::size_t rows = e.test.rows;
  std::vector<float> outputs(rows * e.outputs());
  std::string json;
  if (e.config.task() == Task::mean_regression) {
    std::vector<double> means, residuals;
    for (const auto& member : members) {
      network->predict(Part::test, member, outputs);
      means.insert(means.end(), outputs.begin(), outputs.end());
      if (e.valid.rows > 0) residuals.push_back(residual_sd(*network, e.valid.targets, member));
    }
    const auto m = evaluate_deep_ensemble(e.test.targets, means, residuals);
    for (std::size_t i = 0; i < residuals.size(); ++i)
      scores[i].start_lppd =
          evaluate_deep_ensemble(e.test.targets, std::span<const double>(means).subspan(i * rows, rows),
                                 std::span<const double>(residuals).subspan(i, 1))
              .lppd_residual;
    evaluation.members_lppd = m.residual_pointwise;
    evaluation.table.set(Phase::ensemble, {.members = &m, .target_scale = e.info.normalisation.target_sd});
    json = to_json(m, true);
  } else {
    TaskAccumulator predictive = accumulator_of(evaluation, std::vector<std::size_t>(members.size(), 1));
    for (std::size_t i = 0; i < members.size(); ++i) {
      network->predict(Part::test, members[i], outputs);
      predictive.add(i, 0, members[i].span(), outputs);
    }
    std::vector<double> chainwise;
    predictive.metrics([&](const auto& m) {
      evaluation.table.set(Phase::ensemble, sources_of(m));
      json = to_json(m);
      chainwise = m.lppd.chainwise;
    });
    evaluation.members_lppd = e.is_regression() ? predictive.regression().pointwise_lppd()
                                                : predictive.classification().pointwise_lppd();
    for (std::size_t i = 0; i < chainwise.size(); ++i) scores[i].start_lppd = chainwise[i];
  }
  write_file_atomically(evaluation.paths().member_metrics(), json + "\n");
}

/// Predictions of the first test rows, kept of every draw to be diagnosed as parameters are.
struct Followed {
  std::size_t rows = 0;
  std::size_t draws = 0;                    ///< of each chain: as many as the shortest has
  std::vector<std::vector<double>> values;  ///< [row][chain · draws + draw]
};

Followed followed(const Experiment& e, std::span<const ChainDraws> chains) {
  Followed f;
  f.draws = std::numeric_limits<std::size_t>::max();
  for (const auto& chain : chains) f.draws = std::min(f.draws, chain.count);
  f.rows = std::min(kFollowedRows, e.test.rows);
  f.values.assign(f.rows, std::vector<double>(chains.size() * f.draws));
  return f;
}

/// The predictive mean, or the probability of the right class.
double prediction(const Experiment& e, std::span<const float> outputs, std::size_t row) {
  const std::size_t width = e.outputs();
  if (e.is_regression()) return double(outputs[row * width]);
  RowPredictive reader(e.config.task(), width);
  return reader.probabilities(outputs, row)[std::size_t(e.test.targets[row])];
}

void follow(Followed& f, const Experiment& e, std::size_t chain, std::size_t draw,
            std::span<const float> outputs) {
  if (draw >= f.draws) return;
  for (std::size_t i = 0; i < f.rows; ++i) f.values[i][chain * f.draws + draw] = prediction(e, outputs, i);
}

/// Diagnostics of parameters drawn at random and of log σ. Draws are read once for each group of parameters
/// whose values fit into a fixed amount of memory.
std::vector<QuantityDiagnostics> diagnose_parameters(const Experiment& e, std::span<const ChainDraws> chains,
                                                     std::size_t draws, std::size_t parts,
                                                     std::size_t threads) {
  constexpr std::size_t kGroupBytes = std::size_t{32} << 20;
  const std::size_t d = e.dimension(), total = chains.size() * draws;
  const bool has_sigma = e.config.task() == Task::mean_regression;
  auto chosen = choose_parameters(has_sigma ? d - 1 : d,
                                  std::size_t(e.config.evaluation_args.diagnose_parameters), e.seed());
  if (has_sigma) chosen.push_back(d - 1);
  std::vector<QuantityDiagnostics> quantities(chosen.size());
  const std::size_t largest =
      std::max<std::size_t>(1, kGroupBytes / (sizeof(float) * std::max<std::size_t>(1, total)));
  for (std::size_t first = 0; first < chosen.size(); first += largest) {
    const std::span<const std::size_t> group =
        std::span(chosen).subspan(first, std::min(largest, chosen.size() - first));
    std::vector<float> values(total * group.size());  // [chain, draw, parameter]
    ensemble::parallel_for(chains.size(), threads, [&](std::size_t c) {
      for (std::size_t i = 0; i < draws; ++i)
        chains[c].read(i, group, std::span(values).subspan((c * draws + i) * group.size(), group.size()));
    });
    ensemble::parallel_for(group.size(), threads, [&](std::size_t q) {
      std::vector<double> of_one(total);
      for (std::size_t i = 0; i < total; ++i) of_one[i] = double(values[i * group.size() + q]);
      const bool sigma = has_sigma && group[q] == d - 1;
      quantities[first + q] =
          diagnose(sigma ? "log_sigma" : fmt::format("theta[{}]", group[q]), of_one, chains.size(), parts);
    });
  }
  return quantities;
}

/// The log-posterior of draws evenly thinned where there are many, over all training rows or, of a large
/// network, some; of all draws and rows, and kept in a file, where `evaluations` names PriorLogLik.
/// @return nothing where it was stopped
std::optional<QuantityDiagnostics> diagnose_log_density(const Evaluation& evaluation,
                                                        std::span<const ChainDraws> chains, std::size_t draws,
                                                        std::size_t parts, std::size_t threads) {
  const Experiment& e = evaluation.e;
  const bool all = e.config.evaluates({EvaluationPart::densities});
  const std::size_t most = e.is_native() ? kDensityDraws : kDensityDrawsOfLarge;
  DensityPlan plan;
  plan.draws = draws;
  plan.every = all ? 1 : (draws + most - 1) / most;
  if (!all && !e.is_native())
    plan.rows = std::max<std::size_t>(1, kDensityPointsOfLarge / e.network->points_per_row());
  plan.threads = threads;
  plan.stop = evaluation.options.stop;
  PhaseProgress progress(evaluation.options.on_progress, "diagnosis", "draws");
  const std::size_t total = chains.size() * ((draws + plan.every - 1) / plan.every);
  plan.on_draw = [&](std::size_t done) { progress.tell(done, total, done == total); };
  const auto densities =
      log_densities(e, chains, plan, complete_draws(e, *e.network, evaluation.directory.path()));
  if (!densities) return std::nullopt;
  if (all) {
    const std::vector<std::size_t> shape{chains.size(), densities->draws};
    const std::vector<NamedArray> arrays{
        {"log_prior", NpyArray(shape, std::span<const double>(densities->log_prior))},
        {"log_likelihood", NpyArray(shape, std::span<const double>(densities->log_likelihood))}};
    write_npz(evaluation.paths().log_densities(), arrays);
  }
  std::vector<double> sum(densities->log_prior);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += densities->log_likelihood[i];
  return diagnose("log_density", sum, chains.size(), parts);
}

/// Temperatures and directions without data, from some draws of each chain.
std::optional<PosteriorChecks> check_draws(const Evaluation& evaluation, std::span<const ChainDraws> chains,
                                           std::size_t draws, std::size_t threads) {
  const Experiment& e = evaluation.e;
  const std::size_t most = e.is_native() ? kCheckedDraws : kCheckedDrawsOfLarge;
  DensityPlan plan;
  plan.draws = draws;
  plan.every = std::max<std::size_t>(1, draws / most);
  if (!e.is_native())
    plan.rows = std::max<std::size_t>(1, kDensityPointsOfLarge / e.network->points_per_row());
  plan.threads = threads;
  plan.stop = evaluation.options.stop;
  PhaseProgress progress(evaluation.options.on_progress, "diagnosis", "chains");
  plan.on_draw = [&](std::size_t done) { progress.tell(done, chains.size(), done == chains.size()); };
  return check_posterior(e, chains, plan, evaluation.directory.path());
}

/// @return false where it was stopped
bool diagnose_draws(Evaluation& evaluation, std::span<const ChainDraws> chains, Followed& f,
                    std::size_t threads) {
  const std::size_t parts =
      std::size_t(std::max<std::int64_t>(2, evaluation.e.config.evaluation_args.n_splits));
  auto quantities = diagnose_parameters(evaluation.e, chains, f.draws, parts, threads);
  const std::size_t parameters = quantities.size();
  for (std::size_t i = 0; i < f.rows; ++i)
    quantities.push_back(diagnose(fmt::format("prediction[{}]", i), f.values[i], chains.size(), parts));
  const auto of_parameters = summarise(std::span(quantities).first(parameters));
  const auto of_predictions = summarise(std::span(quantities).subspan(parameters));
  auto of_density = diagnose_log_density(evaluation, chains, f.draws, parts, threads);
  if (!of_density) return false;
  quantities.push_back(std::move(*of_density));
  evaluation.table.set(Phase::sampling, {.parameters = &of_parameters, .predictions = &of_predictions});
  const auto checks = check_draws(evaluation, chains, f.draws, threads);
  if (!checks) return false;
  const auto walk =
      walk_of(evaluation.e, chains, f.draws, evaluation.e.is_native() ? kWalkDraws : kWalkDrawsOfLarge,
              threads, evaluation.options.stop, evaluation.directory.path());
  if (!walk) return false;
  using nlohmann::ordered_json;
  ordered_json out;
  out["draws_per_chain"] = f.draws;
  out["chains_used"] = ordered_json::array();
  for (const auto& chain : chains) out["chains_used"].push_back(chain.chain);
  out["parameters"] = ordered_json::parse(to_json(of_parameters));
  out["predictions"] = ordered_json::parse(to_json(of_predictions));
  out["quantities"] = ordered_json::parse(to_json(std::span<const QuantityDiagnostics>(quantities)));
  out["temperature"] = ordered_json::array();
  for (const LayerTemperature& layer : checks->layers)
    out["temperature"].push_back({{"layer", layer.layer},
                                  {"value", layer.value},
                                  {"standard_error", layer.standard_error},
                                  {"windows", layer.windows}});
  out["prior_only"] = {{"parameters", checks->prior_only}, {"spread", checks->prior_only_spread}};
  out["walk"] = {{"members_validation_lppd", walk->members_lppd}, {"windows", ordered_json::array()}};
  for (const WalkWindow& w : walk->windows)
    out["walk"]["windows"].push_back({{"first_draw", w.first_draw},
                                      {"last_draw", w.last_draw},
                                      {"validation_lppd", w.validation_lppd},
                                      {"gain", w.gain},
                                      {"gain_error", w.gain_error},
                                      {"distance", w.distance},
                                      {"norm2_per_dim", w.norm2_per_dim}});
  withdraw(evaluation);
  write_file_atomically(evaluation.paths().diagnostics(), out.dump(1) + "\n");
  return true;
}

/// LPPD of the first k chains over random orders of the chains: how much each further chain brings.
void evaluate_orderings(const Evaluation& evaluation, TaskAccumulator& predictive, std::size_t chains) {
  const std::size_t orderings = std::size_t(evaluation.e.config.evaluation_args.n_orderings);
  std::vector<std::uint32_t> permutation(chains);
  std::vector<std::int64_t> orders;
  std::vector<double> lppd;
  for (std::size_t i = 0; i < orderings; ++i) {
    random_permutation({evaluation.e.seed(), 0, Purpose::diagnostics}, i + 1, permutation);
    const std::vector<std::size_t> order(permutation.begin(), permutation.end());
    const auto values = predictive.sequential_lppd(order);
    orders.insert(orders.end(), order.begin(), order.end());
    lppd.insert(lppd.end(), values.begin(), values.end());
  }
  const std::vector<NamedArray> arrays{
      {"order", NpyArray({orderings, chains}, std::span<const std::int64_t>(orders))},
      {"lppd", NpyArray({orderings, chains}, std::span<const double>(lppd))}};
  write_npz(evaluation.paths().orderings(), arrays);
}

/// Classification: entropy and mutual information of p̄. Regression: entropy of the Normal with the mixture's
/// moments, and how much smaller it would be without the spread of the means.
Novelty novelty(const Experiment& e, TaskAccumulator& predictive, bool has_targets) {
  Novelty out;
  if (e.is_regression()) {
    const PointwisePredictive p = predictive.regression().pointwise();
    constexpr double kEntropyOfNormal = 1.4189385332046727;  // ½ log(2πe)
    for (std::size_t i = 0; i < p.mean.size(); ++i) {
      const double total = std::hypot(p.aleatoric_sd[i], p.epistemic_sd[i]);
      out.entropy.push_back(kEntropyOfNormal + std::log(total));
      out.mutual_information.push_back(std::log(total / p.aleatoric_sd[i]));
    }
    if (has_targets) out.surprise = predictive.regression().pointwise_lppd();
  } else {
    const ClassificationMetrics m = predictive.classification().metrics();
    out.entropy = m.entropy;
    out.mutual_information = m.mutual_information;
    if (has_targets) {
      out.surprise = predictive.classification().pointwise_lppd();
    } else {
      const auto p = predictive.classification().mean_probabilities();
      for (std::size_t i = 0; i < m.points; ++i)
        out.surprise.push_back(std::log(*std::max_element(p.begin() + std::ptrdiff_t(i * m.classes),
                                                          p.begin() + std::ptrdiff_t((i + 1) * m.classes))));
    }
  }
  for (double& v : out.surprise) v = -v;
  return out;
}

/// How well the predictions tell the set of `evaluation_args.ood` from the test set.
void evaluate_out_of_distribution(Evaluation& evaluation, const OutOfDistribution& set,
                                  std::span<const ChainDraws> chains, TaskAccumulator& test,
                                  std::size_t threads) {
  const Experiment& e = evaluation.e;
  const bool has_targets = !set.targets.empty();
  const std::vector<double> targets =
      has_targets ? set.targets : std::vector<double>(set.network->points(Part::test));
  std::vector<std::size_t> counts;
  for (const auto& chain : chains) counts.push_back(chain.count);
  RegressionOptions options = evaluation.regression();
  options.nominal_coverages.clear();
  TaskAccumulator predictive(e.config.task(), e.outputs(), targets, counts, options,
                             evaluation.classification());
  for_each_prediction(
      *set.network, Part::test, chains, threads,
      [&](std::size_t chain, std::size_t draw, std::span<const float> position,
          std::span<const float> outputs) { predictive.add(chain, draw, position, outputs); },
      [](std::size_t) { return true; }, complete_draws(e, *e.network, evaluation.directory.path()));
  const Novelty inside = novelty(e, test, has_targets), outside = novelty(e, predictive, has_targets);
  std::vector<NamedArray> arrays;
  evaluation.table.set(Phase::sampling, {.inside = &inside, .outside = &outside});
  const auto keep = [&](const char* name, const std::vector<double>& in, const std::vector<double>& out) {
    if (in.empty() || out.empty()) return;  // a log-density needs targets
    arrays.push_back({std::string("test_") + name, NpyArray({in.size()}, std::span(in))});
    arrays.push_back({std::string("ood_") + name, NpyArray({out.size()}, std::span(out))});
  };
  keep("entropy", inside.entropy, outside.entropy);
  keep("mutual_information", inside.mutual_information, outside.mutual_information);
  keep("surprise", inside.surprise, outside.surprise);
  write_npz(evaluation.paths().out_of_distribution(), arrays);
}

void write_arrays(Evaluation& evaluation, TaskAccumulator& predictive, const LppdMetrics& lppd) {
  const Experiment& e = evaluation.e;
  const std::size_t n = e.test.rows;
  std::vector<NamedArray> arrays;
  const auto put = [&](const char* name, std::vector<std::size_t> shape, const std::vector<double>& values) {
    arrays.push_back({name, NpyArray(std::move(shape), std::span<const double>(values))});
  };
  put("target", {n}, e.test.targets);
  if (e.is_regression()) {
    const PointwisePredictive pointwise = predictive.regression().pointwise();
    put("mean", {n}, pointwise.mean);
    put("aleatoric_sd", {n}, pointwise.aleatoric_sd);
    put("epistemic_sd", {n}, pointwise.epistemic_sd);
    put("pit", {n}, pointwise.pit);
    put("lppd", {n}, predictive.regression().pointwise_lppd());
  } else {
    put("probabilities", {n, e.outputs()}, predictive.classification().mean_probabilities());
    put("lppd", {n}, predictive.classification().pointwise_lppd());
  }
  if (evaluation.members_lppd.size() == n) put("members_lppd", {n}, evaluation.members_lppd);
  put("chainwise_lppd", {lppd.chainwise.size()}, lppd.chainwise);
  put("sequential_lppd", {lppd.sequential.size()}, lppd.sequential);
  put("running_lppd", {lppd.running.lppd.size()}, lppd.running.lppd);
  const std::vector<std::int64_t> samples(lppd.running.samples.begin(), lppd.running.samples.end());
  arrays.push_back({"running_samples", NpyArray({samples.size()}, std::span<const std::int64_t>(samples))});
  write_npz(evaluation.paths().predictions(), arrays);
}

void warn_of_nonfinite(Evaluation& evaluation, const std::optional<PredictionPlace>& place,
                       std::span<const ChainDraws> chains) {
  if (!place) return;
  evaluation.warnings.push_back(
      fmt::format("the prediction of test row {} by draw {} of chain {} is not finite", place->row,
                  place->draw, chains[place->chain].chain));
}

/// The closed predictive of each chain's linearised network, as one draw of a chain.
void evaluate_linearised(Evaluation& evaluation, std::span<const ChainDraws> chains, std::size_t threads) {
  const Experiment& e = evaluation.e;
  const auto members = read_members(evaluation.directory.path(), e.chains(), e.member_dimension());
  std::vector<std::vector<float>> outputs(chains.size());
  ensemble::parallel_for(chains.size(), std::min(threads, chains.size()), [&](std::size_t i) {
    laplace_around(e, members[chains[i].chain]).predict(Part::test, outputs[i]);
  });
  const Task task = e.is_regression() ? Task::regression : e.config.task();
  TaskAccumulator predictive(task, e.is_regression() ? 2 : e.outputs(), e.test.targets,
                             std::vector<std::size_t>(chains.size(), 1), evaluation.regression(),
                             evaluation.classification());
  for (std::size_t i = 0; i < chains.size(); ++i) predictive.add(i, 0, {}, outputs[i]);
  predictive.metrics([&](const auto& m) {
    MetricSources sources;
    if constexpr (requires { m.calibration_error; })
      sources.linear_regression = &m;
    else
      sources.linear_classification = &m;
    evaluation.table.set(Phase::sampling, sources);
    write_file_atomically(evaluation.paths().linearised_metrics(), to_json(m) + "\n");
  });
}

/// Phase `sampling`: all stored draws. @return false where it was stopped
bool evaluate_draws(Evaluation& evaluation, std::span<const ChainRecord> records, RunSummary& summary,
                    ChainScores& scores) {
  const Experiment& e = evaluation.e;
  const auto chains = open_draws(e, evaluation.directory.path(), records);
  std::vector<std::size_t> counts;
  std::size_t total = 0;
  for (const auto& chain : chains) counts.push_back(chain.count), total += chain.count;
  TaskAccumulator predictive = accumulator_of(evaluation, counts);
  const bool diagnosing = e.config.evaluates({EvaluationPart::chainwise_rhat, EvaluationPart::effective_size,
                                              EvaluationPart::chain_variance, EvaluationPart::densities});
  Followed f;
  if (diagnosing) f = followed(e, chains);
  const std::size_t threads = thread_count(e, evaluation.options, 64);
  // PredSaver: the network's outputs of every draw for the test rows, one file a chain.
  std::vector<NpyAppender> outputs_of;
  if (e.config.evaluates({EvaluationPart::outputs}))
    for (const auto& chain : chains)
      outputs_of.push_back(
          NpyAppender::create(evaluation.paths().outputs(chain.chain), e.test.rows * e.outputs()));

  PhaseProgress progress(evaluation.options.on_progress, "evaluation", "draws");
  const bool all = for_each_prediction(
      *e.network, Part::test, chains, threads,
      [&](std::size_t chain, std::size_t draw, std::span<const float> position,
          std::span<const float> outputs) {
        predictive.add(chain, draw, position, outputs);
        if (diagnosing) follow(f, e, chain, draw, outputs);
        if (!outputs_of.empty()) outputs_of[chain].append(outputs);
      },
      [&](std::size_t done) {
        progress.tell(done, total, done == total);
        return !(evaluation.options.stop && evaluation.options.stop->load());
      },
      complete_draws(e, *e.network, evaluation.directory.path()));
  if (!all) return false;

  std::vector<double> lppd, rmse;
  predictive.metrics([&](const auto& m) {
    evaluation.table.set(Phase::sampling, sources_of(m));
    warn_of_nonfinite(evaluation, m.nonfinite, chains);
    write_file_atomically(evaluation.paths().sampling_metrics(), to_json(m, true) + "\n");
    write_arrays(evaluation, predictive, m.lppd);
    lppd = m.lppd.chainwise;
    if constexpr (requires { m.chainwise_rmse; }) rmse = m.chainwise_rmse;
  });
  if (e.config.training.sampler.row().dynamics == Dynamics::laplace)
    evaluate_linearised(evaluation, chains, threads);
  if (e.out_of_distribution)
    evaluate_out_of_distribution(evaluation, *e.out_of_distribution, chains, predictive, threads);
  for (std::size_t i = 0; i < chains.size(); ++i) {
    ChainScore& score = scores[chains[i].chain];
    score.draws = chains[i].count;
    score.lppd = lppd[i];
    score.rmse = rmse.empty() ? kNone : rmse[i];
  }
  if (e.config.evaluates({EvaluationPart::lppd_of_chains}))
    evaluate_orderings(evaluation, predictive, chains.size());
  if (diagnosing && !diagnose_draws(evaluation, chains, f, threads)) return false;
  summary.draws = total;
  return true;
}

void write_summary(const Evaluation& evaluation, const RunSummary& summary) {
  write_metrics(evaluation.directory.path(),
                {summary.draws, summary.chains, summary.failed_chains, summary.metrics, summary.warnings});
}

/// Adds the verdicts to eval/diagnostics.json, from the files that are there by now.
RunDiagnosis write_diagnosis(const Evaluation& evaluation) {
  using nlohmann::ordered_json;
  const fs::path path = evaluation.paths().diagnostics();
  ordered_json out = run::read_json(path);
  if (!out.is_object()) out = ordered_json::object();
  RunDiagnosis diagnosis = diagnose_run(evaluation.directory.path());
  out.update(ordered_json::parse(to_json(diagnosis)));
  out.erase("directory"), out.erase("status");  // may change later
  write_file_atomically(path, out.dump(1) + "\n");
  return diagnosis;
}

}  // namespace

bool evaluate(const Experiment& e, const RunDirectory& directory, const RunOptions& options,
              RunSummary& summary) {
  Evaluation evaluation{e, directory, options, {}, {}, {}};
  std::error_code failure;
  fs::create_directories(RunPaths(directory.path()).evaluation(), failure);
  if (failure)
    throw Error(directory.path().string(), "cannot make the folder eval (" + failure.message() + ")",
                "choose a folder you may write to", ErrorKind::run);
  const auto records = read_records(e, directory.path());
  const EvaluationArgs& args = e.config.evaluation_args;
  ChainScores scores(e.chains());
  bool all = true;
  if (args.has(Phase::ensemble))
    evaluate_members(evaluation, read_members(directory.path(), e.chains(), e.member_dimension()), scores);
  if (args.has(Phase::sampling)) all = evaluate_draws(evaluation, records, summary, scores);
  if (!all) return false;
  summary.chains = records.size();
  summary.failed_chains = std::size_t(std::count_if(
      records.begin(), records.end(), [](const auto& r) { return r.status == ChainStatus::failed; }));
  for (const ChainRecord& record : records) {
    if (record.status != ChainStatus::running) continue;
    ++summary.incomplete_chains;
    const auto& plan = e.lengths.plan;
    evaluation.warnings.push_back(
        fmt::format("chain {} is incomplete ({} of {} steps)", record.chain, record.step,
                    record.total_steps > 0 ? record.total_steps : plan.warmup_steps + plan.sampling_steps));
  }
  std::vector<ChainReport> reports;
  for (std::size_t i = 0; i < records.size(); ++i) reports.push_back(report_of(records[i], scores[i]));
  write_chains(directory.path(), reports);
  summary.metrics = evaluation.table.rows;
  try {
    write_summary(evaluation, summary);  // which the diagnosis reads
    const RunDiagnosis diagnosis = write_diagnosis(evaluation);
    for (const auto& text : chain_warnings(diagnosis)) evaluation.warnings.push_back(text);
    summary.warnings.insert(summary.warnings.end(), evaluation.warnings.begin(), evaluation.warnings.end());
    summary.findings = run_warnings(diagnosis);
    write_summary(evaluation, summary);
  } catch (...) {
    withdraw(evaluation);
    throw;
  }
  return true;
}

}  // namespace smile::experiment
