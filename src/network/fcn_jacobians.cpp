// SPDX-License-Identifier: Apache-2.0
#include "network/fcn_jacobians.hpp"

#include <algorithm>

#include "network/fcn_data.hpp"
#include "network/fcn_geometry.hpp"
#include "network/fcn_reference.hpp"

namespace smile {
namespace {

class FcnJacobians final : public RowJacobians {
 public:
  FcnJacobians(const FcnSpec& spec, const FcnNetwork::Data parts[3])
      : parts_{parts[0], parts[1], parts[2]}, net_(fcn_geometry(spec)), features_(net_.inputs()) {
    for (const FcnGeometry::Layer& layer : net_.layers)
      layers_.push_back({layer.weight, layer.bias, net_.has_bias, std::vector<double>(layer.inputs),
                         std::vector<double>(net_.outputs() * layer.outputs)});
  }

  void start(const HostVector<float>& position) override {
    theta_.assign(position.span().begin(), position.span().end());
  }

  void at(Part part, std::size_t point, std::span<double> outputs, std::span<double> jacobian) override {
    const auto& data = parts_[int(part)]->storage();
    const float* row = data.by_row.data() + point * data.row_stride;
    std::copy_n(row, features_.size(), features_.begin());
    reference::forward(net_, features_.data(), theta_.data(), trace_);
    std::copy(trace_.values.back().begin(), trace_.values.back().end(), outputs.begin());
    std::fill(jacobian.begin(), jacobian.end(), 0.0);
    for (std::size_t l = 0; l < layers_.size(); ++l) layers_[l].inputs = trace_.values[l];
    for (std::size_t c = 0; c < outputs.size(); ++c) {
      std::vector<double> delta(outputs.size(), 0);
      delta[c] = 1;
      const auto keep = [&](std::size_t l, const std::vector<double>& of_layer) {
        std::copy(of_layer.begin(), of_layer.end(),
                  layers_[l].deltas.begin() + std::ptrdiff_t(c * of_layer.size()));
      };
      reference::backward(net_, theta_.data(), trace_, std::move(delta),
                          jacobian.data() + c * net_.parameters, keep);
    }
  }
  std::span<const DenseTrace> layers() const override { return layers_; }

 private:
  FcnNetwork::Data parts_[3];
  FcnGeometry net_;
  std::vector<double> theta_, features_;
  reference::Trace trace_;
  std::vector<DenseTrace> layers_;
};

}  // namespace

std::unique_ptr<RowJacobians> fcn_jacobians(const FcnSpec& spec, const FcnNetwork::Data parts[3]) {
  return std::make_unique<FcnJacobians>(spec, parts);
}

}  // namespace smile
