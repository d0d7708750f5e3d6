// SPDX-License-Identifier: Apache-2.0
#include "smile/kernels/host_vector.hpp"

#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace smile {

void* allocate_vector_memory(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20, kAlignment = 128;
  const bool huge = bytes >= 2 * kHugePage;
  const std::size_t alignment = huge ? kHugePage : kAlignment;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (!memory) throw std::bad_alloc();
#if defined(__linux__)
  // Advice only: without huge pages the vector works as well, just slower.
  if (huge) madvise(memory, rounded, MADV_HUGEPAGE);
#endif
  return memory;
}

}  // namespace smile
