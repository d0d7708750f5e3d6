// SPDX-License-Identifier: Apache-2.0
/// The vector forms of the passes, one table of functions for each group and element type. A source file
/// beside this one holds a group, compiled once for every instruction set; the table getters choose at run
/// time.
#pragma once

#include "smile/kernels/passes.hpp"

namespace smile::kernels::simd {

template <class T>
struct MomentumTable {
  decltype(&kernels::reduce<T>) reduce;
  decltype(&kernels::kick<T>) kick;
  decltype(&kernels::drift<T>) drift;
  decltype(&kernels::kick_drift<T>) kick_drift;
};

template <class T>
struct PreconditionerTable {
  decltype(&kernels::absorb<T>) absorb;
  decltype(&kernels::normalise<T>) normalise;
  decltype(&kernels::close_and_open<T>) close_and_open;
};

template <class T>
struct ClosingTable {
  decltype(&kernels::reduce_closing<T>) reduce_closing;
};

template <class T>
struct VectorTable {
  decltype(&kernels::refresh<T>) refresh;
  decltype(&kernels::add_normals<T>) add_normals;
  decltype(&kernels::unit_direction<T>) unit_direction;
  decltype(&kernels::examine<T>) examine;
  decltype(&kernels::clip<T>) clip;
  decltype(&kernels::all_finite<T>) all_finite;
  decltype(&kernels::norm2<T>) norm2;
};

template <class T>
struct BaselineTable {
  decltype(&kernels::add_scaled<T>) add_scaled;
  decltype(&kernels::psgld_update<T>) psgld_update;
  decltype(&kernels::momentum_update<T>) momentum_update;
  decltype(&kernels::adapt_scale<T>) adapt_scale;
  decltype(&kernels::adapt_rms<T>) adapt_rms;
  decltype(&kernels::scaled_momentum_update<T>) scaled_momentum_update;
};

/// Each is defined for float and double.
template <class T>
const MomentumTable<T>& momentum();
template <class T>
const PreconditionerTable<T>& preconditioner();
template <class T>
const ClosingTable<T>& closing();
template <class T>
const VectorTable<T>& vectors();
template <class T>
const BaselineTable<T>& baselines();

}  // namespace smile::kernels::simd
