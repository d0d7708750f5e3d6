// SPDX-License-Identifier: Apache-2.0
#include "smile/experiment/network_engine.hpp"

#include <utility>

#include "smile/config/models.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

std::unique_ptr<const NetworkEngine>& slot() {
  static std::unique_ptr<const NetworkEngine> engine;
  return engine;
}

}  // namespace

const NetworkEngine* network_engine() {
  return slot().get();
}

const NetworkEngine* require_network_engine(const std::string& where, const std::string& what) {
  if (network_engine() == nullptr)
    throw Error(where, what + " is not available in this build", "configure with -DSMILE_WITH_TORCH=ON");
  return network_engine();
}

void set_network_engine(std::unique_ptr<const NetworkEngine> engine) {
  set_torch_is_here(engine != nullptr);
  slot() = std::move(engine);
}

}  // namespace smile
