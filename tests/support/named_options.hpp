// SPDX-License-Identifier: Apache-2.0
/// Options of the samplers by their names in the vectors.
#pragma once

#include <stdexcept>
#include <string>

#include "smile/dynamics/splitting.hpp"

namespace smile::test {

inline Integrator integrator_named(const std::string& name) {
  if (name == "mclachlan") return Integrator::mclachlan;
  if (name == "velocity-verlet") return Integrator::velocity_verlet;
  if (name == "position-verlet") return Integrator::position_verlet;
  if (name == "three-stage" || name == "yoshida") return Integrator::three_stage;
  throw std::runtime_error("unknown integrator " + name);
}

}  // namespace smile::test
