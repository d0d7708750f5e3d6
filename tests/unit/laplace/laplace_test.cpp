// SPDX-License-Identifier: Apache-2.0
// The Laplace approximation against closed forms: a linear model, where it is exact, and curvatures summed
// from finite differences.
#include "smile/laplace/laplace.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numeric>

#include "../network/fcn_problem.hpp"
#include "smile/error.hpp"
#include "smile/network/fcn_network.hpp"

namespace smile {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::FcnProblem;

constexpr std::size_t kRows = 40;

FcnNetwork network_of(const FcnProblem& problem) {
  const auto data = problem.data<float>(problem.rows);
  return {problem.spec, data, data, data};
}

std::shared_ptr<const Prior> prior_of(const FcnProblem& problem, double sd = 1) {
  return make_prior("Normal", {{"loc", 0.0}, {"scale", sd}}, problem.spec.layout());
}

/// Outputs of all rows at θ, in double. @shape [rows, outputs]
MatrixXd outputs(const FcnProblem& problem, const std::vector<double>& theta) {
  Fcn<double> fcn(problem.spec, problem.data<double>(problem.rows));
  HostVector<double> position(theta.size());
  std::copy(theta.begin(), theta.end(), position.data());
  std::vector<double> out(problem.rows * problem.spec.outputs());
  fcn.predict(*problem.data<double>(problem.rows), position, out);
  return Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      out.data(), Index(problem.rows), Index(problem.spec.outputs()));
}

/// Σ JᵀΛJ with J by central differences and Λ as textbooks have it.
MatrixXd curvature(const FcnProblem& problem) {
  const std::size_t d = problem.theta.size(), c = problem.spec.outputs();
  const MatrixXd f = outputs(problem, problem.theta);
  std::vector<MatrixXd> jacobian(problem.rows, MatrixXd(Index(c), Index(d)));
  for (std::size_t i = 0; i < d; ++i) {
    constexpr double kStep = 1e-6;
    auto up = problem.theta, down = problem.theta;
    up[i] += kStep, down[i] -= kStep;
    const MatrixXd slope = (outputs(problem, up) - outputs(problem, down)) / (2 * kStep);
    for (std::size_t n = 0; n < problem.rows; ++n)
      jacobian[n].col(Index(i)) = slope.row(Index(n)).transpose();
  }
  MatrixXd sum = MatrixXd::Zero(Index(d), Index(d));
  for (std::size_t n = 0; n < problem.rows; ++n) {
    MatrixXd lambda = MatrixXd::Zero(Index(c), Index(c));
    const VectorXd row = f.row(Index(n)).transpose();
    if (problem.spec.task == Task::mean_regression) {
      lambda(0, 0) = std::exp(-2 * problem.theta.back());
    } else if (problem.spec.task == Task::regression) {
      lambda(0, 0) = std::exp(-2 * row[1]), lambda(1, 1) = 2;
    } else {
      const VectorXd p = row.array().exp() / row.array().exp().sum();
      lambda = MatrixXd(p.asDiagonal()) - p * p.transpose();
    }
    sum += jacobian[n].transpose() * lambda * jacobian[n];
  }
  if (problem.spec.task == Task::mean_regression) sum(Index(d) - 1, Index(d) - 1) = 2 * double(problem.rows);
  return sum;
}

MatrixXd covariance_of(const LaplacePosterior& posterior, std::size_t d) {
  const std::vector<double> all = posterior.covariance();
  return Eigen::Map<const MatrixXd>(all.data(), Index(d), Index(d));
}

double largest_difference(const MatrixXd& a, const MatrixXd& b) {
  return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
}

class Laplace : public testing::TestWithParam<Task> {
 protected:
  FcnProblem problem_{test::fcn_spec(3, {4}, Activation::tanh, GetParam()), kRows, 5};
  std::size_t d() const { return problem_.theta.size(); }
  LaplacePosterior posterior(LaplaceForm form, double prior_sd = 0.7, double temperature = 1) {
    network_.emplace(network_of(problem_));
    return {*network_,
            problem_.spec.task,
            problem_.position<float>(),
            *prior_of(problem_, prior_sd),
            {},
            {form, LaplacePrior::configured, temperature},
            problem_.targets};
  }
  /// H of the form `full`.
  MatrixXd precision(double prior_sd = 0.7) const {
    return curvature(problem_) + MatrixXd::Identity(Index(d()), Index(d())) / (prior_sd * prior_sd);
  }
  std::optional<FcnNetwork> network_;
};

