// SPDX-License-Identifier: Apache-2.0
/// Copies of a network with its hidden units in another order: other points of the parameter space, the same
/// function (`permutation_warmstart`).
/// @source spec 2.5
#pragma once

#include <cstdint>

#include "smile/kernels/host_vector.hpp"
#include "smile/network/fcn.hpp"

namespace smile {

/// Reorders the units of every hidden layer by a permutation of its own, drawn from
/// (seed, chain = copy, Purpose::permutation, step = layer). Inputs, outputs and log σ stay in place.
/// The outputs are those of `position` up to the rounding of sums in another order.
/// @param position @shape [d]   @return @shape [d]
/// @throws Error where the position is not of the network's size
template <class T>
HostVector<T> permute_hidden_units(const FcnSpec& spec, const HostVector<T>& position, std::uint64_t seed,
                                   std::uint32_t copy);

}  // namespace smile
