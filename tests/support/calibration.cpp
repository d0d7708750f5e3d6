// SPDX-License-Identifier: Apache-2.0
#include "support/calibration.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

#include "smile/config/sampler_factory.hpp"
#include "smile/ensemble/stream_normals.hpp"
#include "smile/network/fcn.hpp"
#include "smile/targets/priors.hpp"

namespace smile::test {
namespace {

constexpr std::size_t kInputs = 8, kWeak = 7, kEmpty = 6;

std::shared_ptr<MinibatchPosterior<float>> posterior_of(const FcnSpec& spec, std::size_t rows,
                                                        const std::vector<double>& x,
                                                        const std::vector<double>& y,
                                                        const SamplerConfig& sampler, std::uint64_t seed) {
  auto data = std::make_shared<const FcnData<float>>(rows, spec.inputs, x, y);
  auto network = std::make_unique<Fcn<float>>(spec, data);
  auto prior = make_prior("StandardNormal", {}, network->layout());
  BatchOrder order =
      sampler.is_stochastic() && sampler.batch_size
          ? BatchOrder(rows, std::size_t(*sampler.batch_size), sampler.batches, {seed, 0, Purpose::batches})
          : BatchOrder(rows);
  return std::make_shared<MinibatchPosterior<float>>(std::move(network), std::move(prior), std::move(order));
}

std::vector<double> normals(Stream& stream, std::size_t count) {
  std::vector<double> out(count);
  for (double& v : out) v = stream.normal();
  return out;
}

std::vector<double> all_of(const HostVector<float>& x) {
  return {x.data(), x.data() + x.size()};
}

/// Mean and variance of w, b, log σ: log σ on a grid, the rest normal given it.
void exact_moments(const std::vector<double>& x, const std::vector<double>& y, double log_sigma,
                   std::vector<double>& mean, std::vector<double>& variance) {
  const auto n = Eigen::Index(y.size()), q = Eigen::Index(kInputs + 1);
  Eigen::MatrixXd design(n, q);
  Eigen::VectorXd target(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j + 1 < q; ++j) design(i, j) = x[std::size_t(i * (q - 1) + j)];
    design(i, q - 1) = 1;
    target(i) = y[std::size_t(i)];
  }
  const Eigen::MatrixXd a = design.transpose() * design;
  const Eigen::VectorXd b = design.transpose() * target;
  const double yy = target.squaredNorm();
  constexpr int kPoints = 800;
  std::vector<double> weight, position;
  std::vector<Eigen::VectorXd> means, variances;
  for (int k = 0; k <= kPoints; ++k) {
    const double s = log_sigma - 1 + 2.0 * k / kPoints, precision = std::exp(-2 * s);
    const Eigen::LLT<Eigen::MatrixXd> llt(a * precision + Eigen::MatrixXd::Identity(q, q));
    const Eigen::VectorXd m = llt.solve(b * precision);
    double log_det = 0;
    for (Eigen::Index j = 0; j < q; ++j) log_det += std::log(llt.matrixLLT()(j, j));
    weight.push_back(-double(n) * s - 0.5 * precision * yy + 0.5 * precision * b.dot(m) - log_det -
                     0.5 * s * s);
    position.push_back(s);
    means.push_back(m);
    variances.push_back(llt.solve(Eigen::MatrixXd::Identity(q, q)).diagonal());
  }
  const double largest = *std::max_element(weight.begin(), weight.end());
  double total = 0;
  Eigen::VectorXd first = Eigen::VectorXd::Zero(q + 1), second = first;
  for (std::size_t k = 0; k < weight.size(); ++k) {
    const double w = std::exp(weight[k] - largest);
    total += w;
    for (Eigen::Index j = 0; j < q; ++j) {
      first(j) += w * means[k](j);
      second(j) += w * (means[k](j) * means[k](j) + variances[k](j));
    }
    first(q) += w * position[k];
    second(q) += w * position[k] * position[k];
  }
  first /= total;
  second /= total;
  mean.assign(first.data(), first.data() + q + 1);
  for (Eigen::Index j = 0; j <= q; ++j) variance.push_back(second(j) - first(j) * first(j));
}

Problem draw_linear(std::size_t rows, const SamplerConfig& sampler, std::uint64_t seed) {
  Stream stream({.seed = 900 + seed, .purpose = Purpose::split});
  Problem problem;
  problem.truth = normals(stream, kInputs + 2);
  const double sigma = std::exp(problem.truth.back());
  std::vector<double> x = normals(stream, rows * kInputs), y(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    x[i * kInputs + kEmpty] = 0;
    x[i * kInputs + kWeak] *= 0.1;
    y[i] = problem.truth[kInputs] + sigma * stream.normal();
    for (std::size_t j = 0; j < kInputs; ++j) y[i] += problem.truth[j] * x[i * kInputs + j];
  }
  const FcnSpec spec{kInputs, {1}, Activation::identity, true, Task::mean_regression};
  problem.posterior = posterior_of(spec, rows, x, y, sampler, seed);
  SamplerConfig full = sampler;
  full.batch_size.reset();
  problem.whole = posterior_of(spec, rows, x, y, full, seed);
  problem.quantities = all_of;
  exact_moments(x, y, problem.truth.back(), problem.mean, problem.variance);
  return problem;
}

Problem draw_logistic(std::size_t rows, const SamplerConfig& sampler, std::uint64_t seed) {
  constexpr std::size_t p = 6;
  Stream stream({.seed = 900 + seed, .purpose = Purpose::split});
  Problem problem;
  problem.truth = normals(stream, 2 * p + 2);  // weight [2, p], bias [2]
  const std::vector<double> x = normals(stream, rows * p);
  std::vector<double> y(rows);
  const auto difference = [](const auto& theta, std::size_t j) {
    return j < p ? double(theta[p + j]) - double(theta[j]) : double(theta[2 * p + 1]) - double(theta[2 * p]);
  };
  for (std::size_t i = 0; i < rows; ++i) {
    double logit = difference(problem.truth, p);
    for (std::size_t j = 0; j < p; ++j) logit += difference(problem.truth, j) * x[i * p + j];
    y[i] = stream.uniform() < 1 / (1 + std::exp(-logit)) ? 1 : 0;
  }
  problem.posterior =
      posterior_of({p, {2}, Activation::identity, true, Task::classification}, rows, x, y, sampler, seed);
  problem.quantities = [difference](const HostVector<float>& theta) {
    std::vector<double> out;
    for (std::size_t j = 0; j <= p; ++j) out.push_back(difference(theta, j));
    return out;
  };
  return problem;
}

Problem draw_network(std::size_t rows, const SamplerConfig& sampler, std::uint64_t seed) {
  constexpr std::size_t p = 3, probes = 8;
  Stream stream({.seed = 900 + seed, .purpose = Purpose::split});
  const FcnSpec spec{p, {4, 4, 1}, Activation::tanh, true, Task::mean_regression};
  Problem problem;
  problem.truth = normals(stream, spec.layout().size());
  HostVector<float> theta(problem.truth.size());
  for (std::size_t i = 0; i < theta.size(); ++i) theta[i] = float(problem.truth[i]);
  const std::vector<double> x = normals(stream, rows * p);
  std::vector<double> y(rows), at = normals(stream, probes * p), nothing(probes);
  const auto inputs = std::make_shared<const FcnData<float>>(rows, p, x, y);
  std::vector<float> values(rows);
  Fcn<float>(spec, inputs).predict(*inputs, theta, values);
  const double sigma = std::exp(problem.truth.back());
  for (std::size_t i = 0; i < rows; ++i) y[i] = double(values[i]) + sigma * stream.normal();
  problem.posterior = posterior_of(spec, rows, x, y, sampler, seed);
  const auto points = std::make_shared<const FcnData<float>>(probes, p, at, nothing);
  problem.quantities =
      [points, network = std::make_shared<Fcn<float>>(spec, points)](const HostVector<float>& position) {
        std::vector<float> out(probes);
        network->predict(*points, position, out);
        std::vector<double> all(out.begin(), out.end());
        all.push_back(position[position.size() - 1]);
        return all;
      };
  return problem;
}

/// Runs a chain from θ and hands every position of the sampling phase on.
template <class See>
void run_chain(const SamplerConfig& config, const CalibrationModel& model, Problem& problem,
               std::uint64_t replication, SamplingPlan plan, const See& see) {
  const auto sampler = make_sampler(config, plan, model.rows);
  StreamNormals<HostVector<float>> normals(5000 + replication, 0);
  HostVector<float> start(problem.truth.size());
  for (std::size_t j = 0; j < start.size(); ++j) start[j] = float(problem.truth[j]);
  sampler->start(start, *problem.posterior, normals);
  for (std::uint64_t t = 1; t <= sampler->total_steps(); ++t) {
    sampler->step(*problem.posterior, normals, t);
    if (t > sampler->warmup_steps()) see(t - sampler->warmup_steps(), sampler->position());
  }
}

}  // namespace

