// SPDX-License-Identifier: Apache-2.0
// A sampler over an analytical density, and the moments of θ² that its steps leave. One text for a HostVector
// and for bundles. The including file has to have included the vector type first.
#pragma once

#include <algorithm>
#include <type_traits>

#include "smile/ensemble/chain_loop.hpp"
#include "smile/ensemble/lane_chains.hpp"
#include "smile/targets/analytical_target.hpp"

namespace smile::lanes {

/// The sampler of the options, as a value.
template <class Vector>
struct SamplerFor {
  using Scalar = typename Vector::Scalar;
  static MicrocanonicalSampler<Vector> make(const MicrocanonicalOptions& options, const SamplingPlan& plan,
                                            const Scalar& step, const Scalar& length) {
    MicrocanonicalSampler<Vector> sampler(options, plan);
    sampler.fix(step, length);
    return sampler;
  }
  static LangevinSampler<Vector> make(const LangevinOptions& options, const SamplingPlan& plan,
                                      const Scalar& step, const Scalar&) {
    LangevinSampler<Vector> sampler(options, plan);
    sampler.fix(step);
    return sampler;
  }
  static SghmcSampler<Vector> make(const SghmcOptions& options, const SamplingPlan& plan, const Scalar& step,
                                   const Scalar&) {
    SghmcSampler<Vector> sampler(options, plan);
    sampler.fix(step);
    return sampler;
  }
};

/// Sums over the steps of all chains of a vector. `Entries` reads one chain's number out of a Scalar.
template <class Vector, class Entries>
class Moments {
 public:
  using Scalar = typename Vector::Scalar;
  Moments(const LaneExperiment& experiment, std::size_t chains)
      : experiment_(experiment),
        dimension_(experiment.density->dimension()),
        block_(dimension_),
        square_(dimension_),
        fourth_(dimension_),
        results_(chains) {
    for (LaneChainResult& result : results_) {
      result.mean_square.assign(dimension_, 0.0);
      result.mean_fourth.assign(dimension_, 0.0);
      result.block_means.assign(dimension_ * experiment.blocks, 0.0);
    }
  }

  void add(const Vector& x) {
    for (std::size_t j = 0; j < dimension_; ++j) {
      const Scalar q = x[j] * x[j];
      block_[j] += q;
      fourth_[j] += q * q;
    }
  }
  void add_move(const Vector& from, const Vector& to) {
    using std::sqrt;
    Scalar square = Scalar(0);
    for (std::size_t j = 0; j < dimension_; ++j) square += (to[j] - from[j]) * (to[j] - from[j]);
    move_ += sqrt(square);
  }
  void record(const Vector& x) {
    for (std::size_t l = 0; l < results_.size(); ++l) {
      results_[l].recorded.push_back(float(Entries::at(x[0], l)));
      results_[l].recorded.push_back(float(Entries::at(x[1], l)));
    }
  }
  void end_block(std::uint64_t block, std::uint64_t length) {
    for (std::size_t j = 0; j < dimension_; ++j) {
      for (std::size_t l = 0; l < results_.size(); ++l)
        results_[l].block_means[j * experiment_.blocks + block] = Entries::at(block_[j], l) / double(length);
      square_[j] += block_[j];
      block_[j] = Scalar(0);
    }
  }
  /// @param failed  1 for chains that have failed, 0 for the others
  std::vector<LaneChainResult> finish(std::uint64_t steps, const Scalar& refused, const Scalar& failed) {
    for (std::size_t l = 0; l < results_.size(); ++l) {
      LaneChainResult& result = results_[l];
      result.steps = steps;
      result.refused = std::uint64_t(Entries::at(refused, l));
      result.failed = Entries::at(failed, l) > 0;
      result.mean_move = Entries::at(move_, l) / double(steps);
      for (std::size_t j = 0; j < dimension_; ++j) {
        result.mean_square[j] = Entries::at(square_[j], l) / double(steps);
        result.mean_fourth[j] = Entries::at(fourth_[j], l) / double(steps);
      }
    }
    return std::move(results_);
  }

 private:
  const LaneExperiment& experiment_;
  std::size_t dimension_;
  Vector block_, square_, fourth_;
  Scalar move_ = Scalar(0);
  std::vector<LaneChainResult> results_;
};

/// Drives the sampler of the experiment from `start`.
template <class Vector, class Entries, class Options>
std::vector<LaneChainResult> run_loop(const LaneExperiment& experiment, const Options& options,
                                      NormalSource<Vector>& normals, const Vector& start,
                                      const typename Vector::Scalar& step,
                                      const typename Vector::Scalar& length, std::size_t chains) {
  using Scalar = typename Vector::Scalar;
  AnalyticalTarget<Vector> target(*experiment.density, *experiment.noise, normals);
  auto sampler = SamplerFor<Vector>::make(options, {0, experiment.steps}, step, length);
  sampler.start(start, target, normals);
  Moments<Vector, Entries> moments(experiment, chains);
  Vector before = start;
  FailureWatch<Scalar> watch({experiment.max_nonfinite_fraction});
  Scalar refused = Scalar(0);
  const auto keep = [&](const StepReportOf<Scalar>& report, std::uint64_t t) {
    if (!all(report.accepted())) refused += select(report.accepted(), Scalar(0), Scalar(1));
    moments.add(sampler.position());
    if (experiment.record_every > 0) {
      moments.add_move(before, sampler.position());
      before = sampler.position();
      if (t % experiment.record_every == 0) moments.record(sampler.position());
    }
    return true;
  };
  std::uint64_t t = 0;
  for (std::uint64_t block = 0; block < experiment.blocks && !watch.failed(); ++block) {
    // Blocks of equal length, as nearly as whole steps allow.
    const std::uint64_t begin = t, end = experiment.steps * (block + 1) / experiment.blocks;
    run_steps(sampler, target, normals, t, end, watch, keep);
    moments.end_block(block, t - begin);
  }
  watch.conclude(t);
  return moments.finish(t, refused, select(watch.failed_chains(), Scalar(1), Scalar(0)));
}

}  // namespace smile::lanes
