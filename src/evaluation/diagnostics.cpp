// SPDX-License-Identifier: Apache-2.0
#include "smile/evaluation/diagnostics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "smile/random/stream.hpp"
#include "smile/statistics/summaries.hpp"

namespace smile {

std::vector<std::size_t> choose_parameters(std::size_t dimension, std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> chosen;
  if (count >= dimension) {
    chosen.resize(dimension);
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    return chosen;
  }
  // Floyd's method: `count` numbers without a table of the dimension, which may be tens of millions.
  Stream stream({seed, 0, Purpose::diagnostics});
  std::unordered_set<std::size_t> taken;
  for (std::size_t bound = dimension - count; bound < dimension; ++bound) {
    const std::size_t pick = stream.below(static_cast<std::uint32_t>(bound + 1));
    if (!taken.insert(pick).second) taken.insert(bound);
  }
  chosen.assign(taken.begin(), taken.end());
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

QuantityDiagnostics diagnose(std::string name, std::span<const double> values, std::size_t chains,
                             std::size_t parts) {
  QuantityDiagnostics out;
  out.name = std::move(name);
  out.convergence = convergence(values, chains);
  out.chainwise = chainwise_rhat_of_each(values, chains, parts);
  out.variance = between_within_variance(values, chains);
  RunningMoments moments;
  for (double v : values) moments.add(v);
  out.mean = moments.mean();
  out.sd = std::sqrt(moments.sample_variance());
  return out;
}

Spread spread_of(std::vector<double> values) {
  Spread out;
  const std::size_t all = values.size();
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  out.count = values.size();
  out.missing = all - out.count;
  std::sort(values.begin(), values.end());
  out.min = quantile_of_sorted(values, 0);
  out.lower = quantile_of_sorted(values, 0.05);
  out.median = quantile_of_sorted(values, 0.5);
  out.upper = quantile_of_sorted(values, 0.95);
  out.max = quantile_of_sorted(values, 1);
  return out;
}

DiagnosticsSummary summarise(std::span<const QuantityDiagnostics> quantities) {
  DiagnosticsSummary out;
  out.quantities = quantities.size();
  std::vector<double> rhat, bulk, tail, chainwise;
  std::vector<std::vector<double>> of_chain;
  for (const QuantityDiagnostics& q : quantities) {
    const bool constant = q.convergence.condition == DrawsCondition::constant;
    out.constant += constant;
    out.with_nan += q.convergence.condition == DrawsCondition::nan_draw;
    out.with_infinite += q.convergence.condition == DrawsCondition::infinite_draw;
    out.with_still_chain += q.convergence.condition == DrawsCondition::still_chain;
    rhat.push_back(q.convergence.rhat);
    bulk.push_back(q.convergence.ess_bulk);
    tail.push_back(q.convergence.ess_tail);
    of_chain.resize(std::max(of_chain.size(), q.chainwise.size()));
    out.chain_still.resize(of_chain.size());
    for (std::size_t k = 0; k < q.chainwise.size(); ++k) {
      chainwise.push_back(q.chainwise[k].rhat);
      of_chain[k].push_back(q.chainwise[k].rhat);
      out.chain_still[k] += !constant && q.chainwise[k].condition == DrawsCondition::constant;
    }
  }
  out.rhat = spread_of(std::move(rhat));
  out.ess_bulk = spread_of(std::move(bulk));
  out.ess_tail = spread_of(std::move(tail));
  out.chainwise_rhat = spread_of(std::move(chainwise));
  for (auto& values : of_chain) out.chain_median_rhat.push_back(spread_of(std::move(values)).median);
  return out;
}

}  // namespace smile
