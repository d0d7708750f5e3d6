#include "experiment/log_densities.hpp"

#include <algorithm>

#include "ensemble/parallel.hpp"

namespace smile::experiment {

LogDensities log_densities(const Experiment& e, std::span<const ChainDraws> chains, std::size_t count,
                           std::size_t every, std::size_t threads, const CompleteDraw& complete) {
  LogDensities out;
  out.draws = (count + every - 1) / every;
  out.log_prior.resize(chains.size() * out.draws);
  out.log_likelihood.resize(out.log_prior.size());
  // A job is a run of draws that is worth making a network's workspace for.
  constexpr std::size_t kJobDraws = 256;
  const std::size_t total = out.log_prior.size();
  ensemble::parallel_for((total + kJobDraws - 1) / kJobDraws, threads, [&](std::size_t job) {
    const auto network = e.network->likelihood(Part::train);
    HostVector<float> position(e.dimension());
    for (std::size_t i = job * kJobDraws; i < std::min(total, (job + 1) * kJobDraws); ++i) {
      if (position.size() != e.dimension()) position.resize(e.dimension());
      const ChainDraws& chain = chains[i / out.draws];
      chain.read(i % out.draws * every, position.span());
      out.log_prior[i] = e.prior->log_density(position.span());
      if (complete) complete(chain.chain, position);
      out.log_likelihood[i] = network->log_likelihood({}, position);
    }
  });
  return out;
}

}  // namespace smile::experiment