TEST_P(Laplace, FullIsTheInverseOfTheSummedCurvatureAndThePrior) {
  EXPECT_LT(largest_difference(covariance_of(posterior(LaplaceForm::full), d()), precision().inverse()),
            1e-6);
}

TEST_P(Laplace, ATemperatureScalesTheCovariance) {
  const MatrixXd cold = covariance_of(posterior(LaplaceForm::full, 0.7, 0.25), d());
  EXPECT_LT(largest_difference(cold, 0.25 * precision().inverse()), 1e-6);
}

TEST_P(Laplace, DiagonalKeepsTheDiagonal) {
  const MatrixXd expected = precision().diagonal().cwiseInverse().asDiagonal();
  EXPECT_LT(largest_difference(covariance_of(posterior(LaplaceForm::diagonal), d()), expected), 1e-6);
}

TEST_P(Laplace, LastLayerIsFullThereAndLeavesTheRest) {
  const std::size_t first = problem_.spec.layout().groups[2].offset, n = d() - first;
  const MatrixXd all = covariance_of(posterior(LaplaceForm::last_layer), d());
  EXPECT_EQ(all.topRows(Index(first)).cwiseAbs().maxCoeff(), 0);
  const MatrixXd block = precision().bottomRightCorner(Index(n), Index(n)).inverse();
  EXPECT_LT(largest_difference(all.bottomRightCorner(Index(n), Index(n)), block), 1e-6);
}

/// Of one row the product of the factors is the layer's curvature itself.
TEST_P(Laplace, KroneckerIsExactWithinLayersForOneRow) {
  problem_ = FcnProblem(problem_.spec, 1, 6);
  const MatrixXd all = covariance_of(posterior(LaplaceForm::kronecker), d()), h = precision();
  MatrixXd expected = MatrixXd::Zero(Index(d()), Index(d()));
  const auto groups = problem_.spec.layout().groups;
  for (std::size_t g = 0; g < groups.size(); g += 2) {
    const Index at = Index(groups[g].offset);
    const Index n = Index(groups[g].size() + (g + 1 < groups.size() ? groups[g + 1].size() : 0));
    expected.block(at, at, n, n) = h.block(at, at, n, n).inverse();
  }
  EXPECT_LT(largest_difference(all, expected), 1e-6);
}

/// A bound on a statistic of 5 standard errors: with all pairs of 30 parameters a false alarm in 4,000.
TEST_P(Laplace, DrawsHaveItsMoments) {
  for (const LaplaceForm form :
       {LaplaceForm::full, LaplaceForm::kronecker, LaplaceForm::diagonal, LaplaceForm::last_layer}) {
    const auto posterior = this->posterior(form);
    const MatrixXd covariance = covariance_of(posterior, d());
    constexpr std::size_t kDraws = 4000;
    HostVector<float> normals(d()), draw(d());
    MatrixXd sum = MatrixXd::Zero(Index(d()), Index(d()));
    for (std::size_t t = 0; t < kDraws; ++t) {
      fill_normals({3, 0, Purpose::noise}, t, normals.span());
      posterior.draw(normals, draw);
      VectorXd away(Index(d()), 1);
      for (std::size_t i = 0; i < d(); ++i)
        away[Index(i)] = double(draw[i]) - double(float(problem_.theta[i]));
      sum += away * away.transpose() / double(kDraws);
    }
    for (Index i = 0; i < sum.rows(); ++i)
      for (Index j = 0; j <= i; ++j) {
        const double error = std::sqrt(
            (covariance(i, i) * covariance(j, j) + covariance(i, j) * covariance(i, j)) / double(kDraws));
        EXPECT_LE(std::abs(sum(i, j) - covariance(i, j)), 5 * error + 1e-9)
            << name_of(form) << ' ' << i << ' ' << j;
      }
  }
}

