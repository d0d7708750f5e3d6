// SPDX-License-Identifier: Apache-2.0
/// From the configuration to the options of the rooms that read data and train networks.
#pragma once

#include <cstddef>

#include "smile/config/config.hpp"
#include "smile/data/dataset.hpp"
#include "smile/network/fcn.hpp"
#include "smile/warmstart/member.hpp"

namespace smile {

/// How a table is split, scaled and labelled; the seed is `rng`.
DatasetOptions dataset_options(const Config& config);
/// The network (`model:`) for that many features.
FcnSpec fcn_spec(const Config& config, std::size_t inputs);
/// How members are trained (`training.warmstart:`); the seed is `rng`.
MemberOptions member_options(const Config& config);

}  // namespace smile
