// SPDX-License-Identifier: Apache-2.0
/// Palindromic splittings of a step into momentum updates (B) and position updates (A).
#pragma once

#include <string_view>
#include <vector>

#include "smile/named.hpp"

namespace smile {

enum class Integrator { mclachlan, velocity_verlet, position_verlet, three_stage };
template <>
struct Named<Integrator> {
  static constexpr Alternative<Integrator> all[] = {{Integrator::mclachlan, "mclachlan"},
                                                    {Integrator::velocity_verlet, "velocity-verlet"},
                                                    {Integrator::position_verlet, "position-verlet"},
                                                    {Integrator::three_stage, "three-stage", "", "yoshida"}};
};

struct Substep {
  enum Kind { momentum, position } kind;
  double fraction;  ///< of the step size
};

/// The sequence of one step.
/// @source Omelyan et al. 2002, 2003 (minimal norm); spec 1.5
inline const std::vector<Substep>& splitting(Integrator integrator) {
  constexpr auto A = Substep::position;
  constexpr auto B = Substep::momentum;
  constexpr double b = 0.1931833275037836;
  constexpr double b1 = 0.11888010966548, a1 = 0.29619504261126;
  static const std::vector<Substep> mclachlan{{B, b}, {A, 0.5}, {B, 1 - 2 * b}, {A, 0.5}, {B, b}};
  static const std::vector<Substep> velocity_verlet{{B, 0.5}, {A, 1}, {B, 0.5}};
  static const std::vector<Substep> position_verlet{{A, 0.5}, {B, 1}, {A, 0.5}};
  static const std::vector<Substep> three_stage{{B, b1},       {A, a1}, {B, 0.5 - b1}, {A, 1 - 2 * a1},
                                                {B, 0.5 - b1}, {A, a1}, {B, b1}};
  switch (integrator) {
    case Integrator::velocity_verlet:
      return velocity_verlet;
    case Integrator::position_verlet:
      return position_verlet;
    case Integrator::three_stage:
      return three_stage;
    case Integrator::mclachlan:
      break;
  }
  return mclachlan;
}

/// Whether the first substep is a momentum update, which takes the gradient carried from the step before; the
/// others have no use for one.
inline bool opens_with_momentum(Integrator integrator) {
  return splitting(integrator).front().kind == Substep::momentum;
}

/// Gradients that a step evaluates: one for every B but a first one, which takes the carried gradient.
inline int gradients_per_step(Integrator integrator) {
  switch (integrator) {
    case Integrator::velocity_verlet:
    case Integrator::position_verlet:
      return 1;
    case Integrator::three_stage:
      return 3;
    case Integrator::mclachlan:
      break;
  }
  return 2;
}

}  // namespace smile
