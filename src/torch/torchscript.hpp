// SPDX-License-Identifier: Apache-2.0
/// Networks from TorchScript files.
#pragma once

#include <string>

#include "smile/torch/flat_network.hpp"

namespace smile::deep {

/// @throws Error for a file that is missing or no TorchScript, and for a module with batch-dependent state
///         (batch normalisation in training mode, active dropout), naming the layer
TorchModule load_torchscript(const std::string& path);

}  // namespace smile::deep
