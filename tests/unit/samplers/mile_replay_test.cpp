// SPDX-License-Identifier: Apache-2.0
// Replays mile: the recursion of the full-batch tuner, its desired variance, weighted moments and phases,
// runs of mclmc with partial refreshment and refused steps, whole warm-ups.
#include <gtest/gtest.h>

#include <cmath>

#include "smile/samplers/mclmc.hpp"
#include "support/named_options.hpp"
#include "support/quadratic_target.hpp"

namespace smile {
namespace {

using test::Json;

/// The file's own tolerance holds for double; its single-precision figures are given run by run.
test::Tolerance double_tolerance(const Json& file, const Json& c) {
  return test::tolerance((c.contains("tolerance") ? c["tolerance"] : file.at("tolerance")).at("float64"));
}

class MileReplay : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(
        test::unknown_keys(file_, {"topic", "spec", "description", "tolerance", "target_variance",
                                   "weighted_moments", "runs", "warmup", "phase_lengths", "phase3", "cases"}),
        "");
  }
  Json file_ = test::load_vectors("mile");
};

TEST_F(MileReplay, recursion_of_the_step_size) {
  ASSERT_FALSE(file_.at("cases").empty());
  for (const Json& c : file_["cases"]) {
    SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
    ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note", "reading"}), "");
    const Json &input = c.at("input"), &expected = c.at("expected");
    ASSERT_EQ(test::unknown_keys(input, {"d", "step_size_init", "num_effective_samples", "trust_in_estimate",
                                         "dE", "desired_energy_var"}),
              "");
    ASSERT_EQ(test::unknown_keys(expected, {"eps", "w", "eps_max", "refused_steps"}), "");
    MileTunerOptions options;
    options.step_size_init = input.at("step_size_init");
    options.num_effective_samples = input.at("num_effective_samples");
    options.trust_in_estimate = input.at("trust_in_estimate");
    MileStepSize tuner(options, input.at("d"));
    const auto dE = test::numbers(input.at("dE")), desired = test::numbers(input.at("desired_energy_var"));
    std::vector<double> eps, w, eps_max, refused;
    for (std::size_t i = 0; i < dE.size(); ++i) {
      const bool finite = std::isfinite(dE[i]);
      if (!finite) refused.push_back(double(i + 1));
      tuner.observe(dE[i], !finite, desired.at(i));
      eps.push_back(tuner.step_size()), w.push_back(tuner.weight()), eps_max.push_back(tuner.largest());
    }
    const auto tol = double_tolerance(file_, c);
    const auto compare = [&](const std::vector<double>& actual, const char* name) {
      const auto wanted = test::numbers(expected.at(name));
      ASSERT_EQ(actual.size(), wanted.size());
      for (std::size_t i = 0; i < actual.size(); ++i)
        EXPECT_EQ(test::mismatch(actual[i], wanted[i], tol), "") << name << " after step " << i + 1;
    };
    compare(eps, "eps"), compare(w, "w"), compare(eps_max, "eps_max");
    EXPECT_EQ(refused, test::numbers(expected.at("refused_steps")));
  }
}

TEST_F(MileReplay, desired_energy_variance) {
  for (const Json& c : file_.at("target_variance")) {
    SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
    ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note"}), "");
    ASSERT_EQ(test::unknown_keys(c.at("input"), {"start", "end", "total"}), "");
    ASSERT_EQ(test::unknown_keys(c.at("expected"), {"v"}), "");
    const std::uint64_t total = c["input"].at("total");
    std::vector<double> v;
    for (std::uint64_t t = 0; t < total; ++t)
      v.push_back(desired_energy_variance(c["input"].at("start"), c["input"].at("end"), t, total));
    EXPECT_EQ(test::mismatch(v, test::numbers(c["expected"].at("v")), double_tolerance(file_, c)), "");
  }
}

void expect_moments(const WeightedMoments& moments, const Json& expected, test::Tolerance tol) {
  EXPECT_EQ(test::mismatch(moments.mean(), test::numbers(expected.at("mean")), tol), "") << "mean";
  EXPECT_EQ(test::mismatch(moments.variance(), test::numbers(expected.at("variance")), tol), "")
      << "variance";
}

