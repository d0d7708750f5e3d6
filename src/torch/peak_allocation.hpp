/// How much memory LibTorch's tensors take while something is computed.
#pragma once

#include <cstddef>
#include <functional>

namespace smile::deep {

/// Largest sum of what `compute` has allocated on the CPU, from this thread, and not yet released.
std::size_t peak_allocation(const std::function<void()>& compute);

}  // namespace smile::deep
