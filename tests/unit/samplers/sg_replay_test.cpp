// SPDX-License-Identifier: Apache-2.0
// Replays sg_samplers: the stochastic-gradient baselines with given gradient noise and normals.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "smile/samplers/langevin.hpp"
#include "smile/samplers/momentum_samplers.hpp"
#include "smile/samplers/scale_adapted_sghmc.hpp"
#include "support/quadratic_target.hpp"

namespace smile {
namespace {

using test::Json;

/// The file's target and normals, and the comparison of a run with its case.
template <class T>
class SgReplay {
 public:
  using Vector = HostVector<T>;
  using Read = std::function<std::vector<double>()>;

  SgReplay(const Json& file, const Json& c)
      : file_(file),
        case_(c),
        input_(c.at("input")),
        expected_(c.at("expected")),
        steps_(file.at("noise").size() - 1),
        target_(test::matrix(file.at("A")), test::numbers(file.at("b")), test::matrix(file.at("noise")),
                test::planted_of(c.at("input"))) {
    const auto rows = test::matrix(file.at("normals"));
    for (std::size_t t = 1; t < rows.size(); ++t) normals_.give(Purpose::noise, t, rows[t]);
    guard_.clip = input_.value("gradient_clip", 1e6);
  }

  const Json& input() const { return input_; }
  const Json& expected() const { return expected_; }
  GradientGuard guard() const { return guard_; }
  std::uint64_t steps() const { return steps_; }
  SamplingPlan sampling_only() const { return {0, steps_}; }
  test::Tolerance tolerance() const {
    return test::case_tolerance(file_, case_, sizeof(T) == 4, steps_).tolerance;
  }

  /// v₀ = scale · z: hands out the z that gives the v₀ of the file.
  void give_first_momentum(double scale) {
    auto z = test::numbers(input_.at("v0"));
    for (double& v : z) v /= scale;
    normals_.give(Purpose::momentum, 0, z);
  }
  void give_redrawn_momenta() {
    if (!input_.contains("momentum_normals")) return;
    for (const auto& [step, row] : input_["momentum_normals"].items()) {
      normals_.give(Purpose::momentum, std::stoull(step), test::numbers(row));
      normals_.give_coin(std::stoull(step));
    }
  }

  /// @param series   quantities listed at the checkpoints, beside theta
  /// @param after    called after every step
  void run(
      Sampler<Vector>& sampler, const std::vector<std::pair<const char*, Read>>& series,
      const std::function<void(std::uint64_t)>& after = [](std::uint64_t) {}) {
    const auto [tol, compared] = test::case_tolerance(file_, case_, sizeof(T) == 4, steps_);
    sampler.start(test::host<T>(test::numbers(file_.at("theta0"))), target_, normals_);
    const auto checkpoints = test::numbers(expected_.at("checkpoints"));
    std::vector<double> refused, exploring;
    std::size_t next = 0;
    for (std::uint64_t t = 1; t <= compared; ++t) {
      const StepReport report = sampler.step(target_, normals_, t);
      if (!report.accepted()) refused.push_back(double(t));
      if (report.exploring) exploring.push_back(double(t));
      after(t);
      if (next == checkpoints.size() || checkpoints[next] != double(t)) continue;
      EXPECT_EQ(
          test::mismatch(test::plain(sampler.position()), test::numbers(expected_.at("theta").at(next)), tol),
          "")
          << "theta after step " << t;
      for (const auto& [name, read] : series) {
        if (!expected_.contains(name)) continue;
        const Json& row = expected_[name].at(next);
        EXPECT_EQ(
            test::mismatch(read(),
                           row.is_array() ? test::numbers(row) : std::vector<double>{test::number(row)}, tol),
            "")
            << name << " after step " << t;
      }
      ++next;
    }
    const auto up_to = [&, last = compared](const char* name) {
      std::vector<double> steps;
      if (expected_.contains(name))
        for (double t : test::numbers(expected_[name]))
          if (t <= double(last)) steps.push_back(t);
      return steps;
    };
    EXPECT_EQ(refused, up_to("refused_steps"));
    EXPECT_EQ(exploring, up_to("exploring_steps"));
  }

