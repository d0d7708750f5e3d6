// SPDX-License-Identifier: Apache-2.0
#include "experiment/posterior_checks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "experiment/walk.hpp"
#include "smile/ensemble/parallel.hpp"

namespace smile::experiment {
namespace {

/// Of one chain, sums over the draws looked at.
struct ChainSums {
  std::vector<std::vector<double>> heat;  ///< −(θ − c)·∇L, by window and tensor
  std::vector<std::size_t> looked_at;     ///< draws, by window
  std::vector<double> square;             ///< (θ − prior's centre)²/prior's variance, by parameter
  std::vector<float> largest;             ///< |∇ log-likelihood|, by parameter
  double likelihood_gradient2 = 0;        ///< Σ over parameters and draws
  std::size_t draws = 0;
};

/// Centre and standard deviation of the prior of each parameter; sd 0 where it is no normal.
struct PriorOfParameters {
  explicit PriorOfParameters(const Prior& prior) : centre(prior.dimension()), sd(prior.dimension()) {
    for (const PriorSection& section : prior.sections())
      for (std::size_t i = section.offset; i < section.offset + section.size; ++i) {
        centre[i] = section.loc;
        sd[i] = section.family == PriorFamily::normal ? section.scale : 0;
      }
  }
  std::vector<double> centre, sd;
};

std::vector<double> mean_of(const ChainDraws& chain, std::size_t draws, std::size_t dimension) {
  std::vector<double> mean(dimension);
  std::vector<float> draw(dimension);
  for (std::size_t i = 0; i < draws; ++i) {
    chain.read(i, draw);
    for (std::size_t j = 0; j < dimension; ++j) mean[j] += double(draw[j]);
  }
  for (double& m : mean) m /= double(draws);
  return mean;
}

ChainSums sums_of(const Experiment& e, const ChainDraws& chain, Likelihood<float>& likelihood,
                  const DensityPlan& plan, const TrainingSample& sample, const PriorOfParameters& prior) {
  const std::size_t d = e.dimension();
  ChainSums sums;
  sums.heat.assign(kWalkWindows, std::vector<double>(e.layout.groups.size()));
  sums.looked_at.resize(kWalkWindows);
  sums.square.resize(d);
  sums.largest.resize(d);
  const std::vector<double> centre = mean_of(chain, plan.draws, d);
  HostVector<float> position(d), gradient(d);
  for (std::size_t i = 0; i < plan.draws; i += plan.every) {
    if (plan.stop && plan.stop->load()) return sums;
    chain.read(i, position.span());
    likelihood.log_likelihood_and_gradient(sample.rows, position, gradient);
    for (std::size_t j = 0; j < d; ++j) {
      sums.largest[j] = std::max(sums.largest[j], std::fabs(gradient[j]));
      sums.likelihood_gradient2 += double(gradient[j]) * double(gradient[j]);
      if (prior.sd[j] > 0) {
        const double z = (double(position[j]) - prior.centre[j]) / prior.sd[j];
        sums.square[j] += z * z;
      }
    }
    e.prior->log_density_and_gradient(position.span(), sample.scale, gradient.span());
    const std::size_t window = i * kWalkWindows / plan.draws;
    ++sums.looked_at[window];
    for (std::size_t g = 0; g < e.layout.groups.size(); ++g) {
      const ParameterGroup& group = e.layout.groups[g];
      for (std::size_t j = group.offset; j < group.offset + group.size(); ++j)
        sums.heat[window][g] -= (double(position[j]) - centre[j]) * double(gradient[j]);
    }
    ++sums.draws;
  }
  return sums;
}

std::vector<LayerTemperature> layers_of(const ParameterLayout& layout, const std::vector<ChainSums>& chains) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t g = 0; g < layout.groups.size(); ++g) {
    const std::string layer(layer_of(layout.groups[g]));
    if (groups[layer].empty()) order.push_back(layer);
    groups[layer].push_back(g);
  }
  std::vector<LayerTemperature> out;
  for (const std::string& layer : order) {
    std::size_t parameters = 0;
    for (const std::size_t g : groups[layer]) parameters += layout.groups[g].size();
    std::vector<double> values;
    std::vector<double> heats(kWalkWindows), looked_at(kWalkWindows);
    for (const ChainSums& chain : chains) {
      double heat = 0;
      for (std::size_t w = 0; w < kWalkWindows; ++w) {
        double of_window = 0;
        for (const std::size_t g : groups[layer]) of_window += chain.heat[w][g];
        heats[w] += of_window, looked_at[w] += double(chain.looked_at[w]);
        heat += of_window;
      }
      values.push_back(heat / double(chain.draws) / double(parameters));
    }
    LayerTemperature temperature{layer, 0};
    for (std::size_t w = 0; w < kWalkWindows; ++w)
      temperature.windows.push_back(heats[w] / looked_at[w] / double(parameters));
    const double n = double(values.size());
    for (const double v : values) temperature.value += v / n;
    double square = 0;
    for (const double v : values) square += (v - temperature.value) * (v - temperature.value);
    if (values.size() > 1) temperature.standard_error = std::sqrt(square / (n - 1) / n);
    out.push_back(temperature);
  }
  return out;
}

}  // namespace

std::optional<PosteriorChecks> check_posterior(const Experiment& e, std::span<const ChainDraws> chains,
                                               const DensityPlan& plan, const std::filesystem::path& run) {
  const TrainingSample sample = sample_training_rows(e, plan.rows);
  const PriorOfParameters prior(*e.prior);
  std::vector<HostVector<float>> members;
  if (e.frozen) members = read_members(run, e.chains(), e.member_dimension());
  std::vector<ChainSums> sums(chains.size());
  std::atomic<std::size_t> done = 0;
  ensemble::parallel_for(
      chains.size(), plan.threads,
      [&](std::size_t c) {
        if (plan.stop && plan.stop->load()) return;
        const auto likelihood =
            e.frozen ? make_likelihood(e, members[chains[c].chain]) : e.network->likelihood(Part::train);
        sums[c] = sums_of(e, chains[c], *likelihood, plan, sample, prior);
        ++done;
      },
      [&](bool) {
        if (plan.on_draw) plan.on_draw(done);
      });
  if (plan.stop && plan.stop->load()) return std::nullopt;
  // Without noise (sgld at T = 0) there is no posterior to compare with: the values stay as they are.
  const double wanted = e.config.training.sampler.step.temperature, temperature = wanted > 0 ? wanted : 1;
  PosteriorChecks out;
  out.layers = layers_of(e.layout, sums);
  // 1 is right at any temperature of the posterior that was sampled.
  for (LayerTemperature& layer : out.layers) {
    layer.value /= temperature, layer.standard_error /= temperature;
    for (double& window : layer.windows) window /= temperature;
  }
  const std::size_t d = e.dimension();
  double gradient2 = 0, draws = 0;
  for (const ChainSums& chain : sums) gradient2 += chain.likelihood_gradient2, draws += double(chain.draws);
  const double flat = 1e-3 * std::sqrt(gradient2 / draws / double(d));
  double spread = 0, known = 0;
  for (std::size_t j = 0; j < d; ++j) {
    bool is_flat = true;
    for (const ChainSums& chain : sums) is_flat = is_flat && double(chain.largest[j]) <= flat;
    if (!is_flat) continue;
    ++out.prior_only;
    if (!(prior.sd[j] > 0)) continue;
    for (const ChainSums& chain : sums) spread += chain.square[j], known += double(chain.draws);
  }
  if (known > 0) out.prior_only_spread = spread / known;
  return out;
}

}  // namespace smile::experiment
