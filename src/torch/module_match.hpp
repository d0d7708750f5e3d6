// SPDX-License-Identifier: Apache-2.0
/// Whether the tensors of a file are those of a network.
#pragma once

#include <string>
#include <vector>

#include "smile/targets/parameters.hpp"
#include "smile/torch/flat_network.hpp"

namespace smile::deep {

/// A line for each tensor that is missing, too many, of another shape or of another type than single
/// precision: "fc.weight is [5, 8] where [8, 5] is wanted". Empty where all agree.
/// @param layout  of the network, without log σ
/// @param subset  missing tensors and those that are too many are no differences, as long as one is shared
std::vector<std::string> module_differences(const std::vector<ParameterGroup>& layout,
                                            const TorchModule& module, bool subset = false);

}  // namespace smile::deep
