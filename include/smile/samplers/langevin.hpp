// SPDX-License-Identifier: Apache-2.0
/// Stochastic-gradient Langevin dynamics: sgld, csgld (the same with a cyclic schedule) and psgld.
/// @source Welling & Teh 2011; Zhang et al. 2020; Li et al. 2016; spec 1.9
#pragma once

#include <cmath>

#include "smile/samplers/gradient_step.hpp"

namespace smile {

struct LangevinOptions : GradientStepOptions {
  bool explore_without_noise = false;  ///< csgld: no noise in the exploration part of a cycle
  bool preconditioned = false;         ///< psgld
  double rms_decay = 0.99;             ///< α of psgld, in [0, 1)
  double rms_lambda = 1e-5;            ///< λ of psgld, > 0
  double observations = 1;             ///< N: psgld's averages use g/N
};

/// sgld:   θ ← θ + ε g + sqrt(2 ε T) n
/// psgld:  V ← α V + (1−α) ḡ², ḡ = g/N, V₀ = ḡ² of the first gradient;  G = 1/(λ + √V);
///         θ ← θ + ε G g + sqrt(2 ε T G) n
/// psgld leaves out Γ(θ) = Σ_j ∂G_ij/∂θ_j, as Li et al. do in practice, and is biased by it: as long as V
/// follows the gradient that it divides, drift and noise no longer balance. On a
/// Gaussian of variances 1, 4, 9 with full gradients the default α = 0.99 gives some 1.4, 6, 15; gradient
/// noise that outweighs the gradient, and α → 1 (0.9999 there), remove the bias.
template <class Vector>
class LangevinSampler final : public GradientStepSampler<Vector> {
  using Frame = GradientStepSampler<Vector>;
  using Frame::gradient_, Frame::log_density_, Frame::normals_, Frame::position_, Frame::proposal_;
  using typename Frame::Moment;

 public:
  using typename Frame::Scalar;
  LangevinSampler(const LangevinOptions& options, const SamplingPlan& plan)
      : Frame(options, plan), options_(options) {}

  void start(const Vector& position, Target<Vector>&, NormalSource<Vector>&) override {
    this->place(position);
    if (options_.preconditioned) variance_ = next_variance_ = Vector(position.size());
  }

  const Vector& variance() const { return variance_; }
  void serialise(Archive& archive) override {
    archive.vector(position_);
    if (options_.preconditioned) archive.vector(variance_);
    archive.value(first_), archive.value(log_density_);
    if (archive.reading()) {
      this->allocate();
      next_variance_ = variance_;
    }
  }

 private:
  Mask<Vector> propose(const Moment& now) override {
    using std::sqrt;
    const bool quiet = now.exploring && options_.explore_without_noise;
    const double temperature = quiet ? 0 : options_.temperature;
    if (options_.preconditioned) {
      next_variance_ = variance_;
      kernels::psgld_update(proposal_, next_variance_, gradient_, normals_,
                            {now.step_size, temperature, options_.rms_decay, options_.rms_lambda,
                             1 / options_.observations, first_});
    } else {
      kernels::add_scaled(proposal_, gradient_, now.step_size, normals_,
                          sqrt(2 * now.step_size * temperature));
    }
    return Mask<Vector>{true};
  }

  void keep(const Mask<Vector>& accepted, const Moment&) override {
    if (options_.preconditioned) kernels::take_where(variance_, next_variance_, accepted);
    first_ = first_ && !any(accepted);
  }

  LangevinOptions options_;
  Vector variance_, next_variance_;
  bool first_ = true;
};

// Compiled once, in src/samplers/.
extern template class LangevinSampler<HostVector<float>>;
extern template class LangevinSampler<HostVector<double>>;

}  // namespace smile
