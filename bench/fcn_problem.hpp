// SPDX-License-Identifier: Apache-2.0
/// A network with data of the shape of the paper's largest tabular set, and the check that its gradient is
/// right.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "smile/network/fcn.hpp"

namespace smile::bench {

struct FcnProblem {
  FcnSpec spec;
  std::size_t rows = 0;
  std::vector<double> features, targets;
  HostVector<float> theta;
  std::vector<std::uint32_t> batches;  ///< random row numbers, kBatches batches of kBatchRows
  std::shared_ptr<const FcnData<float>> data;
  std::shared_ptr<const FcnData<double>> exact_data;

  static constexpr std::size_t kBatchRows = 256;
  static constexpr std::size_t kBatches = 64;
  std::span<const std::uint32_t> batch(std::size_t i) const {
    return std::span(batches).subspan(i % kBatches * kBatchRows, kBatchRows);
  }
  double multiply_adds() const {
    double total = 0;
    std::size_t inputs = spec.inputs;
    for (std::size_t outputs : spec.widths) {
      total += static_cast<double>(inputs * outputs);
      inputs = outputs;
    }
    return total;
  }
};

inline FcnProblem fcn_problem(FcnSpec spec, std::size_t rows) {
  FcnProblem p;
  p.spec = std::move(spec);
  p.rows = rows;
  Stream stream({.seed = 1, .chain = 0, .purpose = Purpose::diagnostics});
  for (std::size_t r = 0; r < rows; ++r) {
    double y = 0;
    for (std::size_t i = 0; i < p.spec.inputs; ++i) {
      p.features.push_back(stream.normal());
      y += std::sin(p.features.back()) * (static_cast<double>(i % 3) - 1);
    }
    y += 0.1 * stream.normal();
    if (p.spec.task == Task::classification) y = stream.below(static_cast<std::uint32_t>(p.spec.outputs()));
    p.targets.push_back(y);
  }
  lecun_initialise(p.spec.layout(), {.seed = 2, .chain = 0, .purpose = Purpose::initialisation}, p.theta);
  if (p.spec.task == Task::mean_regression) p.theta[p.theta.size() - 1] = -0.3F;
  for (std::size_t i = 0; i < FcnProblem::kBatchRows * FcnProblem::kBatches; ++i)
    p.batches.push_back(stream.below(static_cast<std::uint32_t>(rows)));
  p.data = std::make_shared<const FcnData<float>>(rows, p.spec.inputs, p.features, p.targets);
  p.exact_data = std::make_shared<const FcnData<double>>(rows, p.spec.inputs, p.features, p.targets);
  return p;
}

/// Relative L2 distance of the gradient over `rows` (all where empty) to the double form's.
inline double gradient_error(const FcnProblem& p, std::span<const std::uint32_t> rows) {
  Fcn<float> fast(p.spec, p.data);
  Fcn<double> plain(p.spec, p.exact_data);
  HostVector<double> theta(p.theta.size()), exact(p.theta.size());
  HostVector<float> gradient(p.theta.size());
  for (std::size_t i = 0; i < theta.size(); ++i) theta[i] = static_cast<double>(p.theta[i]);
  fast.log_likelihood_and_gradient(rows, p.theta, gradient);
  plain.log_likelihood_and_gradient(rows, theta, exact);
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < theta.size(); ++i) {
    difference += std::pow(static_cast<double>(gradient[i]) - exact[i], 2);
    norm += exact[i] * exact[i];
  }
  return std::sqrt(difference / norm);
}

}  // namespace smile::bench
