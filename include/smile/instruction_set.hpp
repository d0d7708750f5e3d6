// SPDX-License-Identifier: Apache-2.0
/// Which instruction set the vector code uses. The best one of the machine is chosen by itself; the
/// environment variable SMILE_SIMD, or a call here, forces another, for tests and for comparing machines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smile {

/// Name of the one in use: "avx3" (AVX-512), "avx2", "baseline", or Highway's own name on another
/// architecture.
std::string instruction_set();

/// Those that this machine can run, best first.
std::vector<std::string> available_instruction_sets();

/// Forces one for the whole process; "" goes back to the best. Not while another thread computes.
/// Throws Error for a name that this machine cannot run.
void force_instruction_set(std::string_view name);

/// Honours SMILE_SIMD; the vector code calls it before it first chooses. Throws Error for a name that this
/// machine cannot run.
void apply_simd_environment();

}  // namespace smile