  void expect_keys(std::initializer_list<std::string_view> input,
                   std::initializer_list<std::string_view> expected) const {
    const std::string strangers = test::unknown_keys(input_, input) + test::unknown_keys(expected_, expected);
    if (!strangers.empty()) throw std::runtime_error(strangers);
  }

 private:
  const Json &file_, &case_, &input_, &expected_;
  std::uint64_t steps_;
  test::QuadraticTarget<T> target_;
  test::GivenNormals<T> normals_;
  GradientGuard guard_;
};

template <class T>
void replay_langevin(SgReplay<T>& replay, const std::string& name) {
  const Json& input = replay.input();
  LangevinOptions options;
  options.guard = replay.guard();
  options.temperature = input.value("temperature", 1.0);
  if (name == "csgld") {
    replay.expect_keys({"sampler", "init", "target", "n_cycles", "exploration", "explore_without_noise",
                        "temperature", "gradient_clip", "planted"},
                       {"checkpoints", "theta", "exploring_steps", "refused_steps"});
    options.sampling_schedule = {ScheduleKind::cosine, input.at("init"), input.at("target"),
                                 input.at("n_cycles"), input.at("exploration")};
    options.explore_without_noise = input.value("explore_without_noise", false);
  } else if (name == "sgld") {
    replay.expect_keys({"sampler", "eps", "temperature", "gradient_clip", "planted"},
                       {"checkpoints", "theta", "refused_steps"});
    options.step_size = input.at("eps");
  } else {
    replay.expect_keys({"sampler", "eps", "N", "alpha", "lam", "temperature", "gradient_clip", "planted"},
                       {"checkpoints", "theta", "V", "refused_steps"});
    options.step_size = input.at("eps");
    options.preconditioned = true;
    options.rms_decay = input.at("alpha");
    options.rms_lambda = input.at("lam");
    options.observations = input.at("N");
  }
  LangevinSampler<HostVector<T>> sampler(options, replay.sampling_only());
  replay.run(sampler, {{"V", [&] { return test::plain(sampler.variance()); }}});
}

template <class T>
void replay_sghmc(SgReplay<T>& replay, SghmcStep step) {
  replay.expect_keys({"sampler", "eps", "alpha", "beta_hat", "temperature", "v0", "momentum_normals",
                      "gradient_clip", "planted"},
                     {"checkpoints", "theta", "v", "refused_steps"});
  const Json& input = replay.input();
  SghmcOptions options;
  options.guard = replay.guard();
  const double rate = input.at("eps");
  options.step = step;
  options.step_size = step == SghmcStep::length ? std::sqrt(rate) : rate;
  options.friction = input.at("alpha");
  options.noise_estimate = input.value("beta_hat", 0.0);
  options.temperature = input.value("temperature", 1.0);
  // Redrawn where the coin of the step says so; the vectors name those steps.
  options.momentum_resampling = input.contains("momentum_normals") ? 0.5 : 0;
  replay.give_first_momentum(std::sqrt(rate * options.temperature));
  replay.give_redrawn_momenta();
  SghmcSampler<HostVector<T>> sampler(options, replay.sampling_only());
  replay.run(sampler, {{"v", [&] { return test::plain(sampler.momentum()); }}});
}

/// The same numbers follow from the step of the scale-adapted form, ε = √η.
template <class T>
void replay_length_of_sghmc(const Json& file, const Json& c) {
  SgReplay<T> replay(file, c);
  replay_sghmc(replay, SghmcStep::length);
}

template <class T>
void replay_sgnht(SgReplay<T>& replay) {
  replay.expect_keys({"sampler", "eps", "A", "temperature", "v0", "xi0", "gradient_clip", "planted"},
                     {"checkpoints", "theta", "v", "xi", "refused_steps"});
  const Json& input = replay.input();
  SgnhtOptions options;
  options.guard = replay.guard();
  options.step_size = input.at("eps");
  options.diffusion = input.at("A");
  options.temperature = input.value("temperature", 1.0);
  ASSERT_EQ(input.value("xi0", options.diffusion), options.diffusion) << "the thermostat starts at A";
  replay.give_first_momentum(std::sqrt(options.temperature));
  SgnhtSampler<HostVector<T>> sampler(options, replay.sampling_only());
  replay.run(sampler, {{"v", [&] { return test::plain(sampler.momentum()); }},
                       {"xi", [&] { return std::vector<double>{sampler.thermostat()}; }}});
}

template <class T>
void replay_scale_adapted(SgReplay<T>& replay, bool rmsprop) {
  replay.expect_keys(
      {"sampler", "eps", "mdecay", "warmup", "sampling", "running_avg_factor", "gradient_clip", "planted"},
      {"checkpoints", "theta", "v", "s", "max_s", "balance_bound", "balance_ok", "tau_after_warmup",
       "gbar_after_warmup", "refused_steps"});
  const Json &input = replay.input(), &expected = replay.expected();
  ScaleAdaptedOptions options;
  options.guard = replay.guard();
  options.step_size = input.at("eps");
  options.friction = input.at("mdecay");
  options.rmsprop = rmsprop;
  options.running_avg_factor = input.value("running_avg_factor", 0.99);
  const std::uint64_t warmup = input.at("warmup"), sampling = input.at("sampling");
  ASSERT_EQ(warmup + sampling, replay.steps());
  ScaleAdaptedSampler<HostVector<T>> sampler(options, {warmup, sampling});
  const auto scale = [&] {
    std::vector<double> s = test::plain(sampler.variance());
    for (double& v : s) v = std::sqrt(v);
    return s;
  };
  replay.run(
      sampler, {{"v", [&] { return test::plain(sampler.momentum()); }}, {"s", scale}}, [&](std::uint64_t t) {
        if (t != warmup) return;
        const auto compare = [&](const char* name, const HostVector<T>& values) {
          if (!expected.contains(name)) return;
          EXPECT_EQ(test::mismatch(test::plain(values), test::numbers(expected[name]), replay.tolerance()),
                    "")
              << name;
        };
        compare("tau_after_warmup", sampler.tau());
        compare("gbar_after_warmup", sampler.mean());
        EXPECT_EQ(test::mismatch(sampler.largest_scale(), expected.at("max_s"), replay.tolerance()), "");
        EXPECT_EQ(test::mismatch(sampler.balance_bound(), expected.at("balance_bound"), replay.tolerance()),
                  "");
        EXPECT_EQ(sampler.findings().empty(), expected.at("balance_ok").get<bool>());
      });
}

template <class T>
void replay_case(const Json& file, const Json& c) {
  SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
  ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note", "reading"}), "");
  SgReplay<T> replay(file, c);
  const std::string name = c.at("input").at("sampler");
  if (name == "sgld" || name == "csgld" || name == "psgld")
    replay_langevin(replay, name);
  else if (name == "sghmc")
    replay_sghmc(replay, SghmcStep::rate), replay_length_of_sghmc<T>(file, c);
  else if (name == "sgnht")
    replay_sgnht(replay);
  else if (name == "adasghmc" || name == "rmsprop-sghmc" || name == "rmsprop")
    replay_scale_adapted(replay, name != "adasghmc");
  else
    FAIL() << "unknown sampler " << name;
}

template <class T>
class SgSamplersReplay : public testing::Test {};
using Precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(SgSamplersReplay, Precisions);
TYPED_TEST(SgSamplersReplay, every_case) {
  const Json file = test::load_vectors("sg_samplers");
  ASSERT_EQ(test::unknown_keys(file, {"topic", "spec", "description", "tolerance", "A", "b", "theta0",
                                      "noise", "normals", "cases"}),
            "");
  ASSERT_FALSE(file.at("cases").empty());
  for (const Json& c : file["cases"]) replay_case<TypeParam>(file, c);
}

}  // namespace
}  // namespace smile