TEST_F(MileReplay, weighted_moments) {
  const Json& c = file_.at("weighted_moments");
  ASSERT_EQ(test::unknown_keys(c, {"input", "expected", "tolerance", "note"}), "");
  ASSERT_EQ(test::unknown_keys(c.at("input"), {"x", "w"}), "");
  ASSERT_EQ(test::unknown_keys(c.at("expected"), {"mean", "variance", "ell"}), "");
  const auto x = test::matrix(c["input"].at("x"));
  const auto w = test::numbers(c["input"].at("w"));
  WeightedMoments moments(x.at(0).size());
  for (std::size_t i = 0; i < x.size(); ++i) moments.add(x[i], w.at(i));
  const auto tol = double_tolerance(file_, c);
  expect_moments(moments, c["expected"], tol);
  EXPECT_EQ(test::mismatch(moments.spread(), c["expected"].at("ell"), tol), "");
}

TEST_F(MileReplay, lengths_of_the_phases) {
  for (const Json& c : file_.at("phase_lengths")) {
    ASSERT_EQ(test::unknown_keys(c, {"warmup_steps", "phase_lengths"}), "");
    const MilePhases phases(c.at("warmup_steps").get<std::uint64_t>(), false);
    const std::vector<std::uint64_t> lengths{phases.first, phases.second, phases.third};
    EXPECT_EQ(lengths, c.at("phase_lengths").get<std::vector<std::uint64_t>>()) << c["warmup_steps"];
  }
}

TEST_F(MileReplay, decoherence_length_of_phase_3) {
  for (const Json& c : file_.at("phase3")) {
    SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
    ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note"}), "");
    ASSERT_EQ(test::unknown_keys(c.at("input"), {"eps", "draws"}), "");
    ASSERT_EQ(test::unknown_keys(c.at("expected"), {"ess_bulk", "ell"}), "");
    const auto draws = test::matrix(c["input"].at("draws"));
    const std::size_t d = draws.at(0).size();
    const auto tol = double_tolerance(file_, c);
    AutocorrelationLength length(d, draws.size());
    for (std::size_t i = 0; i < draws.size(); ++i) length.add(draws[i], i);
    EXPECT_EQ(test::mismatch(length.value(c["input"].at("eps")), c["expected"].at("ell"), tol), "");
    std::vector<double> sizes;
    for (std::size_t j = 0; j < d; ++j) {
      std::vector<double> chain;
      for (const auto& row : draws) chain.push_back(row[j]);
      sizes.push_back(ess_bulk(chain, 1));
    }
    EXPECT_EQ(test::mismatch(sizes, test::numbers(c["expected"].at("ess_bulk")), tol), "");
  }
}

/// What a run of the file needs: its target, and normals by purpose and step.
template <class T>
struct Run {
  test::QuadraticTarget<T> target;
  test::GivenNormals<T> normals;
  HostVector<T> start;

  Run(const Json& runs, const Json& input)
      : target(test::matrix(runs.at("A")), test::numbers(runs.at("b")), {}, test::planted_of(input)),
        start(test::host<T>(test::numbers(runs.at("theta0")))) {
    const std::size_t d = start.size();
    normals.give(Purpose::direction, 0, test::numbers(runs.at("u0")));
    if (input.contains("direction_normals"))
      for (const auto& [step, row] : input["direction_normals"].items())
        normals.give(Purpose::direction, std::stoull(step), test::numbers(row));
    const auto rows = test::matrix(runs.at("normals"));
    for (std::size_t t = 1; t < rows.size(); ++t) {
      if (rows[t].size() != 2 * d) throw std::runtime_error("a row of normals holds two vectors");
      const auto half = rows[t].begin() + std::ptrdiff_t(d);
      normals.give(Purpose::opening_refreshment, t, {rows[t].begin(), half});
      normals.give(Purpose::closing_refreshment, t, {half, rows[t].end()});
    }
  }
};

/// Follows a run and compares what the file says of every step.
template <class T>
class Follower {
 public:
  Follower(const Json& expected, test::Tolerance tolerance, std::uint64_t steps)
      : expected_(expected), tolerance_(tolerance), steps_(steps) {}

