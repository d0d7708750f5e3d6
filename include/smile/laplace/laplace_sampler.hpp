// SPDX-License-Identifier: Apache-2.0
/// Draws of a Laplace approximation as a chain: `laplace`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smile/laplace/laplace.hpp"
#include "smile/samplers/sampler.hpp"

namespace smile {

/// There is no warm-up: each step is an independent draw around the member. The curvature is no part of a
/// saved chain; it is computed again.
class LaplaceSampler final : public Sampler<HostVector<float>> {
 public:
  using Vector = HostVector<float>;
  using Make = std::function<LaplacePosterior()>;

  /// @param make  the approximation around the chain's member; called once, at the first step
  LaplaceSampler(Make make, std::uint64_t steps) : make_(std::move(make)), steps_(steps) {}

  void start(const Vector& position, Target<Vector>&, NormalSource<Vector>&) override {
    position_ = position;
    normals_ = Vector(position.size());
  }
  StepReport step(Target<Vector>&, NormalSource<Vector>& normals, std::uint64_t t) override {
    if (!posterior_) posterior_.emplace(make_());
    normals.normals(normals_, Purpose::noise, t);
    posterior_->draw(normals_, position_);
    StepReport report;
    report.step_size = report.next_step_size = 0;
    return report;
  }
  const Vector& position() const override { return position_; }
  void move_to(const Vector&) override {}
  std::uint64_t warmup_steps() const override { return 0; }
  std::uint64_t total_steps() const override { return steps_; }
  std::vector<std::pair<std::string, double>> tuned() const override {
    if (!posterior_) return {};
    return {{"prior_factor", posterior_->prior_factor()},
            {"log_marginal_likelihood", posterior_->log_marginal_likelihood()}};
  }
  void serialise(Archive& archive) override {
    archive.vector(position_);
    if (archive.reading()) normals_ = Vector(position_.size());
  }

 private:
  Make make_;
  std::uint64_t steps_;
  Vector position_, normals_;
  std::optional<LaplacePosterior> posterior_;
};

}  // namespace smile
