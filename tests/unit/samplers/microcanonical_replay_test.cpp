// SPDX-License-Identifier: Apache-2.0
// Replays the runs of the four microcanonical samplers step by step: microcanonical_naive, _tuned, _resets
// and compat_authors, in double and single precision.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "smile/samplers/microcanonical.hpp"
#include "support/named_options.hpp"
#include "support/quadratic_target.hpp"

namespace smile {
namespace {

using test::Json;

MicrocanonicalOptions options_of(const Json& input) {
  const std::string strangers = test::unknown_keys(input, {"sampler",
                                                           "steps",
                                                           "eps",
                                                           "integrator",
                                                           "energy",
                                                           "alpha",
                                                           "preconditioner_init",
                                                           "preconditioner_scale",
                                                           "preconditioner_centre",
                                                           "preconditioner_floor",
                                                           "decoherence_length",
                                                           "gradient_clip",
                                                           "reset_prob",
                                                           "adaption_prob",
                                                           "adaption_strength",
                                                           "smoothing_factor",
                                                           "quantile",
                                                           "variance_floor",
                                                           "outlier_clip",
                                                           "adaption_balance",
                                                           "adapt_during",
                                                           "warmup_steps",
                                                           "reset_velocity",
                                                           "reset_gradient",
                                                           "nonfinite",
                                                           "planted",
                                                           "direction_normals",
                                                           "problem"});
  if (!strangers.empty()) throw std::runtime_error(strangers);
  const auto text = [&](const char* key, const char* standard) {
    return input.value(key, std::string(standard));
  };
  const auto choose = [&](const char* key, const char* standard, const char* other) {
    const std::string value = text(key, standard);
    if (value != standard && value != other)
      throw std::runtime_error(std::string(key) + ": unknown value " + value);
    return value == other;
  };
  MicrocanonicalOptions o;
  const std::string sampler = input.at("sampler");
  if (sampler != "smile" && sampler != "psmile" && sampler != "smile-naive" && sampler != "psmile-naive")
    throw std::runtime_error("unknown sampler " + sampler);
  const bool naive = sampler.ends_with("-naive");
  o.guardrail = !naive;
  o.rule = naive ? StepSizeRule::fixed : StepSizeRule::energy;
  o.step_size = input.at("eps");
  o.integrator = test::integrator_named(text("integrator", "mclachlan"));
  o.energy = choose("energy", "carried", "fresh") ? EnergyMode::fresh : EnergyMode::carried;
  if (input.contains("decoherence_length")) o.decoherence_length = input["decoherence_length"];
  o.guard.clip = input.value("gradient_clip", 1e6);
  o.guard.policy =
      choose("nonfinite", "divergence", "authors") ? NonFinitePolicy::authors : NonFinitePolicy::divergence;
  if (sampler.starts_with("p")) {
    PreconditionerOptions p;
    p.rate = input.value("alpha", 0.01);
    p.start_at_first_gradient = choose("preconditioner_init", "zero", "first-gradient");
    const std::string centre = text("preconditioner_centre", "mean");
    p.centre = centre == "none" ? Centre::none : centre == "authors" ? Centre::authors : Centre::mean;
    if (choose("preconditioner_scale", "rms", "inverse-rms")) p.normalisation = Normalisation::inverse_rms;
    if (input.contains("preconditioner_floor")) {
      if (input["preconditioner_floor"].is_number()) {
        p.relative_floor = input["preconditioner_floor"];
      } else if (input["preconditioner_floor"] == "absolute") {
        if (p.normalisation == Normalisation::rms_floor) p.normalisation = Normalisation::rms_absolute;
      } else {
        throw std::runtime_error("unknown preconditioner_floor");
      }
    }
    o.preconditioner = p;
  }
  o.tuner.reset_prob = input.value("reset_prob", 0.98);
  o.tuner.adaption_prob = input.value("adaption_prob", 0.1);
  o.tuner.adaption_strength = input.value("adaption_strength", 0.02);
  o.tuner.smoothing_factor = input.value("smoothing_factor", 0.01);
  if (choose("quantile", "exact", "wilson-hilferty")) o.tuner.quantile = QuantileRule::wilson_hilferty;
  if (choose("variance_floor", "relative", "absolute")) o.tuner.variance_floor = VarianceFloor::absolute;
  o.tuner.outlier_clip = input.value("outlier_clip", true);
  if (choose("adaption_balance", "paper", "symmetric")) o.tuner.balance = AdaptionBalance::symmetric;
  o.adapt_in_sampling = !choose("adapt_during", "always", "warmup");
  const std::string velocity = text("reset_velocity", "keep");
  if (velocity == "keep")
    o.reset_velocity = ResetVelocity::keep;
  else if (velocity == "gradient")
    o.reset_velocity = ResetVelocity::gradient;
  else if (velocity == "random")
    o.reset_velocity = ResetVelocity::random;
  else if (velocity == "authors")
    o.reset_velocity = ResetVelocity::authors;
  else
    throw std::runtime_error("unknown reset_velocity " + velocity);
  if (choose("reset_gradient", "restored", "stale")) o.reset_gradient = ResetGradient::stale;
  return o;
}

template <class T>
void replay(const Json& file, const Json& test_case) {
  SCOPED_TRACE("case \"" + test_case.at("name").get<std::string>() + "\"");
  ASSERT_EQ(test::unknown_keys(test_case, {"name", "input", "expected", "tolerance", "decision_margin",
                                           "note", "compat", "reading"}),
            "");
  const Json& input = test_case.at("input");
  const Json& expected = test_case.at("expected");
  ASSERT_EQ(test::unknown_keys(expected, {"checkpoints", "theta", "u", "refused_steps", "redrawn_steps", "dE",
                                          "eps_after", "final"}),
            "");
  const Json& problem = input.contains("problem") ? input["problem"] : file;
  const std::uint64_t steps = input.at("steps");
  const auto [tol, compared] = test::case_tolerance(file, test_case, sizeof(T) == 4, steps);

  const MicrocanonicalOptions options = options_of(input);
  const std::uint64_t warmup = input.value("warmup_steps", steps);
  MicrocanonicalSampler<HostVector<T>> sampler(options, {warmup, steps - std::min(steps, warmup)});
  test::QuadraticTarget<T> target(test::matrix(problem.at("A")), test::numbers(problem.at("b")),
                                  test::matrix(problem.at("noise")), test::planted_of(input));
  test::GivenNormals<T> normals;
  if (input.contains("direction_normals"))
    for (const auto& [step, row] : input["direction_normals"].items())
      normals.give(Purpose::direction, std::stoull(step), test::numbers(row));
  if (file.contains("normals_for_explicit_noise")) {
    const auto rows = test::matrix(file["normals_for_explicit_noise"].at("values"));
    for (std::size_t t = 0; t < rows.size(); ++t) {
      const auto half = rows[t].begin() + std::ptrdiff_t(rows[t].size() / 2);
      normals.give(Purpose::opening_refreshment, t, {rows[t].begin(), half});
      normals.give(Purpose::closing_refreshment, t, {half, rows[t].end()});
    }
  }

  sampler.start(test::host<T>(test::numbers(problem.at("theta0"))), target, normals);
  const std::vector<double> checkpoints = test::numbers(expected.at("checkpoints"));
  const auto theta = test::matrix(expected.at("theta")), u = test::matrix(expected.at("u"));
  std::vector<double> dE, eps_after, refused;
  std::size_t next = 0;
  for (std::uint64_t t = 1; t <= compared; ++t) {
    const StepReport report = sampler.step(target, normals, t);
    dE.push_back(report.energy_change);
    eps_after.push_back(report.next_step_size);
    if (!report.accepted()) refused.push_back(double(t));
    if (next < checkpoints.size() && checkpoints[next] == double(t)) {
      ASSERT_EQ(test::mismatch(test::plain(sampler.position()), theta[next], tol), "")
          << "theta after step " << t;
      ASSERT_EQ(test::mismatch(test::plain(sampler.state().velocity()), u[next], tol), "")
          << "u after step " << t;
      ++next;
    }
  }
  const auto head = [&](const Json& list) {
    std::vector<double> values = test::numbers(list);
    values.resize(std::min<std::size_t>(values.size(), compared));
    return values;
  };
  const auto up_to = [&](const Json& list) {
    std::vector<double> values;
    for (double step : test::numbers(list))
      if (step <= double(compared)) values.push_back(step);
    return values;
  };
  EXPECT_EQ(refused, up_to(expected.at("refused_steps")));
  if (expected.contains("redrawn_steps")) {
    EXPECT_EQ(normals.used(Purpose::direction), up_to(expected["redrawn_steps"]));
  }
  if (expected.contains("dE")) {
    EXPECT_EQ(test::mismatch(dE, head(expected["dE"]), tol), "") << "dE";
  }
  if (expected.contains("eps_after")) {
    EXPECT_EQ(test::mismatch(eps_after, head(expected["eps_after"]), tol), "") << "eps_after";
  }

  if (!expected.contains("final")) return;
  const Json& final_state = expected["final"];
  ASSERT_EQ(test::unknown_keys(final_state, {"L", "g", "m", "s", "mu", "sigma"}), "");
  if (compared < steps) return;
  if (final_state.contains("L")) {
    EXPECT_EQ(test::mismatch(sampler.log_density(), test::number(final_state["L"]), tol), "") << "L";
  }
  if (final_state.contains("g")) {
    EXPECT_EQ(
        test::mismatch(test::plain(sampler.state().carried_gradient()), test::numbers(final_state["g"]), tol),
        "")
        << "g";
  }
  if (final_state.contains("mu")) {
    EXPECT_EQ(test::mismatch(sampler.tuner().mean(), final_state["mu"], tol), "") << "mu";
  }
  if (final_state.contains("sigma")) {
    EXPECT_EQ(test::mismatch(sampler.tuner().deviation(), final_state["sigma"], tol), "") << "sigma";
  }
  if (final_state.contains("s")) {
    auto preconditioner = sampler.state().preconditioner();
    std::vector<double> s = test::plain(preconditioner.variance());
    for (double& v : s) v = std::sqrt(v);
    EXPECT_EQ(test::mismatch(s, test::numbers(final_state["s"]), tol), "") << "s";
    if (final_state.contains("m")) {
      EXPECT_EQ(test::mismatch(test::plain(*preconditioner.mean()), test::numbers(final_state["m"]), tol), "")
          << "m";
    }
  }
}

class MicrocanonicalReplay : public testing::TestWithParam<const char*> {
 protected:
  template <class T>
  void replay_file() {
    const Json file = test::load_vectors(GetParam());
    ASSERT_EQ(test::unknown_keys(file, {"topic", "spec", "description", "tolerance", "A", "b", "theta0",
                                        "noise", "normals_for_explicit_noise", "cases"}),
              "");
    ASSERT_FALSE(file.at("cases").empty());
    for (const Json& test_case : file["cases"]) replay<T>(file, test_case);
  }
};
TEST_P(MicrocanonicalReplay, in_double_precision) {
  replay_file<double>();
}
TEST_P(MicrocanonicalReplay, in_single_precision) {
  replay_file<float>();
}
INSTANTIATE_TEST_SUITE_P(Vectors, MicrocanonicalReplay,
                         testing::Values("microcanonical_naive", "microcanonical_tuned",
                                         "microcanonical_resets", "compat_authors"),
                         [](const auto& topic) { return std::string(topic.param); });

}  // namespace
}  // namespace smile
