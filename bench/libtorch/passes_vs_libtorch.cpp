// SPDX-License-Identifier: Apache-2.0
// The vector work of one preconditioned microcanonical step at the size of a large network: four fused passes
// against LibTorch operator by operator, tuned (in place, outputs allocated beforehand, one thread each, in
// turns). Both work on the same numbers and must agree before anything is timed.
//   bench_passes_vs_libtorch [--json FILE] [--rounds N] [--d N]
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "../fcn_timing.hpp"
#include "../passes_step.hpp"
#include "smile/instruction_set.hpp"

namespace {

using namespace smile;
using bench::Candidate;
using bench::PassState;

torch::Tensor tensor_of(const HostVector<float>& x) {
  torch::Tensor t = torch::empty({std::int64_t(x.size())});
  std::memcpy(t.data_ptr<float>(), x.data(), x.size() * sizeof(float));
  return t;
}

/// The same step as PassState::step, as its authors would write it with tensors.
struct TorchState {
  torch::Tensor position, velocity, gradient, mean, variance;
  torch::Tensor scale, scaled, deviation;  // ŝ, g ⊘ ŝ, g − m
  double step_size, rate;

  explicit TorchState(const PassState& s)
      : position(tensor_of(s.position)),
        velocity(tensor_of(s.velocity)),
        gradient(tensor_of(s.gradient)),
        mean(tensor_of(s.mean)),
        variance(tensor_of(s.variance)),
        scale(torch::empty_like(position)),
        scaled(torch::empty_like(position)),
        deviation(torch::empty_like(position)),
        step_size(s.step_size),
        rate(s.estimate.rate) {
    refresh_scale();
  }

  void refresh_scale() {
    const double floor = bench::kRelativeFloor * std::sqrt(variance.mean().item<double>());
    torch::sqrt_out(scale, variance);
    scale.clamp_min_(floor);
    scale.div_(scale.norm().item<double>() / std::sqrt(double(scale.numel())));
  }
  void turn(double h) {
    torch::div_out(scaled, gradient, scale);
    const Kick kick =
        PassState::kick_of(std::pow(scaled.norm().item<double>(), 2),
                           torch::dot(velocity, scaled).item<double>(), 1, double(position.numel()), h);
    velocity.mul_(kick.velocity).add_(scaled, kick.gradient);
  }
  void move(double h) { position.addcdiv_(velocity, scale, h); }
  void absorb() {
    torch::sub_out(deviation, gradient, mean);
    mean.add_(deviation, rate);
    variance.mul_(1 - rate).addcmul_(deviation, deviation, rate * (1 - rate) * (1 - rate)).clamp_min_(1e-7);
    refresh_scale();
  }
  /// From the middle of one step to the middle of the next: B A · B, absorb, B A.
  void step() {
    const double b = bench::kFirstFraction;
    turn(step_size * (1 - 2 * b));
    move(step_size / 2);
    turn(step_size * b);
    absorb();
    turn(step_size * b);
    move(step_size / 2);
  }
};

double difference(const HostVector<float>& a, const torch::Tensor& b) {
  const float* p = b.data_ptr<float>();
  double error = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double e = std::fabs(double(a[i]) - double(p[i]));
    error = e > error || std::isnan(e) ? e : error;
    scale = std::max(scale, std::fabs(double(p[i])));
  }
  return error / scale;
}

/// Largest difference after three steps from the same start. LibTorch sums in single precision, so that its
/// norms lose digits as d grows: hence a tight bound at a small d and a loose one at a large d.
bool agree(PassState& fused, TorchState& tensors, double bound) {
  for (int i = 0; i < 3; ++i) {
    fused.step();
    tensors.step();
  }
  const double worst =
      std::max({difference(fused.position, tensors.position), difference(fused.velocity, tensors.velocity),
                difference(fused.mean, tensors.mean), difference(fused.variance, tensors.variance)});
  fmt::print("d = {}: after three steps the largest difference is {:.1e}, must be <= {:.0e}\n",
             fused.velocity.size(), worst, bound);
  return worst <= bound;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report(argc, argv);
  std::size_t d = 11173962;
  int rounds = 21;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--d")) d = std::strtoull(argv[i + 1], nullptr, 10);
    if (!std::strcmp(argv[i], "--rounds")) rounds = std::atoi(argv[i + 1]);
  }
  torch::set_num_threads(1);
  c10::InferenceMode inference;
  fmt::print("instruction set {}, one thread each\n", instruction_set());
  PassState small(4099);
  small.estimate.rate = 0.01;
  TorchState small_tensors(small);
  PassState fused(d);
  fused.estimate.rate = 0.01;
  TorchState tensors(fused);
  if (!agree(small, small_tensors, 1e-5) || !agree(fused, tensors, 1e-3)) return 1;

  std::vector<Candidate> candidates;
  candidates.push_back({"fused passes, 92 bytes a parameter", [&] { fused.step(); }});
  candidates.push_back({"LibTorch in place, operator by operator", [&] { tensors.step(); }});
  bench::run_rounds(candidates, rounds, 0.02);
  for (const Candidate& c : candidates) report.candidate(c);
  report.number("LibTorch / fused", bench::paired_ratio(candidates[1], candidates[0]), ">= 4 at d = 11.2 M");
  report.number("fused, ns per parameter", 1e9 * candidates[0].median() / double(d));
  return report.finish() ? 0 : 1;
}
