// SPDX-License-Identifier: Apache-2.0
#include "experiment/walk.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "evaluation/row_predictive.hpp"
#include "smile/ensemble/parallel.hpp"
#include "smile/statistics/summaries.hpp"

namespace smile::experiment {
namespace {

constexpr std::size_t kMostRows = 4096;  ///< of the validation rows

/// Draws of one window, or members: their mixture's log-density of each row.
struct Mixture {
  explicit Mixture(std::size_t rows) : sums(rows) {}
  void add(RowPredictive& reader, std::span<const float> outputs, std::span<const float> position,
           const std::vector<double>& targets, std::size_t every) {
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i].add(reader.log_density(outputs, i * every, position, targets[i * every]));
    ++count;
  }
  void add(const Mixture& other) {
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (other.count > 0) sums[i].add(other.sums[i].value());
    count += other.count;
  }
  double of_row(std::size_t i) const { return sums[i].value() - std::log(double(count)); }
  double mean() const {
    double sum = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) sum += of_row(i);
    return sum / double(sums.size());
  }

  std::vector<LogSumExp> sums;
  std::size_t count = 0;
};

/// Sums over the draws of one chain, by window.
struct OfChain {
  explicit OfChain(std::size_t rows) : windows(kWalkWindows, Mixture(rows)) {}
  std::vector<Mixture> windows;
  std::array<double, kWalkWindows> distance{}, norm2{};
};

void compare(WalkWindow& window, const Mixture& draws, const Mixture& members) {
  const std::size_t n = draws.sums.size();
  window.validation_lppd = draws.mean();
  double sum = 0, square = 0;
  for (std::size_t i = 0; i < n; ++i) sum += draws.of_row(i) - members.of_row(i);
  window.gain = sum / double(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double off = draws.of_row(i) - members.of_row(i) - window.gain;
    square += off * off;
  }
  if (n > 1) window.gain_error = std::sqrt(square / double(n - 1) / double(n));
}

}  // namespace

std::optional<Walk> walk_of(const Experiment& e, std::span<const ChainDraws> chains, std::size_t draws,
                            std::size_t most, std::size_t threads, const std::atomic<bool>* stop,
                            const std::filesystem::path& run) {
  Walk walk;
  const std::vector<double>& targets = e.valid.targets;
  if (targets.empty() || draws < kWalkWindows) return walk;
  const std::vector<HostVector<float>> members = read_members(run, e.chains(), e.member_dimension());
  RowPredictive reader(e.config.task(), e.outputs());

  // Evenly: the memory of many windows does not grow with the rows.
  const std::size_t every_row = (targets.size() + kMostRows - 1) / kMostRows,
                    rows = (targets.size() - 1) / every_row + 1;
  Mixture of_members(rows);
  const auto predictor = e.network->predictor();
  std::vector<float> outputs(targets.size() * e.outputs());
  for (const ChainDraws& chain : chains) {
    predictor->predict(Part::valid, members[chain.chain], outputs);
    of_members.add(reader, outputs, members[chain.chain].span(), targets, every_row);
  }
  walk.members_lppd = of_members.mean();

  const std::size_t every = std::max<std::size_t>(1, draws / most), looked_at = (draws + every - 1) / every;
  const auto window_of = [&](std::size_t i) { return i * kWalkWindows / looked_at; };
  const CompleteDraw complete = complete_draws(e, *e.network, run);
  std::vector<OfChain> of_chains(chains.size(), OfChain(rows));
  ensemble::parallel_for(chains.size(), threads, [&](std::size_t c) {
    const auto network = e.network->predictor();
    const auto start = members[chains[c].chain].span();
    RowPredictive read(e.config.task(), e.outputs());
    std::vector<float> predicted(targets.size() * e.outputs());
    for (std::size_t i = 0; i < looked_at && !(stop && stop->load()); ++i) {
      HostVector<float> position(e.dimension());
      chains[c].read(i * every, position.span());
      if (complete) complete(chains[c].chain, position);
      network->predict(Part::valid, position, predicted);
      OfChain& sums = of_chains[c];
      sums.windows[window_of(i)].add(read, predicted, position.span(), targets, every_row);
      double distance2 = 0, norm2 = 0;
      for (std::size_t j = 0; j < position.size(); ++j) {
        const double off = double(position[j]) - double(start[j]);
        distance2 += off * off, norm2 += double(position[j]) * double(position[j]);
      }
      sums.distance[window_of(i)] += std::sqrt(distance2 / double(position.size()));
      sums.norm2[window_of(i)] += norm2 / double(position.size());
    }
  });
  if (stop && stop->load()) return std::nullopt;

  walk.windows.resize(kWalkWindows);
  for (std::size_t i = 0; i < looked_at; ++i) {
    WalkWindow& window = walk.windows[window_of(i)];
    if (i == 0 || window_of(i - 1) != window_of(i)) window.first_draw = i * every;
    window.last_draw = std::min(draws, (i + 1) * every) - 1;
  }
  for (std::size_t w = 0; w < kWalkWindows; ++w) {
    Mixture all(rows);
    for (const OfChain& chain : of_chains) {
      all.add(chain.windows[w]);
      walk.windows[w].distance += chain.distance[w], walk.windows[w].norm2_per_dim += chain.norm2[w];
    }
    walk.windows[w].distance /= double(all.count), walk.windows[w].norm2_per_dim /= double(all.count);
    compare(walk.windows[w], all, of_members);
  }
  return walk;
}

}  // namespace smile::experiment
