#include "smile/experiment/network_engine.hpp"

#include <utility>

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

void set_network_engine(std::unique_ptr<const NetworkEngine> engine) {
  slot() = std::move(engine);
}

}  // namespace smile
