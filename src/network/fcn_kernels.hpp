// SPDX-License-Identifier: Apache-2.0
/// The network's fast form: single precision, forward and backward fused over tiles of rows, one text for
/// AVX-512, AVX2 and the baseline, chosen at run time (smile/instruction_set.hpp).
/// @accuracy gradient within 5e−7 (relative L2; baseline 1e−6) of the double form where rows do not cancel;
/// the value's terms are summed in double
#pragma once

#include <cstdint>
#include <span>

#include "network/fcn_data.hpp"
#include "network/fcn_geometry.hpp"

namespace smile::simd {

/// Floats that `log_likelihood` and `predict` need as scratch; aligned to 64 bytes.
std::size_t workspace_size(const FcnGeometry& net);

/// Summed log-likelihood of `rows` (all where empty); its gradient too where `gradient` isn't null.
/// A non-finite entry of θ makes the value and the whole gradient NaN, also where the network would hide it.
/// @param theta, gradient  @shape [net.parameters], any alignment
double log_likelihood(const FcnGeometry& net, const FcnData<float>::Storage& data,
                      std::span<const std::uint32_t> rows, const float* theta, float* gradient,
                      float* workspace);

/// Network outputs of all rows, @shape [rows, outputs] row-major; all NaN where θ has a non-finite entry.
void predict(const FcnGeometry& net, const FcnData<float>::Storage& data, const float* theta, float* outputs,
             float* workspace);

}  // namespace smile::simd
