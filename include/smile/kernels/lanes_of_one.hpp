// SPDX-License-Identifier: Apache-2.0
/// Words with which a text speaks of one chain or of many at once. A Scalar holds a number of every chain and
/// a Mask a truth value of every chain; with one chain they are double and bool, and these are the functions
/// for them. Bundles of chains have their own, found by their argument types.
#pragma once

#include <cmath>

namespace smile {

inline double select(bool condition, double yes, double no) {
  return condition ? yes : no;
}
inline bool select(bool condition, bool yes, bool no) {
  return condition ? yes : no;
}
/// a/√x.
inline double over_root(double a, double x) {
  return a / std::sqrt(x);
}
/// Whether it holds for some chain, or for every one.
inline bool any(bool condition) {
  return condition;
}
inline bool all(bool condition) {
  return condition;
}

/// The Mask that belongs to a Scalar.
template <class Scalar>
struct MaskOf {
  using type = typename Scalar::Mask;
};
template <>
struct MaskOf<double> {
  using type = bool;
};
template <class Vector>
using Mask = typename MaskOf<typename Vector::Scalar>::type;

}  // namespace smile
