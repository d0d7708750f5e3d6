// SPDX-License-Identifier: Apache-2.0
/// What one chain of the analytical benchmark adds to its grid point.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

namespace smile::analytic {

struct ChainOutcome {
  double bias = 0;       ///< b²; ∞ where the chain failed
  double authors = 0;    ///< b² with the authors' normaliser
  double effective = 0;  ///< the least effective draws of a θ_j²
  double move = 0;       ///< mean_t ‖θ_t − θ_{t−1}‖
  bool failed = false;
  std::uint64_t refused = 0, steps = 0;
  std::set<std::size_t> modes;
  std::vector<float> recorded;
};

}  // namespace smile::analytic