CalibrationModel linear_regression(std::size_t rows, std::size_t batch_size) {
  CalibrationModel model{"linear regression", rows, batch_size, {}, {}};
  for (std::size_t j = 0; j < kInputs; ++j)
    model.groups.push_back(j == kEmpty ? "prior-only" : j == kWeak ? "weak" : "weights");
  model.groups.push_back("bias");
  model.groups.push_back("log sigma");
  model.draw = [rows](const SamplerConfig& sampler, std::uint64_t seed) {
    return draw_linear(rows, sampler, seed);
  };
  return model;
}
CalibrationModel logistic_regression(std::size_t rows, std::size_t batch_size) {
  return {"logistic regression", rows, batch_size, std::vector<std::string>(7, "weights"),
          [rows](const SamplerConfig& sampler, std::uint64_t seed) {
            return draw_logistic(rows, sampler, seed);
          }};
}
CalibrationModel small_network(std::size_t rows, std::size_t batch_size) {
  CalibrationModel model{"4-4-1 network", rows, batch_size, std::vector<std::string>(8, "values"), {}};
  model.groups.push_back("log sigma");
  model.draw = [rows](const SamplerConfig& sampler, std::uint64_t seed) {
    return draw_network(rows, sampler, seed);
  };
  return model;
}

SamplerConfig sampler_config(const std::string& sampler, const CalibrationModel& model) {
  std::string text = "data: {path: none, task: mean_regr}\n";
  const bool old = sampler.find("compat") != std::string::npos;
  if (old) text += "compat: 0.1\n";
  text += "training:\n  sampler:\n    batch_size: " + std::to_string(model.batch_size) + "\n";
  std::string line;
  for (const char c : sampler + "\n") {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (!line.empty() && line.rfind("compat", 0) != 0) text += "    " + line + "\n";
    line.clear();
  }
  return parse_config(text, "calibration.yaml").training.sampler;
}

