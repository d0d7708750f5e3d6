// SPDX-License-Identifier: Apache-2.0
/// The samplers that a configuration can name, a row each: what the reader, the conditions of keys, the
/// estimates, the step-size search, the analytical benchmark, `smile list` and the reference of keys know of
/// a sampler, they read here. CONTRIBUTING.md says how to add one.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smile/kernels/host_vector.hpp"
#include "smile/samplers/microcanonical.hpp"
#include "smile/samplers/sampler.hpp"

namespace smile {

struct SamplerConfig;

/// The text of an algorithm; samplers that are settings of one text share it.
enum class Dynamics {
  microcanonical,  ///< Algorithm 1 of the paper (spec 1.5–1.8, 1.13)
  mclmc,           ///< full-batch microcanonical Langevin dynamics (spec 1.10)
  langevin,        ///< sgld and its relatives (spec 1.9)
  sghmc,
  sgnht,
  scale_adapted,
  hmc,  ///< transitions of many gradients with an acceptance test (spec 06, 6.9)
  nuts,
  mams,
  ivon,  ///< independent draws of a Gaussian that is fitted (spec 06, 6.9)
  laplace,
  own,  ///< the row brings its own maker
};

/// What a step size is measured in: where a search for it begins, given the optimiser's last learning rate η
/// and N rows.
enum class StepUnit {
  rate,                 ///< η
  rate_over_rows,       ///< η/N
  root_rate_over_rows,  ///< √(η/N)
};

/// A value that a key of `training.sampler` takes with a sampler unless the file says otherwise.
struct SamplerDefault {
  std::string_view key;    ///< below `training.sampler.`
  std::string_view value;  ///< as YAML text
  bool since_0_1 = false;  ///< version 0.1 had it: `compat: 0.1` keeps it
};

struct SamplerRow {
  std::string_view name;
  std::vector<std::string_view> aliases = {};
  std::string_view doc = {};  ///< a line, as `smile list samplers` prints it
  bool available = true;      ///< false: known by name, and refused
  Dynamics dynamics = Dynamics::own;
  bool stochastic = true;       ///< moves on mini-batches; false: on all rows
  bool preconditioned = false;  ///< the gradient-noise preconditioner of spec 1.7 is on
  bool bundled = false;         ///< the analytical benchmark runs it, many chains in the lanes of a core
  bool cyclic = false;          ///< samples along a cyclic schedule
  /// Microcanonical: the only rule of its step size, and whether a guardrail watches ΔE; no rule: it takes
  /// all of them.
  std::optional<StepSizeRule> rule = {};
  bool guardrail = true;
  /// The row that is the same sampler with a fixed step size, which a search can tune; empty: this row.
  std::string_view fixed_step = {};
  StepUnit unit = StepUnit::rate;
  /// Vectors of d floats that a chain at work holds: position, velocity, gradients, scales, copies of the
  /// last state, and the bytes of a checkpoint; measured at d = 2.3 million, rounded up.
  double vectors = 14;
  /// Keys of `training.sampler` that go with it beyond those that its traits imply.
  std::vector<std::string_view> keys = {};
  /// Values of keys that go with it where the table of keys has others.
  std::vector<SamplerDefault> defaults = {};
  /// Dynamics::own: the sampler of one chain. @param observations  N, rows of the training split
  std::unique_ptr<Sampler<HostVector<float>>> (*make)(const SamplerConfig&, const SamplingPlan&,
                                                      std::size_t observations) = nullptr;

  /// Isokinetic dynamics: the velocity keeps its length, and a step is a splitting of momentum and position
  /// updates.
  bool isokinetic() const { return is_microcanonical() || dynamics == Dynamics::mclmc; }
  /// A step is a transition of many gradients, accepted or not by its energy error.
  bool adjusted() const {
    return dynamics == Dynamics::hmc || dynamics == Dynamics::nuts || dynamics == Dynamics::mams;
  }
  /// The draws are independent ones of a Gaussian that is fitted.
  bool fits_gaussian() const { return dynamics == Dynamics::ivon || dynamics == Dynamics::laplace; }
  /// Its dynamics have a temperature; for others the target is tempered.
  bool has_temperature() const { return has_key("temperature") || dynamics == Dynamics::laplace; }
  /// Its vectors are on the host, whatever computes the gradients.
  bool on_host() const { return adjusted() || fits_gaussian() || dynamics == Dynamics::mclmc; }
  bool is_microcanonical() const { return dynamics == Dynamics::microcanonical; }
  bool has_key(std::string_view key) const;
  /// Whether the name is this row's or one of its aliases.
  bool is_called(std::string_view other) const;
};

/// All rows, in the order in which they are listed.
const std::deque<SamplerRow>& sampler_rows();
/// The row of a name or alias. @throws Error that lists the names
const SamplerRow& sampler_row(std::string_view name);
/// Adds a row for the life of the program; to be called before the first configuration is read.
/// @throws Error where the name is taken
void add_sampler(SamplerRow row);
/// "`sgld`, `psgld`": names of the rows that `holds` is true for.
template <class Predicate>
std::string sampler_names(const Predicate& holds) {
  std::string text;
  for (const SamplerRow& row : sampler_rows())
    if (row.available && holds(row)) text += (text.empty() ? "" : ", ") + std::string(row.name);
  return text;
}

}  // namespace smile
