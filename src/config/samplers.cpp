// SPDX-License-Identifier: Apache-2.0
#include "smile/config/samplers.hpp"

#include <algorithm>

#include "smile/error.hpp"

namespace smile {
namespace {

/// The default sampler: one gradient a step, batches whose order undoes itself, and isotropic noise, so that
/// directions without batch noise move (spec 06, 6.3). What its guardrail refuses is a safety net, not part
/// of the method.
const std::vector<SamplerDefault> kTurning{{"integrator", "position-verlet"},
                                           {"energy", "midpoint"},
                                           {"batches", "reversed"},
                                           {"decoherence_length", "auto"},
                                           {"smile_tuning.reset_prob", "0.999", true}};
/// And the scale of its preconditioner: a reference that heavy tails do not move, frozen while it samples.
std::vector<SamplerDefault> turning_and_preconditioned() {
  std::vector<SamplerDefault> all = kTurning;
  all.push_back({"preconditioner_reference", "half"});
  all.push_back({"preconditioner_freeze", "0.9"});
  return all;
}

/// A step is a transition of many gradients.
std::vector<SamplerDefault> adjusted(std::string_view acceptance) {
  return {{"target_acceptance", acceptance},
          {"warmup_steps", "1000"},
          {"n_samples", "1000"},
          {"n_thinning", "1"}};
}

std::deque<SamplerRow>& rows() {
  using enum Dynamics;
  static std::deque<SamplerRow> table{
      {.name = "psmile-auto",
       .doc = "preconditioned; the step size follows from the turning angle",
       .dynamics = microcanonical,
       .preconditioned = true,
       .rule = StepSizeRule::turn,
       .fixed_step = "psmile-naive",
       .vectors = 18,
       .defaults = turning_and_preconditioned()},
      {.name = "psmile",
       .aliases = {"noisysmile"},
       .doc = "preconditioned; the paper's energy-error tuner and guardrail",
       .dynamics = microcanonical,
       .preconditioned = true,
       .vectors = 18},
      {.name = "psmile-naive",
       .doc = "preconditioned; fixed step size, no guardrail",
       .dynamics = microcanonical,
       .preconditioned = true,
       .bundled = true,
       .rule = StepSizeRule::fixed,
       .guardrail = false,
       .vectors = 18},
      {.name = "smile-auto",
       .doc = "as psmile-auto, without preconditioner",
       .dynamics = microcanonical,
       .rule = StepSizeRule::turn,
       .fixed_step = "smile-naive",
       .defaults = kTurning},
      {.name = "smile",
       .aliases = {"smilet"},
       .doc = "as psmile, without preconditioner",
       .dynamics = microcanonical},
      {.name = "smile-naive",
       .aliases = {"smiley"},
       .doc = "mini-batch microcanonical dynamics as it is: fixed step size, no guardrail",
       .dynamics = microcanonical,
       .bundled = true,
       .rule = StepSizeRule::fixed,
       .guardrail = false},
      {.name = "mclmc",
       .aliases = {"mile"},
       .doc = "full-batch microcanonical Langevin dynamics, tuned as in MILE",
       .dynamics = mclmc,
       .stochastic = false,
       .bundled = true,
       .vectors = 22},
      {.name = "sgld",
       .doc = "stochastic gradient Langevin dynamics",
       .dynamics = langevin,
       .bundled = true,
       .unit = StepUnit::rate_over_rows,
       .keys = {"temperature"}},
      {.name = "psgld",
       .doc = "RMSprop-preconditioned SGLD (Li et al. 2016); biased unless psgld_alpha is near 1",
       .dynamics = langevin,
       .bundled = true,
       .unit = StepUnit::rate_over_rows,
       .keys = {"temperature", "psgld_alpha", "psgld_lambda"}},
      {.name = "csgld",
       .doc = "SGLD with a cyclic cosine schedule (Zhang et al. 2020)",
       .dynamics = langevin,
       .bundled = true,
       .cyclic = true,
       .fixed_step = "sgld",
       .keys = {"temperature", "explore_without_noise"}},
      {.name = "sghmc",
       .doc = "stochastic gradient Hamiltonian Monte Carlo (Chen et al. 2014)",
       .dynamics = sghmc,
       .bundled = true,
       .unit = StepUnit::rate_over_rows,
       .keys = {"temperature", "mdecay", "momentum_resampling", "beta_hat", "sghmc_step"}},
      {.name = "adasghmc",
       .doc = "scale-adapted SGHMC (Springenberg et al. 2016)",
       .dynamics = scale_adapted,
       .vectors = 24,
       .keys = {"mdecay"}},
      {.name = "rmsprop-sghmc",
       .aliases = {"rmsprop"},
       .doc = "scale-adapted SGHMC with an RMSprop scale",
       .dynamics = scale_adapted,
       .vectors = 24,
       .keys = {"mdecay", "running_avg_factor"}},
      {.name = "sgnht",
       .doc = "stochastic gradient Nosé-Hoover thermostat (Ding et al. 2014)",
       .dynamics = sgnht,
       .unit = StepUnit::root_rate_over_rows,
       .keys = {"temperature", "sgnht_diffusion"}},
      {.name = "hmc",
       .doc = "full-batch Hamiltonian Monte Carlo with trajectories of one length",
       .dynamics = hmc,
       .stochastic = false,
       .vectors = 16,
       .keys = {"trajectory_length"},
       .defaults = adjusted("0.8")},
      {.name = "nuts",
       .doc = "full-batch no-U-turn sampler, adapted as in Stan",
       .dynamics = nuts,
       .stochastic = false,
       .vectors = 80,
       .keys = {"max_tree_depth"},
       .defaults = adjusted("0.8")},
      {.name = "mams",
       .doc = "full-batch Metropolis-adjusted microcanonical sampler (Robnik et al. 2025)",
       .dynamics = mams,
       .stochastic = false,
       .vectors = 24,
       .defaults = adjusted("0.9")},
      {.name = "ivon",
       .doc = "draws of the Gaussian with independent entries that IVON finds (Shen et al. 2024)",
       .dynamics = ivon,
       .vectors = 14,
       .keys = {"ivon_beta1", "ivon_beta2", "ivon_hessian_start", "ivon_clip_radius"},
       .defaults =
           {{"step_size", "0.03"}, {"warmup_steps", "20000"}, {"n_samples", "1000"}, {"n_thinning", "1"}}},
      {.name = "laplace",
       .doc = "draws of the Gaussian with the curvature at each member (Laplace approximation)",
       .dynamics = laplace,
       .stochastic = false,
       .vectors = 8,
       .keys = {"laplace_form", "laplace_prior"},
       .defaults = {{"n_samples", "1000"}, {"n_thinning", "1"}}},
      {.name = "sgdmom", .doc = "stochastic gradient descent with momentum", .available = false},
  };
  return table;
}

}  // namespace

bool SamplerRow::has_key(std::string_view key) const {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}
bool SamplerRow::is_called(std::string_view other) const {
  return name == other || std::find(aliases.begin(), aliases.end(), other) != aliases.end();
}

const std::deque<SamplerRow>& sampler_rows() {
  return rows();
}

const SamplerRow& sampler_row(std::string_view name) {
  for (const SamplerRow& row : rows())
    if (row.is_called(name)) return row;
  throw Error("training.sampler.name", "`" + std::string(name) + "` is not known",
              "use one of " + sampler_names([](const SamplerRow&) { return true; }));
}

void add_sampler(SamplerRow row) {
  for (const SamplerRow& known : rows())
    if (known.is_called(row.name))
      throw Error("sampler", "there is a sampler `" + std::string(row.name) + "` already",
                  "give it another name");
  rows().push_back(std::move(row));
}

}  // namespace smile
