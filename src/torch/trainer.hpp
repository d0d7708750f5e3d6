// SPDX-License-Identifier: Apache-2.0
/// Training of members with LibTorch's optimisers.
#pragma once

#include <memory>

#include "smile/warmstart/optimizer.hpp"
#include "torch_network.hpp"

namespace smile::deep {

/// @param key  of the augmentation's random numbers
/// @return null where LibTorch has no such optimiser
std::unique_ptr<Trainer> make_trainer(const TorchNetwork& network, const OptimizerOptions& options,
                                      StreamKey key, bool augment);

}  // namespace smile::deep