  void see(const MclmcSampler<HostVector<T>>& sampler, const StepReport& report, std::uint64_t t,
           double next_step_size) {
    energy_.push_back(report.energy_change);
    step_sizes_.push_back(next_step_size);
    if (!report.accepted()) refused_.push_back(double(t));
    const auto checkpoints = test::numbers(expected_.at("checkpoints"));
    if (next_ < checkpoints.size() && checkpoints[next_] == double(t)) {
      EXPECT_EQ(test::mismatch(test::plain(sampler.position()),
                               test::numbers(expected_.at("theta").at(next_)), tolerance_),
                "")
          << "theta after step " << t;
      EXPECT_EQ(test::mismatch(test::plain(sampler.state().velocity()),
                               test::numbers(expected_.at("u").at(next_)), tolerance_),
                "")
          << "u after step " << t;
      ++next_;
    }
  }
  void finish() const {
    const auto head = [&](const char* name) {
      auto values = test::numbers(expected_.at(name));
      values.resize(std::min<std::size_t>(values.size(), steps_));
      return values;
    };
    EXPECT_EQ(test::mismatch(energy_, head("dE"), tolerance_), "") << "dE";
    if (expected_.contains("eps_after")) {
      EXPECT_EQ(test::mismatch(step_sizes_, head("eps_after"), tolerance_), "") << "eps_after";
    }
    std::vector<double> refused;
    for (double t : test::numbers(expected_.at("refused_steps")))
      if (t <= double(steps_)) refused.push_back(t);
    EXPECT_EQ(refused_, refused);
  }

 private:
  const Json& expected_;
  test::Tolerance tolerance_;
  std::uint64_t steps_;
  std::size_t next_ = 0;
  std::vector<double> energy_, step_sizes_, refused_;
};

template <class T>
void replay_run(const Json& file, const Json& c) {
  SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
  ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note", "reading"}), "");
  const Json &input = c.at("input"), &expected = c.at("expected");
  ASSERT_EQ(test::unknown_keys(
                input, {"integrator", "ell", "eps", "steps", "desired_energy_var", "recursion",
                        "trust_in_estimate", "num_effective_samples", "planted", "direction_normals"}),
            "");
  ASSERT_EQ(test::unknown_keys(expected,
                               {"checkpoints", "theta", "u", "dE", "refused_steps", "eps_after", "phase2"}),
            "");
  Run<T> run(file.at("runs"), input);
  const auto [tol, steps] = test::case_tolerance(file, c, sizeof(T) == 4, input.at("steps"));
  const bool recursion = input.at("recursion");
  const double length = input.at("ell");
  MileTunerOptions tuning;
  tuning.step_size_init = input.at("eps");
  tuning.trust_in_estimate = input.value("trust_in_estimate", 1.5);
  tuning.num_effective_samples = input.value("num_effective_samples", 100.0);
  MileStepSize tuner(tuning, double(run.start.size()));
  const auto desired = recursion ? test::numbers(input.at("desired_energy_var")) : std::vector<double>();

  // The sampler with ε and ℓ given step by step; the recursion beside it.
  MclmcOptions options;
  options.integrator = test::integrator_named(input.at("integrator"));
  options.fixed = {tuner.step_size(), length};
  MclmcSampler<HostVector<T>> sampler(options, {0, steps});
  sampler.start(run.start, run.target, run.normals);
  Follower<T> follower(expected, tol, steps);
  const Json* phase2 =
      expected.contains("phase2") && !expected["phase2"].is_null() ? &expected["phase2"] : nullptr;
  if (phase2) {
    ASSERT_EQ(test::unknown_keys(*phase2, {"first_step", "last_step", "mean", "variance", "ell"}), "");
  }
  WeightedMoments moments(run.start.size());
  for (std::uint64_t t = 1; t <= steps; ++t) {
    sampler.set_fixed({tuner.step_size(), length});
    const StepReport report = sampler.step(run.target, run.normals, t);
    if (recursion) tuner.observe(report.energy_change, !report.accepted(), desired.at(t - 1));
    if (phase2 && report.accepted() && t >= (*phase2)["first_step"] && t <= (*phase2)["last_step"])
      moments.add(sampler.position(), report.step_size);
    follower.see(sampler, report, t, tuner.step_size());
  }
  follower.finish();
  if (phase2 && steps >= (*phase2)["last_step"]) {
    expect_moments(moments, *phase2, tol);
    EXPECT_EQ(test::mismatch(moments.spread(), (*phase2).at("ell"), tol), "");
  }
}