TEST_P(Laplace, FrozenParametersHaveNoPart) {
  network_.emplace(network_of(problem_));
  std::vector<std::uint32_t> moving(d() - 4);
  std::iota(moving.begin(), moving.end(), 4U);
  ParameterLayout layout;
  layout.add("moving", {moving.size()}, ParameterKind::other);
  const auto prior = make_prior("Normal", {{"loc", 0.0}, {"scale", 0.7}}, layout);
  const LaplacePosterior posterior(*network_, problem_.spec.task, problem_.position<float>(), *prior, moving,
                                   {}, {});
  const Index n = Index(moving.size());
  EXPECT_LT(largest_difference(covariance_of(posterior, moving.size()),
                               precision().bottomRightCorner(n, n).inverse()),
            1e-6);
}

INSTANTIATE_TEST_SUITE_P(Tasks, Laplace, testing::ValuesIn(test::kAllTasks),
                         [](const auto& one) { return std::string(name_of(one.param)); });

/// y = x·w + b with noise σ: the posterior of (w, b) is the Gaussian that the approximation finds.
struct LinearModel {
  static constexpr double kSigma = 0.4, kPriorSd = 1.5;
  FcnProblem problem{test::fcn_spec(3, {}, Activation::identity, Task::mean_regression), kRows, 9};
  MatrixXd design{MatrixXd::Ones(Index(kRows), 4)};
  VectorXd y{Index(kRows)};
  MatrixXd precision;
  VectorXd mean;
  std::vector<std::uint32_t> moving{0, 1, 2, 3};
  ParameterLayout layout;

  LinearModel() {
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t k = 0; k < 3; ++k) design(Index(r), Index(k)) = problem.features[3 * r + k];
      y[Index(r)] = problem.targets[r];
    }
    precision =
        design.transpose() * design / (kSigma * kSigma) + MatrixXd::Identity(4, 4) / (kPriorSd * kPriorSd);
    mean = precision.inverse() * design.transpose() * y / (kSigma * kSigma);
    for (Index i = 0; i < 4; ++i) problem.theta[std::size_t(i)] = mean[i];
    problem.theta[4] = std::log(kSigma);
    layout.add("moving", {4}, ParameterKind::other);
  }
  LaplacePosterior posterior(const FcnNetwork& network, LaplacePrior prior = LaplacePrior::configured) const {
    return {network,
            Task::mean_regression,
            problem.position<float>(),
            *make_prior("Normal", {{"loc", 0.0}, {"scale", kPriorSd}}, layout),
            moving,
            {LaplaceForm::full, prior, 1},
            problem.targets};
  }
};

TEST(LaplaceOfALinearModel, IsThePosterior) {
  const LinearModel model;
  const FcnNetwork network = network_of(model.problem);
  EXPECT_LT(largest_difference(covariance_of(model.posterior(network), 4), model.precision.inverse()), 1e-6);
}

TEST(LaplaceOfALinearModel, PredictsAsThePosteriorDoes) {
  const LinearModel model;
  const FcnNetwork network = network_of(model.problem);
  std::vector<float> out;
  model.posterior(network).predict(Part::test, out);
  ASSERT_EQ(out.size(), 2 * kRows);
  for (std::size_t r = 0; r < kRows; ++r) {
    const VectorXd x = model.design.row(Index(r)).transpose();
    const double sd =
        std::sqrt(LinearModel::kSigma * LinearModel::kSigma + x.dot(model.precision.inverse() * x));
    EXPECT_NEAR(double(out[2 * r]), x.dot(model.mean), 1e-5);
    EXPECT_NEAR(double(out[2 * r + 1]), std::log(sd), 1e-5);
  }
}

/// log N(y; 0, σ² I + X P⁻¹ Xᵀ)
double evidence(const LinearModel& model, double factor) {
  const double prior_variance = LinearModel::kPriorSd * LinearModel::kPriorSd / factor;
  const MatrixXd covariance =
      MatrixXd::Identity(Index(kRows), Index(kRows)) * LinearModel::kSigma * LinearModel::kSigma +
      prior_variance * model.design * model.design.transpose();
  const Eigen::LLT<MatrixXd> root(covariance);
  const double log_det = 2 * MatrixXd(root.matrixL()).diagonal().array().log().sum();
  return -0.5 * (model.y.dot(root.solve(model.y)) + log_det + double(kRows) * std::log(2 * M_PI));
}

