// SPDX-License-Identifier: Apache-2.0
/// The native fully connected network: value, gradient and prediction, fused over tiles of rows, without
/// LibTorch.
/// @source spec 2.1, 2.3; layout: per layer the weight [out, in] row by row, then the bias [out]; `mean_regr`
/// has
///         log σ as the last entry of θ
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "smile/random/stream.hpp"
#include "smile/targets/likelihood.hpp"

namespace smile {

enum class Activation { relu, tanh, sigmoid, gelu, leaky_relu, identity };
template <>
struct Named<Activation> {
  static constexpr Alternative<Activation> all[] = {{Activation::relu, "relu"},
                                                    {Activation::tanh, "tanh"},
                                                    {Activation::sigmoid, "sigmoid"},
                                                    {Activation::gelu, "gelu"},
                                                    {Activation::leaky_relu, "leaky_relu"},
                                                    {Activation::identity, "identity"}};
};

/// Shape of a network. `widths` are the dense layers' output widths; the last one is the network's output
/// width. The activation follows every layer but the last.
struct FcnSpec {
  std::size_t inputs = 0;
  std::vector<std::size_t> widths;
  Activation activation = Activation::relu;
  bool bias = true;
  Task task = Task::mean_regression;

  std::size_t outputs() const { return widths.back(); }
  /// Throws Error for an empty network, a zero width or an output width that the task does not allow
  /// (1 for mean_regression, 2 for regression, ≥ 2 for classification).
  void validate() const;
  /// Names "layer0.weight", "layer0.bias", …, "log_sigma".
  ParameterLayout layout() const;
};

/// Rows prepared for the kernels, immutable and shared between chains. Holds both forms: rows padded to 64
/// bytes with the target inside (mini-batches), and tiles [tile][feature][rows] (full batch).
template <class T>
class FcnData {
 public:
  /// @param features @shape [rows, inputs] row-major   @param targets @shape [rows]; labels 0..C−1 as numbers
  /// for
  ///        classification. Copies (and converts) its arguments. Zero rows are allowed.
  /// Throws Error where the sizes don't fit or a value isn't finite (in T), with its row and column.
  FcnData(std::size_t rows, std::size_t inputs, std::span<const double> features,
          std::span<const double> targets);
  /// The same row by row, so that the rows need not lie in memory a second time.
  /// @param read  called once for each row in order; fills in its features (@shape [inputs]) and returns its
  ///        target
  FcnData(std::size_t rows, std::size_t inputs,
          const std::function<double(std::size_t row, std::span<double> features)>& read);
  ~FcnData();
  FcnData(FcnData&&) noexcept;
  FcnData& operator=(FcnData&&) noexcept;
  std::size_t rows() const;
  std::size_t inputs() const;

  struct Storage;
  const Storage& storage() const { return *storage_; }

 private:
  std::unique_ptr<Storage> storage_;
};

/// The network on a data set, with the workspace of one thread.
template <class T>
class Fcn final : public Likelihood<T> {
 public:
  /// Throws Error where the spec is invalid, the data's inputs differ from the spec's, or a label of a
  /// classification is not one of its classes.
  Fcn(FcnSpec spec, std::shared_ptr<const FcnData<T>> data);
  ~Fcn() override;

  const FcnSpec& spec() const;
  const ParameterLayout& layout() const override;
  std::size_t observations() const override;
  double log_likelihood_and_gradient(std::span<const std::uint32_t> rows, const HostVector<T>& position,
                                     HostVector<T>& gradient) override;
  double log_likelihood(std::span<const std::uint32_t> rows, const HostVector<T>& position) override;

  /// Network outputs of all rows of `data`; all NaN where `position` has a non-finite entry.
  /// @param outputs @shape [rows, outputs] row-major
  void predict(const FcnData<T>& data, const HostVector<T>& position, std::span<T> outputs);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// LeCun-normal weights (variance 1/fan_in), zero biases, zero log σ (spec 2.5).
template <class T>
void lecun_initialise(const ParameterLayout& layout, StreamKey key, HostVector<T>& position);

}  // namespace smile
