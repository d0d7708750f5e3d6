// SPDX-License-Identifier: Apache-2.0
#include "experiment/laplace_of.hpp"

#include <cmath>
#include <map>
#include <string_view>

#include "smile/error.hpp"

namespace smile::experiment {
namespace {

LaplaceOptions options_of(const Experiment& e) {
  LaplaceOptions options = e.config.training.sampler.laplace;
  options.temperature = e.config.training.sampler.step.temperature;
  return options;
}

/// What is wrong with the prior, known before a member is trained; a prior of the members is not known yet.
std::string prior_problem(const Experiment& e, const LaplaceOptions& options) {
  if (!e.prior) return {};
  const auto normals = e.prior->normals();
  if (!normals)
    return options.prior == LaplacePrior::configured
               ? "the Laplace approximation needs a Normal prior's precision"
               : std::string();
  if (options.form != LaplaceForm::kronecker) return {};
  std::map<std::string_view, double> of_layer;
  for (const ParameterGroup& group : e.layout.groups)
    for (std::size_t i = group.offset; i < group.offset + group.size(); ++i) {
      const auto [known, fresh] = of_layer.emplace(layer_of(group), normals->precision[i]);
      if (!fresh && std::abs(known->second / normals->precision[i] - 1) > 1e-6)
        return "a Kronecker product takes one prior for all of a layer, and weights and biases have two";
    }
  return {};
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
  if (const std::string prior = prior_problem(e, options); !prior.empty())
    throw Error(
        e.config.place("training.sampler.prior_config.name"),
        "`" + e.config.training.sampler.prior_config.name + "`: " + prior,
        options.form == LaplaceForm::kronecker && e.prior->normals()
            ? "take another prior, or laplace_form: full, diagonal or last_layer"
            : "choose a Normal prior, or laplace_prior: `marginal_likelihood` or `validation`, which scale "
              "N(0, 1)");
  if (options.prior == LaplacePrior::validation && e.valid.rows == 0)
    throw Error(e.config.place("training.sampler.laplace_prior"),
                "`validation`: there are no validation rows to choose the prior by",
                "write marginal_likelihood, or give data.valid_split rows");
}

}  // namespace smile::experiment