TEST(LaplaceOfALinearModel, HasItsMarginalLikelihood) {
  const LinearModel model;
  const FcnNetwork network = network_of(model.problem);
  EXPECT_NEAR(model.posterior(network).log_marginal_likelihood(), evidence(model, 1), 1e-3);
}

TEST(LaplaceOfALinearModel, ChoosesTheBestPriorPrecisionForItsMode) {
  const LinearModel model;
  const FcnNetwork network = network_of(model.problem);
  const auto best = model.posterior(network, LaplacePrior::marginal_likelihood);
  EXPECT_GT(best.log_marginal_likelihood(), model.posterior(network).log_marginal_likelihood());
  // At the optimum τ Σ z² = Σ λ/(λ + τ): MacKay's number of parameters that the data determine.
  const double tau = best.prior_factor(), unit = LinearModel::kPriorSd * LinearModel::kPriorSd;
  const MatrixXd data = unit * (model.precision - MatrixXd::Identity(4, 4) / unit);
  const VectorXd lambda = Eigen::SelfAdjointEigenSolver<MatrixXd>(data).eigenvalues();
  EXPECT_NEAR(tau * model.mean.squaredNorm() / unit, (lambda.array() / (lambda.array() + tau)).sum(), 1e-3);
}

TEST(LaplaceOfALinearModel, ChoosesThePriorByTheValidationRows) {
  const LinearModel model;
  const FcnNetwork network = network_of(model.problem);
  const auto score = [&](const LaplacePosterior& posterior) {
    std::vector<float> out;
    posterior.predict(Part::valid, out);
    double sum = 0;
    for (std::size_t r = 0; r < kRows; ++r) {
      const double log_sd = double(out[2 * r + 1]);
      const double z = (model.problem.targets[r] - double(out[2 * r])) * std::exp(-log_sd);
      sum -= 0.5 * z * z + log_sd;
    }
    return sum;
  };
  EXPECT_GE(score(model.posterior(network, LaplacePrior::validation)),
            score(model.posterior(network, LaplacePrior::marginal_likelihood)) - 1e-3);
}

TEST(LaplaceRefuses, WhatItCannotDo) {
  const FcnProblem large(test::fcn_spec(40, {60}, Activation::relu, Task::mean_regression), 5, 1);
  const FcnNetwork network = network_of(large);
  EXPECT_NE(laplace_problem(network, Task::mean_regression, {}, large.theta.size()).find("2000"),
            std::string::npos);
  EXPECT_EQ(
      laplace_problem(network, Task::mean_regression, {.form = LaplaceForm::kronecker}, large.theta.size()),
      "");
  EXPECT_NE(laplace_problem(network, Task::mean_regression, {.form = LaplaceForm::kronecker}, 10), "");
  EXPECT_NE(laplace_problem(network, Task::multilabel, {.form = LaplaceForm::diagonal}, large.theta.size()),
            "");
  const auto heavy = make_prior("Laplace", {{"loc", 0.0}, {"scale", 1.0}}, large.spec.layout());
  const auto around = [&](LaplaceOptions options, const Prior& prior) {
    return LaplacePosterior(network, Task::mean_regression, large.position<float>(), prior, {}, options, {});
  };
  EXPECT_THROW(around({.form = LaplaceForm::diagonal}, *heavy), Error);
  EXPECT_NO_THROW(around({LaplaceForm::diagonal, LaplacePrior::marginal_likelihood, 1}, *heavy));
  EXPECT_THROW(around({LaplaceForm::diagonal, LaplacePrior::validation, 1}, *prior_of(large)), Error);
  // Weights and biases of one layer with two priors.
  const auto glorot = make_prior("Glorot", {{"factor", 1.0}}, large.spec.layout());
  EXPECT_THROW(around({.form = LaplaceForm::kronecker}, *glorot), Error);
}

}  // namespace
}  // namespace smile
