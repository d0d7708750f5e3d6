// SPDX-License-Identifier: Apache-2.0
/// A network over the parts of a data set, as the phases of an experiment see it, whatever computes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "smile/kernels/host_vector.hpp"
#include "smile/random/stream.hpp"
#include "smile/targets/batch_order.hpp"
#include "smile/targets/frozen.hpp"
#include "smile/targets/likelihood.hpp"
#include "smile/targets/parameters.hpp"

namespace smile {

struct OptimizerOptions;
class RowJacobians;

/// Parts of a data set.
enum class Part { train, valid, test };

/// Network outputs, with the workspace of one thread.
class Predictor {
 public:
  virtual ~Predictor() = default;
  /// Outputs of every point of a part, in order; not finite where `position` is not.
  /// @param position @shape [d]   @param outputs @shape [points(part), outputs()]
  virtual void predict(Part part, const HostVector<float>& position, std::span<float> outputs) = 0;
};

/// Trains one member: a position, its optimiser and the data, on one thread. The loop around it is
/// train_member().
class Trainer {
 public:
  virtual ~Trainer() = default;
  /// Takes this position and forgets the optimiser's moments. @param position @shape [d]
  virtual void start(const HostVector<float>& position) = 0;
  /// One update down the gradient of the batch's mean loss.
  /// @param rows    of the training part; empty: all   @param count  how many that are
  /// @param number  of the update, from 0: what is random in it is a function of it
  /// @return Σ log-likelihood of the batch before the update; not finite where it or its gradient is not, and
  ///         then nothing has moved
  virtual double update(std::span<const std::uint32_t> rows, std::size_t count, std::uint64_t number,
                        double learning_rate) = 0;
  /// Σ log-likelihood of a whole part.
  virtual double log_likelihood(Part part) = 0;
  /// Whether every parameter is a finite number.
  virtual bool finite() const = 0;
  /// @param position @shape [d], overwritten
  virtual void position(HostVector<float>& position) const = 0;
};

/// Immutable and shared between threads; what needs a workspace is made from it, one a thread.
class Network {
 public:
  virtual ~Network() = default;

  /// θ.
  virtual const ParameterLayout& layout() const = 0;
  /// Numbers for each point: 1 or 2 for regression, classes, or the vocabulary of a language model.
  virtual std::size_t outputs() const = 0;
  /// Observations of a part: rows, images, windows of text.
  virtual std::size_t rows(Part part) const = 0;
  /// What is predicted and scored: a row, an image, each token of a text.
  virtual std::size_t points(Part part) const { return rows(part); }
  /// Points of one row of a mini-batch: the tokens of a window of text, else 1.
  virtual std::size_t points_per_row() const { return 1; }

  /// What a user should know of it before a run, one line each.
  virtual std::vector<std::string> remarks() const { return {}; }

  /// Σ log p(y|x, θ) over a part; its rows are those that `batches` names.
  virtual std::unique_ptr<Likelihood<float>> likelihood(Part part) const = 0;
  /// The same as a function of the moving parameters alone, the frozen ones held at their values in `whole`.
  /// By default each evaluation copies the moving ones into a whole vector.
  virtual std::unique_ptr<Likelihood<float>> conditional_likelihood(
      Part part, std::shared_ptr<const FrozenParameters> frozen, const HostVector<float>& whole) const {
    return freeze(likelihood(part), std::move(frozen), whole);
  }
  virtual std::unique_ptr<Predictor> predictor() const = 0;
  /// Derivatives of the outputs at single points; null where the network has none.
  virtual std::unique_ptr<RowJacobians> row_jacobians() const;
  /// Memory of one thread's gradient with a mini-batch of so many rows, beside vectors of θ: activations.
  virtual std::size_t workspace_bytes(std::size_t) const { return 0; }
  /// Memory that is free on the device where the network computes; none where that is the host.
  virtual std::optional<double> free_device_bytes() const { return std::nullopt; }
  /// Mini-batches of the training part. Text has windows at random places instead of an order.
  virtual BatchOrder batches(std::size_t batch_size, BatchMode mode, StreamKey key) const {
    return BatchOrder(rows(Part::train), batch_size, mode, key);
  }
  /// The first position of a member: LeCun-normal weights, zero biases (spec 2.5).
  virtual void initialise(StreamKey key, HostVector<float>& position) const = 0;
  /// What trains a member where the network brings its own optimisers (a device, augmented images); null: the
  /// optimisers of the warm-start room on `likelihood`. The trainer has no position yet.
  virtual std::unique_ptr<Trainer> trainer(const OptimizerOptions&, StreamKey) const { return nullptr; }
};

}  // namespace smile
