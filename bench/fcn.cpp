// SPDX-License-Identifier: Apache-2.0
// Gradient and prediction of the native network: checked against the double form, then timed.
#include <fmt/format.h>

#include <cstdio>

#include "fcn_problem.hpp"
#include "fcn_timing.hpp"

namespace {

using namespace smile;
using bench::Candidate;
using bench::FcnProblem;

constexpr std::size_t kRows = 12165;
constexpr double kLargestError = 5e-7;

struct Network {
  std::string name;
  FcnSpec spec;
};

FcnSpec shape(std::size_t inputs, std::vector<std::size_t> widths, Activation activation, Task task) {
  FcnSpec spec;
  spec.inputs = inputs;
  spec.widths = std::move(widths);
  spec.activation = activation;
  spec.task = task;
  return spec;
}

/// What one network's timings share; lives as long as the candidates that point to it.
struct Running {
  FcnProblem problem;
  Fcn<float> network;
  HostVector<float> gradient;
  std::vector<float> outputs;
  std::size_t turn = 0;
  explicit Running(FcnProblem p)
      : problem(std::move(p)),
        network(problem.spec, problem.data),
        gradient(problem.theta.size()),
        outputs(problem.rows * problem.spec.outputs()) {}
};

}  // namespace

int main(int argc, char** argv) {
  const Task mean = Task::mean_regression;
  const std::vector<Network> networks = {
      {"12-16-16-16-1 relu", shape(12, {16, 16, 16, 1}, Activation::relu, mean)},
      {"12-16-16-16-1 tanh", shape(12, {16, 16, 16, 1}, Activation::tanh, mean)},
      {"12-16-16-16-1 sigmoid", shape(12, {16, 16, 16, 1}, Activation::sigmoid, mean)},
      {"12-16-16-16-1 gelu", shape(12, {16, 16, 16, 1}, Activation::gelu, mean)},
      {"12-16-16-16-1 leaky_relu", shape(12, {16, 16, 16, 1}, Activation::leaky_relu, mean)},
      {"12-16-16-16-2 relu regr", shape(12, {16, 16, 16, 2}, Activation::relu, Task::regression)},
      {"12-16-16-16-10 relu class", shape(12, {16, 16, 16, 10}, Activation::relu, Task::classification)},
      {"8-50-1 relu", shape(8, {50, 1}, Activation::relu, mean)},
      {"20-64-64-64-1 relu", shape(20, {64, 64, 64, 1}, Activation::relu, mean)},
      {"12-256-256-1 relu", shape(12, {256, 256, 1}, Activation::relu, mean)},
  };
  bench::Report report(argc, argv);
  std::vector<std::unique_ptr<Running>> running;
  std::vector<Candidate> candidates;
  bool right = true;
  for (const Network& named : networks) {
    running.push_back(std::make_unique<Running>(bench::fcn_problem(named.spec, kRows)));
    Running* r = running.back().get();
    for (const bool full : {false, true}) {
      const auto rows = full ? std::span<const std::uint32_t>{} : r->problem.batch(0);
      const double error = bench::gradient_error(r->problem, rows);
      right = right && error <= kLargestError;
      const std::string size = full ? ", 12165 rows" : ", 256 rows";
      report.number("gradient error " + named.name + size, error, "<= 5e-7");
      candidates.push_back({named.name + size,
                            [r, full] {
                              r->network.log_likelihood_and_gradient(
                                  full ? std::span<const std::uint32_t>{} : r->problem.batch(r->turn++),
                                  r->problem.theta, r->gradient);
                            },
                            6 * r->problem.multiply_adds() * static_cast<double>(full ? kRows : 256)});
    }
    candidates.push_back({named.name + ", prediction",
                          [r] { r->network.predict(*r->problem.data, r->problem.theta, r->outputs); },
                          2 * r->problem.multiply_adds() * static_cast<double>(kRows)});
  }
  if (!right) {
    fmt::print(stderr, "a gradient is wrong; nothing was timed\n");
    return 1;
  }
  bench::run_rounds(candidates, 25, 0.002);
  for (const Candidate& candidate : candidates) report.candidate(candidate);
  for (std::size_t i : {1, 2, 3, 4})
    for (std::size_t form : {0, 1})
      report.number(candidates[3 * i + form].name + " / relu",
                    bench::paired_ratio(candidates[3 * i + form], candidates[form]),
                    i == 1   ? "<= 1.5"
                    : i == 3 ? "<= 1.9"
                             : "");
  return report.finish() ? 0 : 1;
}
