// A density of one's own: psmile-naive on a correlated Gaussian with noisy gradients, in under 60 lines.
#include <cmath>
#include <cstdio>

#include "smile/samplers/microcanonical.hpp"

using Vector = smile::HostVector<double>;

// log p(x, y) = −½ (x² − 2ρxy + y²)/(1 − ρ²), with independent noise on the gradient as mini-batches would give.
class Gaussian : public smile::Target<Vector> {
 public:
  std::size_t dimension() const override { return 2; }
  double log_density_and_gradient(const Vector& x, Vector& gradient, std::uint64_t step) override {
    const double precision = 1 / (1 - kRho * kRho);
    smile::Stream noise({42, 0, smile::Purpose::gradient_noise}, step);
    gradient[0] = -precision * (x[0] - kRho * x[1]) + noise.normal();
    gradient[1] = -precision * (x[1] - kRho * x[0]) + noise.normal();
    return -0.5 * precision * (x[0] * x[0] - 2 * kRho * x[0] * x[1] + x[1] * x[1]);
  }
  static constexpr double kRho = 0.8;
};

// Standard normals by purpose and step.
class Normals : public smile::NormalSource<Vector> {
 public:
  void normals(Vector& out, smile::Purpose purpose, std::uint64_t step) override {
    smile::fill_normals({42, 0, purpose}, step, out.span());
  }
  double uniform(smile::Purpose purpose, std::uint64_t step) override {
    return smile::Stream({42, 0, purpose}, step).uniform();
  }
};

int main() {
  smile::MicrocanonicalOptions options;
  options.rule = smile::StepSizeRule::fixed;
  options.guardrail = false;
  options.step_size = 0.05;
  options.preconditioner.emplace();
  const smile::SamplingPlan plan{.warmup_steps = 10'000, .sampling_steps = 400'000};
  smile::MicrocanonicalSampler<Vector> sampler(options, plan);

  Gaussian target;
  Normals normals;
  sampler.start(Vector(2), target, normals);
  double xx = 0, xy = 0, yy = 0;
  for (std::uint64_t t = 1; t <= sampler.total_steps(); ++t) {
    sampler.step(target, normals, t);
    if (t <= plan.warmup_steps) continue;
    const Vector& theta = sampler.position();
    xx += theta[0] * theta[0], xy += theta[0] * theta[1], yy += theta[1] * theta[1];
  }
  const double n = double(plan.sampling_steps);
  std::printf("variance %.2f %.2f (true 1 1), covariance %.2f (true %.2f)\n", xx / n, yy / n, xy / n, Gaussian::kRho);
}
