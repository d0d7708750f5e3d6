// SPDX-License-Identifier: Apache-2.0
#include "experiment/log_densities.hpp"

#include <algorithm>

#include "smile/ensemble/parallel.hpp"

namespace smile::experiment {

TrainingSample sample_training_rows(const Experiment& e, std::size_t count) {
  TrainingSample sample;
  if (count == 0 || count >= e.observations()) return sample;
  BatchOrder order = e.network->batches(count, BatchMode::even, StreamKey{e.seed(), 0, Purpose::diagnostics});
  const auto chosen = order.rows(1);
  sample.rows.assign(chosen.begin(), chosen.end());
  if (!sample.rows.empty()) sample.scale = double(e.observations()) / double(sample.rows.size());
  return sample;
}

std::optional<LogDensities> log_densities(const Experiment& e, std::span<const ChainDraws> chains,
                                          const DensityPlan& plan, const CompleteDraw& complete) {
  LogDensities out;
  out.draws = (plan.draws + plan.every - 1) / plan.every;
  out.log_prior.resize(chains.size() * out.draws);
  out.log_likelihood.resize(out.log_prior.size());
  const auto [rows, scale] = sample_training_rows(e, plan.rows);
  // A job is a run of draws that is worth making a network's workspace for.
  constexpr std::size_t kJobDraws = 256;
  const std::size_t total = out.log_prior.size(),
                    job_draws = std::clamp<std::size_t>(total / plan.threads, 1, kJobDraws);
  std::atomic<std::size_t> done = 0;
  const auto stopped = [&] { return plan.stop && plan.stop->load(); };
  ensemble::parallel_for((total + job_draws - 1) / job_draws, plan.threads,
                         [&, &rows = rows, scale = scale](std::size_t job) {
                           if (stopped()) return;
                           const auto network = e.network->likelihood(Part::train);
                           HostVector<float> position(e.dimension());
                           for (std::size_t i = job * job_draws;
                                i < std::min(total, (job + 1) * job_draws) && !stopped(); ++i) {
                             if (position.size() != e.dimension()) position.resize(e.dimension());
                             const ChainDraws& chain = chains[i / out.draws];
                             chain.read(i % out.draws * plan.every, position.span());
                             out.log_prior[i] = e.prior->log_density(position.span());
                             if (complete) complete(chain.chain, position);
                             out.log_likelihood[i] = scale * network->log_likelihood(rows, position);
                             ++done;
                           }
                         },
                         [&](bool) {
                           if (plan.on_draw) plan.on_draw(done);
                         });
  if (stopped() && done < total) return std::nullopt;
  return out;
}

}  // namespace smile::experiment
