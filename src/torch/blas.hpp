// SPDX-License-Identifier: Apache-2.0
/// What multiplies LibTorch's matrices, where that is OpenBLAS.
#pragma once

namespace smile::deep {

/// OpenBLAS computes on the calling thread alone: LibTorch's own setting does not reach it.
void use_blas_on_one_thread();

/// Whether several threads may multiply matrices at the same time. Not with an OpenBLAS that was built
/// without threads (Debian's libopenblas0-serial): its buffers are not locked, and now and then a product is
/// wrong.
bool is_blas_thread_safe();

}  // namespace smile::deep
