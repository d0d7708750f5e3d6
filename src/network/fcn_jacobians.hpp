// SPDX-License-Identifier: Apache-2.0
/// Derivatives of the native network's outputs, a row at a time in double.
#pragma once

#include <memory>

#include "smile/network/fcn_network.hpp"
#include "smile/network/row_jacobians.hpp"

namespace smile {

std::unique_ptr<RowJacobians> fcn_jacobians(const FcnSpec& spec, const FcnNetwork::Data parts[3]);

}  // namespace smile