Calibration simulation_based_calibration(const CalibrationModel& model, const std::string& sampler,
                                         int replications, std::uint64_t warmup, std::uint64_t steps) {
  constexpr int kDraws = 50, kClasses = 10;
  const SamplerConfig config = sampler_config(sampler, model);
  const std::size_t count = model.groups.size();
  std::vector<std::vector<int>> ranks(count);
  for (int r = 0; r < replications; ++r) {
    Problem problem = model.draw(config, std::uint64_t(r));
    HostVector<float> start(problem.truth.size());
    for (std::size_t j = 0; j < start.size(); ++j) start[j] = float(problem.truth[j]);
    const std::vector<double> truth = problem.quantities(start);
    std::vector<int> below(count);
    run_chain(config, model, problem, std::uint64_t(r), {warmup, steps},
              [&](std::uint64_t t, const HostVector<float>& position) {
                if (t % (steps / kDraws) != 0) return;
                const std::vector<double> now = problem.quantities(position);
                for (std::size_t j = 0; j < count; ++j) below[j] += now[j] < truth[j];
              });
    for (std::size_t j = 0; j < count; ++j) ranks[j].push_back(std::min(below[j], kDraws));
  }
  const double uniform = ((kDraws + 1.0) * (kDraws + 1.0) - 1) / 12;
  Calibration result;
  result.standard_error = std::sqrt(0.8 / replications);
  double chi2 = 0;
  std::map<std::string, int> sizes;
  for (std::size_t j = 0; j < count; ++j) {
    double variance = 0;
    double classes[kClasses] = {};
    for (const int rank : ranks[j]) {
      variance += (rank - kDraws / 2.0) * (rank - kDraws / 2.0) / replications / uniform;
      ++classes[std::min(kClasses - 1, rank * kClasses / (kDraws + 1))];
    }
    const double expected = replications / double(kClasses);
    for (const double c : classes) chi2 += (c - expected) * (c - expected) / expected;
    auto group = std::find_if(result.groups.begin(), result.groups.end(),
                              [&](const Group& g) { return g.name == model.groups[j]; });
    if (group == result.groups.end()) group = result.groups.insert(group, {model.groups[j]});
    if (std::fabs(std::log(variance)) > std::fabs(std::log(group->worst))) group->worst = variance;
    const int before = sizes[group->name]++;
    group->mean += (variance - group->mean) / (before + 1);
  }
  result.chi2_per_df = chi2 / double(count * (kClasses - 1));
  return result;
}

