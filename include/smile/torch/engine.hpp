// SPDX-License-Identifier: Apache-2.0
/// smile::torch as the engine of networks that the core has none for. Includes nothing of LibTorch.
#pragma once

namespace smile {

/// Registers LibTorch's networks (set_network_engine); call it once, before a configuration is read.
void use_torch_networks();

}  // namespace smile
