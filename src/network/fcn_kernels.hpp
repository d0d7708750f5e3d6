/// The network's fast form: single precision, forward and backward fused over tiles of rows, one text for
/// AVX-512, AVX2 and the baseline, chosen at run time (SMILE_SIMD=avx3|avx2|baseline forces one).
/// @accuracy gradient within 5e−7 (relative L2) of the double form; scalars of the value are summed in double
#pragma once

#include <cstdint>
#include <span>
#include <string>

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

/// Name of the instruction set in use: "avx3" (AVX-512), "avx2" or "baseline".
std::string instruction_set();
/// Forces one of them for the whole process, until the next call; "" goes back to the best that the processor
/// has. Throws Error for an unknown name or one that this processor or build lacks.
void force_instruction_set(const std::string& name);

}  // namespace smile::simd
