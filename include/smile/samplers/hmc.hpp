// SPDX-License-Identifier: Apache-2.0
/// Hamiltonian Monte Carlo with trajectories of one length: `hmc`.
/// @source Duane et al. 1987; Neal 2011
#pragma once

#include <algorithm>
#include <cmath>

#include "smile/samplers/hamiltonian.hpp"

namespace smile {

/// p ~ N(0, 1/v); max(1, round(length/ε)) leapfrog steps from (θ, p) to (θ', p'), which is accepted with
/// probability min(1, exp(H(θ, p) − H(θ', p'))).
template <class Vector>
class HmcSampler final : public HamiltonianSampler<Vector> {
  using Frame = HamiltonianSampler<Vector>;
  using typename Frame::Point;
  using typename Frame::Transition;

 public:
  HmcSampler(const AdjustedOptions& options, const SamplingPlan& plan) : Frame(options, plan) {}

 private:
  static constexpr double kMostSteps = 1024;  // of a trajectory, while the step size is still tiny

  Transition transition(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t,
                        double step_size) override {
    Point z = this->depart(normals, Purpose::momentum, t);
    const double before = this->energy(z);
    const double steps = std::round(this->options_.trajectory_length / step_size);
    Transition done;
    for (int left = int(std::clamp(steps, 1.0, kMostSteps)); left > 0 && !done.diverged; --left) {
      this->leapfrog(z, step_size, target, t);
      done.energy_change = this->energy(z) - before;
      done.diverged = done.energy_change > kDivergence;
    }
    done.acceptance = std::min(1.0, std::exp(-done.energy_change));
    done.moved = normals.uniform(Purpose::transition, t) < done.acceptance;
    if (done.moved) this->state_ = std::move(z);
    return done;
  }
};

extern template class HmcSampler<HostVector<float>>;
extern template class HmcSampler<HostVector<double>>;

}  // namespace smile