template <class T>
void replay_warmup(const Json& file, const Json& c) {
  SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
  ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note", "reading"}), "");
  const Json &input = c.at("input"), &expected = c.at("expected");
  ASSERT_EQ(
      test::unknown_keys(input, {"warmup_steps", "step_size_init", "ell", "desired_energy_var_start",
                                 "desired_energy_var_end", "num_effective_samples", "trust_in_estimate",
                                 "integrator", "diagonal_preconditioning", "planted", "direction_normals"}),
      "");
  ASSERT_EQ(
      test::unknown_keys(expected, {"phase_lengths", "retuning_steps", "checkpoints", "theta", "u", "dE",
                                    "refused_steps", "eps_after", "mean", "variance", "shat", "ell"}),
      "");
  Run<T> run(file.at("runs"), input);
  MclmcOptions options;
  options.integrator = test::integrator_named(input.at("integrator"));
  options.tuner.step_size_init = input.at("step_size_init");
  options.tuner.desired_energy_var_start = input.at("desired_energy_var_start");
  options.tuner.desired_energy_var_end = input.at("desired_energy_var_end");
  options.tuner.num_effective_samples = input.at("num_effective_samples");
  options.tuner.trust_in_estimate = input.at("trust_in_estimate");
  options.tuner.diagonal_preconditioning = input.at("diagonal_preconditioning");
  const std::uint64_t warmup = input.at("warmup_steps");
  const MilePhases phases(warmup, options.tuner.diagonal_preconditioning);
  const std::vector<std::uint64_t> lengths{phases.first, phases.second, phases.third};
  EXPECT_EQ(lengths, expected.at("phase_lengths").get<std::vector<std::uint64_t>>());
  EXPECT_EQ(phases.retuning, expected.at("retuning_steps").get<std::uint64_t>());

  MclmcSampler<HostVector<T>> sampler(options, {warmup, 0});
  sampler.start(run.start, run.target, run.normals);
  EXPECT_EQ(sampler.decoherence_length(), input.at("ell").get<double>());
  EXPECT_EQ(sampler.warmup_steps(), expected.at("dE").size());
  const auto [tol, steps] = test::case_tolerance(file, c, sizeof(T) == 4, sampler.warmup_steps());
  Follower<T> follower(expected, tol, steps);
  for (std::uint64_t t = 1; t <= steps; ++t) {
    const StepReport report = sampler.step(run.target, run.normals, t);
    follower.see(sampler, report, t, report.next_step_size);
    if (t != phases.first + phases.second) continue;
    expect_moments(sampler.phase2_moments(), expected, tol);
    EXPECT_EQ(test::mismatch(sampler.decoherence_length(), expected.at("ell"), tol), "") << "ell";
    if (expected.contains("shat")) {
      std::vector<double> scale = sampler.phase2_moments().variance();
      for (double& v : scale) v = 1 / std::sqrt(v);
      EXPECT_EQ(test::mismatch(scale, test::numbers(expected["shat"]), tol), "") << "shat";
    }
  }
  follower.finish();
}

template <class T>
class MileRunsReplay : public testing::Test {
 protected:
  Json file_ = test::load_vectors("mile");
};
using Precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(MileRunsReplay, Precisions);

TYPED_TEST(MileRunsReplay, runs) {
  const Json& runs = this->file_.at("runs");
  ASSERT_EQ(test::unknown_keys(runs, {"A", "b", "theta0", "u0", "normals", "cases"}), "");
  ASSERT_FALSE(runs.at("cases").empty());
  for (const Json& c : runs["cases"]) replay_run<TypeParam>(this->file_, c);
}
TYPED_TEST(MileRunsReplay, whole_warmups) {
  ASSERT_FALSE(this->file_.at("warmup").empty());
  for (const Json& c : this->file_["warmup"]) replay_warmup<TypeParam>(this->file_, c);
}

}  // namespace
}  // namespace smile
