// SPDX-License-Identifier: Apache-2.0
/// Whether a sampler samples the posterior: models whose parameters and data are drawn from their own law
/// (simulation-based calibration), and linear models whose moments are known. The samplers are made as a
/// configuration makes them, with their own batches, in single precision.
/// @source Talts et al. 2018; spec 06, 6.6
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "smile/config/config.hpp"
#include "smile/targets/posterior.hpp"

namespace smile::test {

/// A data set drawn at parameters that were drawn from the prior.
struct Problem {
  std::shared_ptr<MinibatchPosterior<float>> posterior, whole;  ///< mini-batches; all rows
  std::vector<double> truth;                                    ///< θ, @shape [d]
  /// What is looked at, of a position; names of the quantities are the model's.
  std::function<std::vector<double>(const HostVector<float>&)> quantities;
  std::vector<double> mean, variance;  ///< of the quantities where they are known, else empty
};

struct CalibrationModel {
  std::string name;
  std::size_t rows, batch_size;     ///< N, B
  std::vector<std::string> groups;  ///< of the quantities, in order: those of one name are pooled
  std::function<Problem(const SamplerConfig&, std::uint64_t replication)> draw;
};

/// y = xᵀw + b + σ z with N(0, 1) priors on w, b and log σ. x has six columns of normals, one of zeros (its
/// weight has no data), one a tenth of a normal. Quantities: all parameters, whose exact moments are known by
/// quadrature over log σ.
CalibrationModel linear_regression(std::size_t rows, std::size_t batch_size);
/// Two classes, six columns of normals, N(0, 1) priors. Quantities: differences of the two classes' weights.
CalibrationModel logistic_regression(std::size_t rows, std::size_t batch_size);
/// A 4-4-1 tanh network of three inputs with unknown σ. Quantities: its values at eight points, and log σ.
CalibrationModel small_network(std::size_t rows, std::size_t batch_size);

/// The `training.sampler` section of a configuration, for a model. @param sampler  YAML of keys, one a line
SamplerConfig sampler_config(const std::string& sampler, const CalibrationModel& model);

struct Group {
  std::string name;
  double worst = 1, mean = 0;  ///< rank variance over that of a uniform: farthest from 1, and mean
};
struct Calibration {
  std::vector<Group> groups;
  double chi2_per_df = 0;  ///< of ten equal classes of ranks, all quantities together
  double standard_error;   ///< of one rank variance
};
/// Chains from θ, whose ranks among their own draws are uniform where the sampler samples the posterior: rank
/// variance below 1 says too wide, above 1 too narrow.
/// @param steps  of the sampling phase; 50 draws are kept
Calibration simulation_based_calibration(const CalibrationModel& model, const std::string& sampler,
                                         int replications, std::uint64_t warmup, std::uint64_t steps);

struct Temperature {
  std::string name;
  double value, standard_error;  ///< mean over the data sets of E(x − μ)²/variance
  double thermometer;            ///< what temperature_of() of the run's monitor says, which knows no truth
};
/// Of the groups of a model whose moments are known; 1 where the sampler is right.
std::vector<Temperature> temperatures(const CalibrationModel& model, const std::string& sampler,
                                      int data_sets, std::uint64_t warmup, std::uint64_t steps);

}  // namespace smile::test
