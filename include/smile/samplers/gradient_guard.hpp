// SPDX-License-Identifier: Apache-2.0
/// Looks at a gradient before it is used: finiteness first, then entries are clipped (spec 1.5).
#pragma once

#include "smile/kernels/passes.hpp"
#include "smile/named.hpp"

namespace smile {

enum class NonFinitePolicy {
  divergence,  ///< the step is refused
  authors,     ///< NaN entries count as 0, infinite ones are clipped like any other (spec 1.12)
};
template <>
struct Named<NonFinitePolicy> {
  static constexpr Alternative<NonFinitePolicy> all[] = {{NonFinitePolicy::divergence, "divergence"},
                                                         {NonFinitePolicy::authors, "authors"}};
};

struct GradientGuard {
  double clip = 1e6;
  NonFinitePolicy policy = NonFinitePolicy::divergence;

  /// Clips in place where needed. Returns false for a chain whose gradient cannot be used.
  /// @param seen  finiteness and largest entry, from a pass that has read the gradient
  /// @param changed  set to whether entries were changed, so that sums of the old ones must be taken anew
  template <class Vector>
  Mask<Vector> admit(Vector& gradient, const MomentumSumsOf<typename Vector::Scalar>& seen,
                     bool& changed) const {
    changed = false;
    const bool mend = policy == NonFinitePolicy::authors;
    const Mask<Vector> usable = mend ? Mask<Vector>{true} : seen.finite;
    if (any(usable) && any(!seen.finite || seen.largest > clip)) {
      kernels::clip(gradient, clip, mend);
      changed = true;
    }
    return usable;
  }

  /// The same with a pass of its own.
  template <class Vector>
  Mask<Vector> admit(Vector& gradient) const {
    bool changed = false;
    return admit(gradient, kernels::examine(gradient), changed);
  }
};

}  // namespace smile
