/// Stochastic gradient Barker dynamics: a step of Gaussian size in every coordinate, whose sign follows the
/// gradient.
///     θ_i ← θ_i + b_i z_i,   z_i = sqrt(2ε) n_i,   P(b_i = 1) = 1/(1 + exp(−z_i g_i / T)),   b_i = −1 else
/// @source Mauri, Zanella 2024
#pragma once

#include <cmath>

#include "smile/samplers/gradient_step.hpp"

template <class Vector>
class BarkerSampler final : public smile::GradientStepSampler<Vector> {
  using Frame = smile::GradientStepSampler<Vector>;
  using typename Frame::Moment;

 public:
  BarkerSampler(const smile::GradientStepOptions& options, const smile::SamplingPlan& plan)
      : Frame(options, plan), temperature_(options.temperature) {}

  void start(const Vector& position, smile::Target<Vector>&, smile::NormalSource<Vector>&) override {
    this->place(position);
    coins_ = Vector(position.size());
  }
  void serialise(smile::Archive& archive) override {
    archive.vector(this->position_), archive.value(this->log_density_);
    if (!archive.reading()) return;
    this->allocate();
    coins_ = Vector(this->position_.size());
  }

 private:
  void prepare(smile::NormalSource<Vector>& normals, const Moment& now) override {
    normals.normals(coins_, smile::Purpose::momentum, now.t);
  }
  smile::Mask<Vector> propose(const Moment& now) override {
    const double size = std::sqrt(2 * now.step_size);
    for (std::size_t i = 0; i < coins_.size(); ++i) {
      const double z = size * double(this->normals_[i]);
      const double upwards = 1 / (1 + std::exp(-z * double(this->gradient_[i]) / temperature_));
      const double uniform = 0.5 * std::erfc(-double(coins_[i]) / std::sqrt(2.0));
      this->proposal_[i] += typename Vector::value_type(uniform < upwards ? z : -z);
    }
    return true;
  }
  void keep(const smile::Mask<Vector>&, const Moment&) override {}

  double temperature_;
  Vector coins_;  ///< standard normals, whose quantiles are uniform
};
