// SPDX-License-Identifier: Apache-2.0
#include "experiment/laplace_of.hpp"

#include "smile/error.hpp"

namespace smile::experiment {
namespace {

LaplaceOptions options_of(const Experiment& e) {
  LaplaceOptions options = e.config.training.sampler.laplace;
  options.temperature = e.config.training.sampler.step.temperature;
  return options;
}

}  // namespace

LaplacePosterior laplace_around(const Experiment& e, const HostVector<float>& member) {
  return LaplacePosterior(*e.network, e.config.task(), member, *e.prior,
                          e.frozen ? e.frozen->places() : std::vector<std::uint32_t>(), options_of(e),
                          e.valid.targets);
}

void require_laplace(const Experiment& e) {
  const LaplaceOptions options = options_of(e);
  const std::string problem = laplace_problem(*e.network, e.config.task(), options, e.dimension());
  if (!problem.empty())
    throw Error(e.config.place("training.sampler.laplace_form"),
                "`" + std::string(name_of(options.form)) + "`: " + problem,
                "take another of full, kronecker, diagonal and last_layer, or another sampler");
  if (options.prior == LaplacePrior::validation && e.valid.rows == 0)
    throw Error(e.config.place("training.sampler.laplace_prior"),
                "`validation`: there are no validation rows to choose the prior by",
                "write marginal_likelihood, or give data.valid_split rows");
}

}  // namespace smile::experiment
