// SPDX-License-Identifier: Apache-2.0
/// What makes the models of smile/config/models.hpp that LibTorch computes, a row each.
#pragma once

#include <string_view>
#include <vector>

#include "smile/experiment/network_engine.hpp"
#include "torch_network.hpp"

namespace smile::deep {

struct TorchModel {
  std::string_view name;  ///< of a row of model_rows()
  /// What makes the module for data of this shape. A language model is also made without data.
  /// @throws Error for data that it cannot take
  TorchNetwork::Maker (*maker)(const Config& config, const NetworkData& data);
};
const std::vector<TorchModel>& torch_models();

}  // namespace smile::deep