std::vector<Temperature> temperatures(const CalibrationModel& model, const std::string& sampler,
                                      int data_sets, std::uint64_t warmup, std::uint64_t steps) {
  const SamplerConfig config = sampler_config(sampler, model);
  std::vector<std::string> names;
  std::map<std::string, std::vector<double>> values;
  std::map<std::string, double> thermometer;
  for (int r = 0; r < data_sets; ++r) {
    Problem problem = model.draw(config, std::uint64_t(r));
    std::vector<double> square(model.groups.size());
    std::uint64_t seen = 0;
    std::vector<HostVector<float>> kept;
    run_chain(config, model, problem, std::uint64_t(r), {warmup, steps},
              [&](std::uint64_t, const HostVector<float>& position) {
                const std::vector<double> now = problem.quantities(position);
                ++seen;
                if (seen % (steps / 400) == 0) kept.push_back(position);
                for (std::size_t j = 0; j < now.size(); ++j)
                  square[j] += (now[j] - problem.mean[j]) * (now[j] - problem.mean[j]);
              });
    std::map<std::string, std::pair<double, int>> sums;
    for (std::size_t j = 0; j < square.size(); ++j) {
      auto& [sum, number] = sums[model.groups[j]];
      sum += square[j] / double(seen) / problem.variance[j];
      ++number;
    }
    for (const auto& [name, sum] : sums) values[name].push_back(sum.first / sum.second);
    std::vector<double> centre(square.size()), heat(square.size());
    for (const auto& position : kept)
      for (std::size_t j = 0; j < centre.size(); ++j) centre[j] += double(position[j]) / double(kept.size());
    HostVector<float> gradient(centre.size());
    for (const auto& position : kept) {
      problem.whole->log_density_and_gradient(position, gradient, 1);
      for (std::size_t j = 0; j < centre.size(); ++j)
        heat[j] -= (double(position[j]) - centre[j]) * double(gradient[j]) / double(kept.size());
    }
    for (std::size_t j = 0; j < heat.size(); ++j)
      thermometer[model.groups[j]] += heat[j] / sums[model.groups[j]].second / data_sets;
  }
  std::vector<Temperature> result;
  for (const std::string& name : model.groups) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    names.push_back(name);
    const std::vector<double>& all = values[name];
    double mean = 0, square = 0;
    for (const double v : all) mean += v / double(all.size());
    for (const double v : all) square += (v - mean) * (v - mean);
    result.push_back(
        {name, mean, std::sqrt(square / double(all.size() - 1) / double(all.size())), thermometer[name]});
  }
  return result;
}

}  // namespace smile::test
