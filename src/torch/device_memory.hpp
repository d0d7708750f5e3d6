// SPDX-License-Identifier: Apache-2.0
/// How much memory tensors take, and how much there is.
#pragma once

#include <torch/torch.h>

#include <cstddef>
#include <functional>

namespace smile::deep {

/// Largest sum of what `compute` has allocated on a device, from this thread, and not yet released.
std::size_t peak_allocation(torch::Device device, const std::function<void()>& compute);

/// Bytes that are free on a CUDA device. Without bound where the driver cannot be asked.
double free_memory(torch::Device device);

}  // namespace smile::deep
