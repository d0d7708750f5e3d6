/// The sampling phase: from members to draws.
#include <fmt/format.h>

#include <numeric>

#include "experiment/experiment.hpp"
#include "smile/ensemble/ensemble_runner.hpp"
#include "smile/error.hpp"

namespace smile::experiment {
bool sample(const Experiment& e, const RunDirectory& directory, const RunOptions& options,
            const WarmStart& start) {
  const SamplerConfig& sampler = e.config.training.sampler;
  EnsembleOptions ensemble;
  ensemble.directory = directory.path();
  ensemble.chains.resize(e.chains());
  std::iota(ensemble.chains.begin(), ensemble.chains.end(), 0u);
  ensemble.seed = e.seed();
  ensemble.thinning = e.lengths.thinning;
  ensemble.draws.type = sampler.draws_dtype;
  ensemble.keep_warmup = sampler.keep_warmup;
  ensemble.max_nonfinite_fraction = sampler.max_nonfinite_fraction;
  ensemble.threads = thread_count(e, options, e.chains());
  ensemble.checkpoint_seconds = options.checkpoint_seconds;
  ensemble.resume = options.resume;
  ensemble.digest = fmt::format("{}data checksum: {}\n", to_yaml(e.config), e.info.checksum);
  ensemble.stop = options.stop;
  ensemble.on_progress = options.on_progress;
  ensemble.on_message = [&](const std::string& text) { remark(options, directory, text); };

  const auto records = run_ensemble(ensemble, [&](std::uint32_t chain) {
    ChainSetup setup;
    if (auto on_device = e.engine()
                             ? e.engine()->device_chain(e.config, *e.network, e.frozen.get(),
                                                        start.members[chain], e.prior, e.lengths, chain)
                             : std::nullopt) {
      setup = std::move(*on_device);
    } else {
      setup.target = make_target(e, chain, start.members[chain]);
      setup.sampler = make_sampler(sampler, e.lengths.plan, e.observations());
    }
    if (e.frozen)
      e.frozen->take(start.members[chain], setup.start);
    else
      setup.start = start.members[chain];
    std::shared_ptr<Likelihood<float>> network = make_likelihood(e, start.members[chain]);
    setup.training_log_likelihood = [network](const ChainVector& position) {
      return network->log_likelihood({}, position);
    };
    return setup;
  });
  bool ended = true;
  for (const ChainRecord& record : records) {
    if (record.status == ChainStatus::running) ended = false;
    if (record.status == ChainStatus::failed)
      directory.log(fmt::format("chain {} failed: {}", record.chain, record.reason));
  }
  return ended;
}

}  // namespace smile::experiment
