// SPDX-License-Identifier: Apache-2.0
// A density of one's own: smile-naive on a Gaussian with noisy gradients, in under 50 lines.
#include <cmath>
#include <cstdio>

#include "smile/ensemble/stream_normals.hpp"
#include "smile/samplers/microcanonical.hpp"

using Vector = smile::HostVector<double>;

// Ten independent coordinates with standard deviations 1, 1.1, … 1.9, and on every gradient independent noise
// of standard deviation 5, as mini-batches would give. Isotropic gradient noise does not bias the sampler.
class Gaussian : public smile::Target<Vector> {
 public:
  std::size_t dimension() const override { return 10; }
  static double deviation(std::size_t i) { return 1 + 0.1 * double(i); }
  double log_density_and_gradient(const Vector& x, Vector& gradient, std::uint64_t step) override {
    smile::Stream noise({42, 0, smile::Purpose::gradient_noise}, step);
    double value = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double scaled = x[i] / (deviation(i) * deviation(i));
      value -= 0.5 * x[i] * scaled;
      gradient[i] = -scaled + 5 * noise.normal();
    }
    return value;
  }
};

int main() {
  smile::MicrocanonicalOptions options;  // the mclachlan splitting, no preconditioner
  options.rule = smile::StepSizeRule::fixed;
  options.guardrail = false;
  options.step_size = 0.1;
  const smile::SamplingPlan plan{.warmup_steps = 10'000, .sampling_steps = 1'000'000};
  smile::MicrocanonicalSampler<Vector> sampler(options, plan);

  Gaussian target;
  smile::StreamNormals<Vector> normals(42, 0);  // standard normals of (seed, chain), by purpose and step
  sampler.start(Vector(10), target, normals);
  double sum[10] = {};
  for (std::uint64_t t = 1; t <= sampler.total_steps(); ++t) {
    sampler.step(target, normals, t);
    if (t <= plan.warmup_steps) continue;
    for (std::size_t i = 0; i < 10; ++i) sum[i] += sampler.position()[i] * sampler.position()[i];
  }
  for (std::size_t i = 0; i < 10; ++i)
    std::printf("coordinate %zu: standard deviation %.3f (true %.1f)\n", i,
                std::sqrt(sum[i] / double(plan.sampling_steps)), Gaussian::deviation(i));
}
