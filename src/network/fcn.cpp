// SPDX-License-Identifier: Apache-2.0
#include "smile/network/fcn.hpp"

#include <cassert>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "network/fcn_data.hpp"
#include "network/fcn_geometry.hpp"
#include "network/fcn_kernels.hpp"
#include "network/fcn_reference.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

/// Labels must be classes of the network: the kernels compare them with class numbers and would score a
/// stranger as certain.
template <class T>
void check_labels(const FcnSpec& spec, const typename FcnData<T>::Storage& data) {
  for (std::size_t r = 0; r < data.rows; ++r) {
    const double label = static_cast<double>(data.by_row[r * data.row_stride + data.inputs]);
    if (label < 0 || label != std::floor(label) || label >= static_cast<double>(spec.outputs()))
      throw Error(
          "data row " + std::to_string(r), "the label " + std::to_string(label) + " is not a class",
          "number the classes 0 to " + std::to_string(spec.outputs() - 1) + ", or widen the output layer");
  }
}

void check_inputs(std::size_t network, std::size_t data) {
  if (network != data)
    throw Error(
        "fully connected network",
        "it has " + std::to_string(network) + " inputs, the data " + std::to_string(data) + " features",
        "build the network for this data");
}

}  // namespace

template <class T>
struct Fcn<T>::Implementation {
  FcnSpec spec;
  ParameterLayout layout;
  FcnGeometry net;
  std::shared_ptr<const FcnData<T>> data;
  HostVector<float> workspace;  // float engine only

  double log_likelihood(std::span<const std::uint32_t> rows, const T* theta, T* gradient) {
    if constexpr (std::is_same_v<T, float>)
      return simd::log_likelihood(net, data->storage(), rows, theta, gradient, workspace.data());
    else
      return reference::log_likelihood(net, data->storage(), rows, theta, gradient);
  }
};

template <class T>
Fcn<T>::Fcn(FcnSpec spec, std::shared_ptr<const FcnData<T>> data)
    : implementation_(std::make_unique<Implementation>()) {
  spec.validate();
  check_inputs(spec.inputs, data->inputs());
  if (spec.task == Task::classification) check_labels<T>(spec, data->storage());
  Implementation& own = *implementation_;
  own.spec = std::move(spec);
  own.layout = own.spec.layout();
  own.net = fcn_geometry(own.spec);
  own.data = std::move(data);
  if constexpr (std::is_same_v<T, float>) own.workspace.resize(simd::workspace_size(own.net));
}

template <class T>
Fcn<T>::~Fcn() = default;

template <class T>
const FcnSpec& Fcn<T>::spec() const {
  return implementation_->spec;
}

template <class T>
const ParameterLayout& Fcn<T>::layout() const {
  return implementation_->layout;
}

template <class T>
std::size_t Fcn<T>::observations() const {
  return implementation_->data->rows();
}

template <class T>
double Fcn<T>::log_likelihood_and_gradient(std::span<const std::uint32_t> rows, const HostVector<T>& position,
                                           HostVector<T>& gradient) {
  assert(position.size() == implementation_->net.parameters && gradient.size() == position.size());
  return implementation_->log_likelihood(rows, position.data(), gradient.data());
}

template <class T>
double Fcn<T>::log_likelihood(std::span<const std::uint32_t> rows, const HostVector<T>& position) {
  assert(position.size() == implementation_->net.parameters);
  return implementation_->log_likelihood(rows, position.data(), nullptr);
}

template <class T>
void Fcn<T>::predict(const FcnData<T>& data, const HostVector<T>& position, std::span<T> outputs) {
  Implementation& own = *implementation_;
  check_inputs(own.spec.inputs, data.inputs());
  if (outputs.size() != data.rows() * own.net.outputs())
    throw Error("prediction",
                "room for " + std::to_string(outputs.size()) + " numbers where there are " +
                    std::to_string(data.rows()) + " rows of " + std::to_string(own.net.outputs()) +
                    " outputs",
                "give an array of rows × outputs");
  if constexpr (std::is_same_v<T, float>)
    simd::predict(own.net, data.storage(), position.data(), outputs.data(), own.workspace.data());
  else
    reference::predict(own.net, data.storage(), position.data(), outputs.data());
}

template class Fcn<float>;
template class Fcn<double>;

}  // namespace smile
