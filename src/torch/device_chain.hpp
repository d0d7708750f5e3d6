// SPDX-License-Identifier: Apache-2.0
/// A chain whose position, velocity, gradients and preconditioner live on a device.
#pragma once

#include <cstdint>
#include <memory>

#include "smile/config/config.hpp"
#include "smile/config/sampler_factory.hpp"
#include "smile/ensemble/ensemble_runner.hpp"
#include "smile/targets/priors.hpp"
#include "torch_network.hpp"

namespace smile::deep {

/// To the runner of ensembles it looks like a chain on the host: the position is fetched only where it is
/// stored or looked at.
/// @param frozen  null: every parameter moves   @param member  whole; of use where some are frozen
ChainSetup make_device_chain(const SamplerConfig& config, const TorchNetwork& network,
                             const FrozenParameters* frozen, const HostVector<float>& member,
                             std::shared_ptr<const Prior> prior, const RunLengths& lengths,
                             std::uint64_t seed, std::uint32_t chain);

}  // namespace smile::deep
