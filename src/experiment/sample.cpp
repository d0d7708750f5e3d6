// SPDX-License-Identifier: Apache-2.0
/// The sampling phase: from members to draws.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "experiment/experiment.hpp"
#include "experiment/laplace_of.hpp"
#include "run/provenance.hpp"
#include "smile/ensemble/ensemble_runner.hpp"
#include "smile/error.hpp"
#include "smile/laplace/laplace_sampler.hpp"
#include "smile/targets/tempered.hpp"

namespace smile::experiment {

std::string digest_of(const Experiment& e) {
  return fmt::format("{}data checksum: {}\n", to_yaml_without_places(e.config), e.info.checksum);
}

namespace {

/// ivon takes the widest Normal with mean 0 that is a factor of the prior.
SamplerConfig with_prior(SamplerConfig sampler, const Prior& prior) {
  if (const auto normals = prior.normals())
    sampler.ivon.prior_precision =
        *std::min_element(normals->precision.begin(), normals->precision.end()) / sampler.step.temperature;
  return sampler;
}

}  // namespace

ChainSetup chain_setup(const Experiment& e, std::uint32_t chain, const HostVector<float>& member) {
  ChainSetup setup;
  const SamplerConfig& sampler = e.config.training.sampler;
  const bool on_host = !e.engine() || sampler.row().on_host();
  if (auto on_device = !on_host ? e.engine()->device_chain(e.config, *e.network, e.frozen.get(), member,
                                                           e.prior, e.lengths, chain)
                                : std::nullopt) {
    setup = std::move(*on_device);
  } else {
    setup.target = make_target(e, chain, member);
    if (sampler.row().dynamics == Dynamics::laplace)
      setup.sampler = std::make_unique<LaplaceSampler>([&e, member] { return laplace_around(e, member); },
                                                       e.lengths.plan.sampling_steps);
    else
      setup.sampler = make_sampler(with_prior(sampler, *e.prior), e.lengths.plan, e.observations());
  }
  if (e.frozen)
    e.frozen->take(member, setup.start);
  else
    setup.start = member;
  setup.returns_after_warmup = !sampler.use_warmup_as_init;
  std::shared_ptr<Likelihood<float>> network = make_likelihood(e, member);
  setup.training_log_likelihood = [network](const ChainVector& position) {
    return network->log_likelihood({}, position);
  };
  return setup;
}

EnsembleOptions ensemble_options(const Experiment& e, const RunDirectory& directory,
                                 const RunOptions& options) {
  const SamplerConfig& sampler = e.config.training.sampler;
  EnsembleOptions ensemble;
  ensemble.directory = directory.path();
  ensemble.seed = e.seed();
  ensemble.thinning = e.lengths.thinning;
  ensemble.draws.type = sampler.draws_dtype;
  ensemble.keep_warmup = sampler.keep_warmup;
  ensemble.max_nonfinite_fraction = sampler.max_nonfinite_fraction;
  ensemble.threads = thread_count(e, options, e.chains());
  ensemble.checkpoint_seconds = options.checkpoint_seconds;
  ensemble.resume = options.resume;
  ensemble.digest = digest_of(e);
  ensemble.build = provenance::build();
  ensemble.stop = options.stop;
  ensemble.on_progress = options.on_progress;
  ensemble.on_message = [&options, &directory](const std::string& text) { remark(options, directory, text); };
  return ensemble;
}

bool sample(const Experiment& e, const RunDirectory& directory, const RunOptions& options,
            const WarmStart& start) {
  EnsembleOptions ensemble = ensemble_options(e, directory, options);
  ensemble.chains.resize(e.chains());
  std::iota(ensemble.chains.begin(), ensemble.chains.end(), 0u);
  const auto records = run_ensemble(
      ensemble, [&](std::uint32_t chain) { return chain_setup(e, chain, start.members[chain]); });
  bool ended = true;
  for (const ChainRecord& record : records) {
    if (record.status == ChainStatus::running) ended = false;
    if (record.status == ChainStatus::failed)
      directory.log(fmt::format("chain {} failed: {}", record.chain, record.reason));
  }
  return ended;
}

}  // namespace smile::experiment
