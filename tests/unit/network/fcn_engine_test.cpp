// SPDX-License-Identifier: Apache-2.0
// The fast single-precision engine against the plain double form: every row count, awkward widths, every
// activation and task, each instruction set; and what must never happen at its edges.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "network/fcn_kernels.hpp"
#include "smile/instruction_set.hpp"
#include "unit/network/fcn_problem.hpp"

namespace smile {
namespace {

using test::fcn_spec;
using test::FcnProblem;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Relative L2 error of the gradient of a network and batch of ordinary size (the performance goals' bound).
constexpr double kGradientTolerance = 5e-7;
/// In the sweeps rows may cancel, and a row's residual may be small beside its target: there the error of the
/// gradient is compared with the L2 norm of Σ|row gradient|, and that of the value with Σ|row value| + number
/// of rows.
constexpr double kSweepTolerance = 2e-6;

/// Runs the body once for each instruction set of this machine.
template <class Body>
void for_each_instruction_set(Body body) {
  for (const std::string& set : available_instruction_sets()) {
    SCOPED_TRACE(set);
    force_instruction_set(set);
    ASSERT_EQ(set, instruction_set());
    body(set);
  }
  force_instruction_set("");
}

std::vector<std::uint32_t> first_rows(std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

double norm(const std::vector<double>& v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}
double error(const HostVector<float>& actual, const std::vector<double>& exact) {
  std::vector<double> difference(exact);
  for (std::size_t i = 0; i < exact.size(); ++i) difference[i] -= static_cast<double>(actual[i]);
  return norm(difference);
}

/// Exact value and gradient of the first n rows for n = 1, 2, …, by adding one row after the other.
struct Exact {
  Fcn<double> network;
  HostVector<double> theta, row_gradient;
  std::vector<double> gradient, gradient_magnitude;
  double value = 0, magnitude = 0;
  std::uint32_t next = 0;

  explicit Exact(const FcnProblem& p)
      : network(p.spec, p.data<double>(p.rows)),
        theta(p.position<double>()),
        row_gradient(theta.size()),
        gradient(theta.size()),
        gradient_magnitude(theta.size()) {}
  void add_row() {
    const double row = network.log_likelihood_and_gradient(std::span(&next, 1), theta, row_gradient);
    value += row;
    magnitude += std::fabs(row);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] += row_gradient[i];
      gradient_magnitude[i] += std::fabs(row_gradient[i]);
    }
    ++next;
  }
};

/// Compares both batch forms at row counts 1, 1 + step, … with the plain form.
void sweep(const FcnSpec& spec, std::size_t largest, std::size_t step, std::uint64_t seed) {
  const FcnProblem p(spec, largest, seed);
  Exact exact(p);
  Fcn<float> batches(spec, p.data<float>(largest));
  const HostVector<float> theta = p.position<float>();
  HostVector<float> gradient(theta.size(), kNaN);
  const auto rows = first_rows(largest);
  for (std::size_t n = 1; n <= largest; ++n) {
    exact.add_row();
    if ((n - 1) % step != 0) continue;
    Fcn<float> full(spec, p.data<float>(n));
    for (const bool as_batch : {true, false}) {
      Fcn<float>& network = as_batch ? batches : full;
      const auto chosen = as_batch ? std::span(rows).first(n) : std::span<const std::uint32_t>{};
      const double value = network.log_likelihood_and_gradient(chosen, theta, gradient);
      ASSERT_NEAR(value, exact.value, kSweepTolerance * (exact.magnitude + static_cast<double>(n)))
          << n << " rows, batch " << as_batch;
      ASSERT_LE(error(gradient, exact.gradient), kSweepTolerance * norm(exact.gradient_magnitude))
          << n << " rows, batch " << as_batch;
      ASSERT_EQ(value, network.log_likelihood(chosen, theta));
      for (std::size_t i = gradient.size(); i < gradient.padded_size(); ++i)
        ASSERT_EQ(0.0F, gradient.data()[i]);
    }
  }
}

TEST(FcnEngine, every_row_count_activation_and_task_matches_the_plain_form) {
  for_each_instruction_set([](const std::string& set) {
    const std::size_t step = set == "baseline" ? 37 : 1;
    for (const Activation activation : test::kAllActivations)
      for (const Task task : test::kAllTasks) {
        SCOPED_TRACE(static_cast<int>(activation) * 10 + static_cast<int>(task));
        sweep(fcn_spec(3, {7, 17}, activation, task), 600, step, 11);
      }
  });
}

TEST(FcnEngine, awkward_widths_and_missing_biases_match_the_plain_form) {
  const std::vector<std::vector<std::size_t>> shapes = {
      {1, 1}, {1, 3, 1}, {3}, {7, 100}, {17, 3, 100, 7}, {15, 6, 6}, {16, 12, 1}, {100, 17}, {31, 13}};
  for_each_instruction_set([&](const std::string& set) {
    for (const auto& shape : shapes)
      for (const bool bias : {true, false})
        for (const Task task : test::kAllTasks) {
          SCOPED_TRACE(testing::PrintToString(shape) + (bias ? "" : " without biases"));
          sweep(fcn_spec(shape[0], {shape.begin() + 1, shape.end()}, Activation::gelu, task, bias), 300,
                set == "baseline" ? 101 : 23, 12);
        }
  });
}

TEST(FcnEngine, gradient_of_the_standard_network_keeps_the_promised_accuracy) {
  for_each_instruction_set([](const std::string& set) {
    for (const Activation activation : test::kAllActivations)
      for (const Task task : test::kAllTasks) {
        SCOPED_TRACE(static_cast<int>(activation) * 10 + static_cast<int>(task));
        const std::size_t rows = set == "baseline" ? 256 : 3000;
        // The baseline may have one lane only and then adds all rows of a tile up one after another.
        const double tolerance = set == "baseline" ? 2 * kGradientTolerance : kGradientTolerance;
        const FcnProblem p(fcn_spec(12, {16, 16, 16}, activation, task), rows, 18);
        Fcn<float> fast(p.spec, p.data<float>(rows));
        Fcn<double> plain(p.spec, p.data<double>(rows));
        HostVector<float> gradient(p.theta.size());
        HostVector<double> exact(p.theta.size());
        for (const std::size_t count : {256UL, rows}) {
          const auto chosen = first_rows(count);
          fast.log_likelihood_and_gradient(chosen, p.position<float>(), gradient);
          plain.log_likelihood_and_gradient(chosen, p.position<double>(), exact);
          const std::vector<double> exact_gradient(exact.span().begin(), exact.span().end());
          EXPECT_LE(error(gradient, exact_gradient), tolerance * norm(exact_gradient));
        }
      }
  });
}

TEST(FcnEngine, prediction_is_the_forward_pass) {
  for_each_instruction_set([](const std::string&) {
    for (const Activation activation : test::kAllActivations)
      for (const std::size_t width : {1UL, 2UL, 4UL, 11UL})
        for (const std::size_t rows : {1UL, 63UL, 256UL, 257UL, 1030UL}) {
          FcnSpec spec =
              fcn_spec(5, {17, 3}, activation, width == 1 ? Task::mean_regression : Task::classification);
          spec.widths.back() = width;
          const FcnProblem p(spec, rows, 13);
          const std::size_t outputs = width;
          Fcn<float> fast(p.spec, p.data<float>(0));  // a network without data of its own can predict
          Fcn<double> plain(p.spec, p.data<double>(0));
          std::vector<float> predicted(rows * outputs);
          std::vector<double> exact(rows * outputs);
          fast.predict(*p.data<float>(rows), p.position<float>(), predicted);
          plain.predict(*p.data<double>(rows), p.position<double>(), exact);
          for (std::size_t i = 0; i < exact.size(); ++i)
            ASSERT_NEAR(static_cast<double>(predicted[i]), exact[i], 3e-6);
        }
  });
}

TEST(FcnEngine, result_is_the_same_for_any_alignment_and_repetition) {
  const FcnProblem p(fcn_spec(4, {9, 5}, Activation::tanh, Task::regression), 77, 14);
  const auto net_position = p.position<float>();
  const std::size_t d = net_position.size();
  const auto data = p.data<float>(77);
  Fcn<float> network(p.spec, data);
  HostVector<float> expected(d), again(d);
  const auto rows = first_rows(77);
  const double value = network.log_likelihood_and_gradient(rows, net_position, expected);
  EXPECT_EQ(value, network.log_likelihood_and_gradient(rows, net_position, again));
  EXPECT_TRUE(std::equal(expected.data(), expected.data() + d, again.data()));
  const FcnGeometry geometry = fcn_geometry(p.spec);
  HostVector<float> workspace(simd::workspace_size(geometry)), theta(d + 16), gradient(d + 16);
  for (std::size_t shift = 0; shift < 16; ++shift) {
    std::copy_n(net_position.data(), d, theta.data() + shift);
    EXPECT_EQ(value, simd::log_likelihood(geometry, data->storage(), rows, theta.data() + shift,
                                          gradient.data() + shift, workspace.data()));
    EXPECT_TRUE(std::equal(expected.data(), expected.data() + d, gradient.data() + shift)) << shift;
  }
}

TEST(FcnEngine, repeated_and_unordered_rows_count_as_given) {
  const FcnProblem p(fcn_spec(4, {9}, Activation::relu, Task::mean_regression), 50, 15);
  const std::vector<std::uint32_t> rows = {49, 3, 3, 0, 17, 49, 49};
  Fcn<float> fast(p.spec, p.data<float>(50));
  Fcn<double> plain(p.spec, p.data<double>(50));
  HostVector<float> gradient(p.theta.size());
  HostVector<double> exact(p.theta.size());
  const double value = fast.log_likelihood_and_gradient(rows, p.position<float>(), gradient);
  EXPECT_NEAR(value, plain.log_likelihood_and_gradient(rows, p.position<double>(), exact), 1e-5);
  const std::vector<double> exact_gradient(exact.span().begin(), exact.span().end());
  EXPECT_LE(error(gradient, exact_gradient), kSweepTolerance * norm(exact_gradient));
}

TEST(FcnEngine, any_non_finite_parameter_shows_in_value_and_gradient) {
  for_each_instruction_set([](const std::string&) {
    for (const Activation activation : test::kAllActivations)
      for (const Task task : test::kAllTasks) {
        const FcnProblem p(fcn_spec(3, {5, 4}, activation, task), 30, 16);
        const auto data = p.data<float>(30);
        Fcn<float> network(p.spec, data);
        Fcn<double> plain(p.spec, p.data<double>(30));
        HostVector<float> gradient(p.theta.size());
        HostVector<double> exact(p.theta.size());
        for (const float bad : {kInf, -kInf, kNaN})
          for (std::size_t i = 0; i < p.theta.size(); ++i) {
            HostVector<float> theta = p.position<float>();
            theta[i] = bad;
            ASSERT_FALSE(std::isfinite(network.log_likelihood_and_gradient({}, theta, gradient))) << i;
            ASSERT_FALSE(std::isfinite(gradient[0]));
            ASSERT_FALSE(std::isfinite(network.log_likelihood({}, theta)));
            std::vector<float> outputs(30 * p.spec.outputs());
            network.predict(*data, theta, outputs);
            ASSERT_TRUE(std::isnan(outputs[0]));
            HostVector<double> wide = p.position<double>();
            wide[i] = static_cast<double>(bad);
            ASSERT_FALSE(std::isfinite(plain.log_likelihood_and_gradient({}, wide, exact))) << i;
          }
      }
  });
}

TEST(FcnEngine, an_overflow_inside_the_network_is_not_hidden) {
  // Finite parameters whose second layer meets ∞ − ∞.
  for_each_instruction_set([](const std::string&) {
    for (const Activation activation :
         {Activation::identity, Activation::relu, Activation::leaky_relu, Activation::gelu})
      for (const Task task : test::kAllTasks) {
        const FcnSpec spec = fcn_spec(1, {2, 2}, activation, task);
        const std::vector<double> one = {1};
        Fcn<float> network(spec, std::make_shared<const FcnData<float>>(1, 1, one, one));
        HostVector<float> theta(network.layout().size()), gradient(theta.size());
        for (const ParameterGroup& group : network.layout().groups)
          if (group.kind == ParameterKind::weight)
            for (std::size_t i = 0; i < group.size(); ++i)
              theta[group.offset + i] = group.name == "layer0.weight" ? 3e38F : i % 2 ? -1e5F : 1e5F;
        EXPECT_FALSE(std::isfinite(network.log_likelihood_and_gradient({}, theta, gradient)));
      }
  });
}

TEST(FcnEngine, filler_rows_never_contribute) {
  // A row of zeros would overflow in this network; the real rows, all 1, do not.
  for_each_instruction_set([](const std::string&) {
    const FcnSpec spec = fcn_spec(1, {1, 1}, Activation::identity, Task::mean_regression);
    const std::vector<double> ones(70, 1.0);
    Fcn<float> full(spec, std::make_shared<const FcnData<float>>(70, 1, ones, ones));
    HostVector<float> theta(7), gradient(7);
    theta[0] = -3e38F;
    theta[1] = 3e38F;
    theta[2] = 10;
    theta[4] = 1;
    const auto rows = first_rows(70);
    for (const auto chosen : {std::span<const std::uint32_t>{}, std::span<const std::uint32_t>(rows)}) {
      const double value = full.log_likelihood_and_gradient(chosen, theta, gradient);
      EXPECT_NEAR(value, -70 * (0.5 + 0.9189385332046727), 1e-5);
      for (std::size_t i = 0; i < theta.size(); ++i) EXPECT_TRUE(std::isfinite(gradient[i])) << i;
      EXPECT_FLOAT_EQ(gradient[5], 70.0F);  // bias of the output: Σ (y − m)/σ²
    }
  });
}

TEST(FcnEngine, no_rows_score_nothing) {
  const FcnProblem p(fcn_spec(2, {3}, Activation::relu, Task::mean_regression), 1, 17);
  Fcn<float> network(p.spec, p.data<float>(0));
  HostVector<float> gradient(p.theta.size(), 1.0F);
  EXPECT_EQ(0.0, network.log_likelihood_and_gradient({}, p.position<float>(), gradient));
  for (float g : gradient.span()) EXPECT_EQ(0.0F, g);
  std::vector<float> nothing;
  network.predict(*p.data<float>(0), p.position<float>(), nothing);
}

}  // namespace
}  // namespace smile
