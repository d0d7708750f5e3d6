// SPDX-License-Identifier: Apache-2.0
#include "smile/network/network.hpp"

#include "smile/network/row_jacobians.hpp"

namespace smile {

std::unique_ptr<RowJacobians> Network::row_jacobians() const {
  return nullptr;
}

}  // namespace smile
