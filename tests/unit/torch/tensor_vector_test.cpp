// SPDX-License-Identifier: Apache-2.0
// The passes and the samplers on tensors against those on host vectors, on every device there is.
#include "smile/torch/tensor_vector.hpp"
//
#include <gtest/gtest.h>

#include <cmath>

#include "config/make_sampler.hpp"
#include "kernels/reference/passes.hpp"
#include "smile/ensemble/stream_normals.hpp"
#include "smile/torch/flat_network.hpp"
#include "smile/torch/tensor_prior.hpp"

namespace smile {
namespace {

namespace reference = kernels::reference;
using torch::Tensor;
using Host = HostVector<float>;

std::vector<torch::Device> devices() {
  std::vector<torch::Device> list{torch::kCPU};
  if (torch::cuda::is_available()) list.push_back(torch::kCUDA);
  return list;
}

constexpr std::size_t kSize = 1003;

/// A vector in both forms.
struct Pair {
  Host host;
  TensorVector tensor;
  Pair(std::uint64_t seed, double scale = 1, bool positive = false) : host(kSize), tensor(kSize) {
    fill_normals({seed, 0, Purpose::diagnostics}, 0, host.span());
    for (float& x : host.span()) x = float(scale) * (positive ? std::exp(x) : x);
    Tensor to = tensor.tensor();
    to.copy_(tensor_view(host.data(), kSize));
  }
  void expect_equal(const char* what, double tolerance = 1e-5) const {
    const Tensor here = tensor.tensor().cpu(), expected = tensor_view(host.data(), kSize);
    const double scale = expected.abs().max().item<double>();
    EXPECT_LE((here - expected).abs().max().item<double>(), tolerance * scale) << what;
  }
};

void expect_near(double a, double b, const char* what, double tolerance = 1e-5) {
  EXPECT_NEAR(a, b, tolerance * (std::abs(b) + 1e-6)) << what;
}
void expect_sums(const MomentumSums& a, const MomentumSums& b) {
  expect_near(a.gradient_norm2, b.gradient_norm2, "norm");
  EXPECT_NEAR(a.projection, b.projection, 1e-5 * std::sqrt(b.gradient_norm2 * b.velocity_norm2));
  expect_near(a.velocity_norm2, b.velocity_norm2, "velocity");
  expect_near(a.largest, b.largest, "largest");
  EXPECT_EQ(a.finite, b.finite);
}

class TensorPasses : public testing::TestWithParam<int> {
 protected:
  TensorPasses() : scope_(devices()[std::size_t(GetParam())]) {}
  TensorVector::OnDevice scope_;
};

TEST_P(TensorPasses, AreThoseOfTheHost) {
  const Scaling scaling{0.3, 4, 1.7}, later{0.2, 1e9, 1.3};
  for (const bool preconditioned : {false, true}) {
    Pair g(1), u(2, 0.03), v(3, 1, true), m(4), x(5), y(6), w(7, 0.03);
    const Metric<Host> hm{preconditioned ? &v.host : nullptr, scaling};
    const Metric<TensorVector> tm{preconditioned ? &v.tensor : nullptr, scaling};
    expect_sums(kernels::reduce(g.tensor, u.tensor, tm), reference::reduce(g.host, u.host, hm));
    if (preconditioned)
      for (const auto normalisation :
           {Normalisation::rms_floor, Normalisation::rms_absolute, Normalisation::inverse_rms})
        for (const auto centre : {Centre::mean, Centre::none, Centre::authors}) {
          const MovingEstimate estimate{0.05, centre, 1e-7};
          const Host* hmean = centre == Centre::mean ? &m.host : nullptr;
          const TensorVector* tmean = centre == Centre::mean ? &m.tensor : nullptr;
          const ClosingSums a =
              kernels::reduce_closing(g.tensor, u.tensor, tmean, tm, estimate, normalisation, 0.5);
          const ClosingSums b =
              reference::reduce_closing(g.host, u.host, hmean, hm, estimate, normalisation, 0.5);
          expect_sums(a.now, b.now);
          expect_near(a.next.factor, b.next.factor, "factor");
          expect_near(a.next.lower, b.next.lower, "lower");
          expect_near(a.next_norm2, b.next_norm2, "next norm");
          expect_near(a.cross, b.cross, "cross");
          EXPECT_NEAR(a.next_projection, b.next_projection, 1e-5 * std::sqrt(b.next_norm2));
        }
    const MovingEstimate estimate{0.05, Centre::mean, 1e-7};
    EXPECT_TRUE(kernels::close_and_open(u.tensor, w.tensor, g.tensor, preconditioned ? &m.tensor : nullptr,
                                        preconditioned ? &v.tensor : nullptr, scaling, later, estimate,
                                        {0.2, 0.9}, {0.1, 0.8}, x.tensor, y.tensor, 0.4));
    reference::close_and_open(u.host, w.host, g.host, preconditioned ? &m.host : nullptr,
                              preconditioned ? &v.host : nullptr, scaling, later, estimate, {0.2, 0.9},
                              {0.1, 0.8}, x.host, y.host, 0.4);
    u.expect_equal("u"), w.expect_equal("u next"), m.expect_equal("m"), v.expect_equal("s2"),
        y.expect_equal("θ");
    EXPECT_TRUE(kernels::kick_drift(u.tensor, g.tensor, tm, {0.3, 0.7}, x.tensor, x.tensor, 0.2));
    reference::kick_drift(u.host, g.host, hm, {0.3, 0.7}, x.host, x.host, 0.2);
    u.expect_equal("kick_drift u"), x.expect_equal("kick_drift θ");
    kernels::kick(u.tensor, g.tensor, tm, {0.1, 1.1}), reference::kick(u.host, g.host, hm, {0.1, 1.1});
    EXPECT_TRUE(kernels::drift(u.tensor, tm, x.tensor, y.tensor, 0.7));
    reference::drift(u.host, hm, x.host, y.host, 0.7);
    u.expect_equal("kick"), y.expect_equal("drift");
    kernels::refresh(u.tensor, g.tensor, 0.01), reference::refresh(u.host, g.host, 0.01);
    u.expect_equal("refresh");
    kernels::unit_direction(u.tensor, g.tensor), reference::unit_direction(u.host, g.host);
    u.expect_equal("direction");
  }
}

TEST_P(TensorPasses, OfTheBaselinesAreThoseOfTheHost) {
  Pair g(1), z(2), x(3), v(4), s(5, 1, true), tau(6, 3, true), mean(7, 0.01);
  kernels::add_scaled(x.tensor, g.tensor, 0.1, z.tensor, 0.3),
      reference::add_scaled(x.host, g.host, 0.1, z.host, 0.3);
  x.expect_equal("sgld");
  for (const bool first : {true, false}) {
    const kernels::PsgldUpdate p{0.01, 1, 0.9, 1e-3, 0.5, first};
    kernels::psgld_update(x.tensor, s.tensor, g.tensor, z.tensor, p);
    reference::psgld_update(x.host, s.host, g.host, z.host, p);
    x.expect_equal("psgld"), s.expect_equal("psgld V");
  }
  expect_near(kernels::momentum_update(x.tensor, v.tensor, g.tensor, z.tensor, 0.9, 0.1, 0.2, 0.5),
              reference::momentum_update(x.host, v.host, g.host, z.host, 0.9, 0.1, 0.2, 0.5), "sghmc");
  x.expect_equal("sghmc"), v.expect_equal("sghmc v");
  kernels::adapt_scale(tau.tensor, mean.tensor, s.tensor, g.tensor);
  reference::adapt_scale(tau.host, mean.host, s.host, g.host);
  tau.expect_equal("τ"), mean.expect_equal("ḡ"), s.expect_equal("s2");
  kernels::adapt_rms(s.tensor, g.tensor, 0.9), reference::adapt_rms(s.host, g.host, 0.9);
  s.expect_equal("rms");
  kernels::scaled_momentum_update(x.tensor, v.tensor, s.tensor, g.tensor, z.tensor, 0.1, 0.05);
  reference::scaled_momentum_update(x.host, v.host, s.host, g.host, z.host, 0.1, 0.05);
  x.expect_equal("adasghmc"), v.expect_equal("adasghmc v");
}

TEST_P(TensorPasses, SeeWhatIsNotFinite) {
  for (const float bad : {std::nanf(""), HUGE_VALF}) {
    Pair g(1), u(2);
    Tensor t = g.tensor.tensor();
    t[17] = bad;
    EXPECT_FALSE(kernels::reduce(g.tensor, u.tensor, {}).finite);
    EXPECT_FALSE(kernels::examine(g.tensor).finite);
    EXPECT_FALSE(kernels::all_finite(g.tensor));
    TensorVector out(kSize);
    EXPECT_FALSE(kernels::drift(g.tensor, {}, u.tensor, out, 1));
    kernels::clip(g.tensor, 2, true);
    EXPECT_TRUE(kernels::all_finite(g.tensor));
    EXPECT_LE(kernels::examine(g.tensor).largest, 2);
  }
}

TEST_P(TensorPasses, PriorsAreThoseOfTheHost) {
  ParameterLayout layout;
  layout.add("a.weight", {10, 50}, ParameterKind::weight, 50, 10);
  layout.add("a.bias", {kSize - 500}, ParameterKind::other);
  for (const auto& [name, parameters] : std::vector<std::pair<std::string, PriorValues>>{
           {"StandardNormal", {}},
           {"Laplace", {{"loc", 0.3}, {"scale", 2}}},
           {"Glorot", {{"factor", 1}}},
           {"TruncNormal", {{"loc", 0.1}, {"scale", 0.7}, {"limit", 0.5}}},
           {"BiMixtureNormal", {{"loc", 0.5}, {"scale", 0.4}}}}) {
    const auto prior = make_prior(name, parameters, layout);
    const TensorPrior there(*prior, devices()[std::size_t(GetParam())]);
    Pair x(1), g(2);
    const double expected =
        prior->log_density_and_gradient(std::span<const float>(x.host.span()), 3.0, g.host.span());
    expect_near(there.add_gradient(x.tensor.tensor(), 3.0, g.tensor.tensor()).item<double>(), expected,
                name.c_str());
    expect_near(there.log_density(x.tensor.tensor()).item<double>(), expected, name.c_str());
    g.expect_equal(name.c_str(), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, TensorPasses, testing::Range(0, int(devices().size())));

/// −½ Σ x²/σ², σ from 0.3 to 3; with a "batch" that shifts it by the step's number.
double precision(std::size_t i) {
  return std::pow(10.0, double(i) / double(kSize) - 0.5);
}
class HostBowl final : public Target<Host> {
 public:
  std::size_t dimension() const override { return kSize; }
  double log_density_and_gradient(const Host& x, Host& g, std::uint64_t step) override {
    double sum = 0;
    for (std::size_t i = 0; i < kSize; ++i) {
      const double shifted = double(x[i]) - 0.3 * std::sin(double(step * 7 + i));
      g[i] = float(-precision(i) * shifted);
      sum -= 0.5 * precision(i) * shifted * shifted;
    }
    return sum;
  }
};
class TensorBowl final : public Target<TensorVector> {
 public:
  std::size_t dimension() const override { return kSize; }
  double log_density_and_gradient(const TensorVector& x, TensorVector& g, std::uint64_t step) override {
    Host hx(kSize), hg(kSize);
    tensor_view(hx.data(), kSize).copy_(x.tensor());
    const double value = host_.log_density_and_gradient(hx, hg, step);
    Tensor to = g.tensor();
    to.copy_(tensor_view(hg.data(), kSize));
    return value;
  }

 private:
  HostBowl host_;
};
class TensorNormals final : public NormalSource<TensorVector> {
 public:
  void normals(TensorVector& out, Purpose purpose, std::uint64_t step) override {
    Host host(kSize);
    host_.normals(host, purpose, step);
    Tensor to = out.tensor();
    to.copy_(tensor_view(host.data(), kSize));
  }
  double uniform(Purpose purpose, std::uint64_t step) override { return host_.uniform(purpose, step); }

 private:
  StreamNormals<Host> host_{4, 0};
};

SamplerConfig config_of(const std::string& name) {
  SamplerConfig config;
  config.name = name;
  config.step.step_size =
      name == "psmile-naive" || name == "psmile" || name == "smile" || name == "psmile-auto" ? 0.5 : 1e-3;
  config.microcanonical.rule = config.row().rule.value_or(StepSizeRule::energy);
  if (!config.row().guardrail) config.microcanonical.tuner.reset_prob = 1;
  if (config.microcanonical.rule != StepSizeRule::energy) config.microcanonical.tuner.adaption_prob = 0;
  return config;
}

// One text, two vectors: the same chain up to rounding, refused steps and re-made states included.
TEST(TensorSamplers, MoveAsOnTheHost) {
  for (const torch::Device device : devices())
    for (const char* name : {"psmile", "psmile-naive", "psmile-auto", "smile", "sgld", "psgld", "sghmc",
                             "adasghmc", "rmsprop-sghmc", "sgnht"}) {
      const TensorVector::OnDevice scope(device);
      const SamplingPlan plan{30, 30};
      const SamplerConfig config = config_of(name);
      const auto host = experiment::make_sampler_of<Host>(config, plan, 2000);
      auto tensor = experiment::make_sampler_of<TensorVector>(config, plan, 2000);
      Pair start(9);
      HostBowl host_target;
      TensorBowl tensor_target;
      StreamNormals<Host> host_normals(4, 0);
      TensorNormals tensor_normals;
      host->start(start.host, host_target, host_normals);
      tensor->start(start.tensor, tensor_target, tensor_normals);
      for (std::uint64_t t = 1; t <= 60; ++t) {
        const StepReport a = host->step(host_target, host_normals, t);
        const StepReport b = tensor->step(tensor_target, tensor_normals, t);
        ASSERT_EQ(int(a.refusal), int(b.refusal)) << name << " " << t;
        if (t == 40) {  // through an archive
          Archive out;
          tensor->serialise(out);
          tensor = experiment::make_sampler_of<TensorVector>(config, plan, 2000);
          tensor->start(start.tensor, tensor_target, tensor_normals);
          Archive in(out.bytes());
          tensor->serialise(in);
          EXPECT_TRUE(in.exhausted());
        }
      }
      Host end(kSize);
      tensor_view(end.data(), kSize).copy_(tensor->position().tensor());
      double difference = 0, largest = 0;
      for (std::size_t i = 0; i < kSize; ++i) {
        difference = std::max(difference, std::abs(double(end[i]) - double(host->position()[i])));
        largest = std::max(largest, std::abs(double(end[i])));
      }
      EXPECT_LT(difference, 2e-3 * largest) << name;
    }
}

}  // namespace
}  // namespace smile
