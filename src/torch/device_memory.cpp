// SPDX-License-Identifier: Apache-2.0
#include "device_memory.hpp"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

namespace smile::deep {
namespace {

/// LibTorch's allocators tell it of every allocation and release, as they would tell a profiler.
class Reporter final : public c10::MemoryReportingInfoBase {
 public:
  explicit Reporter(c10::DeviceType device) : device_(device) {}
  bool memoryProfilingEnabled() const override { return true; }
  // The totals were signed before LibTorch 2.0: one of the two overrides.
  void reportMemoryUsage(void*, std::int64_t bytes, std::int64_t, std::int64_t, c10::Device device) {
    count(bytes, device);
  }
  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t, c10::Device device) {
    count(bytes, device);
  }

  std::int64_t peak = 0;

 private:
  void count(std::int64_t bytes, c10::Device device) {
    if (device.type() == device_) peak = std::max(peak, now_ += bytes);
  }
  c10::DeviceType device_;
  std::int64_t now_ = 0;
};

}  // namespace

std::size_t peak_allocation(torch::Device device, const std::function<void()>& compute) {
  const auto reporter = std::make_shared<Reporter>(device.type());
  {
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, reporter);
    compute();
  }
  return std::size_t(reporter->peak);
}

double free_memory(torch::Device device) {
  if (!device.is_cuda()) return std::numeric_limits<double>::infinity();
  // Of the CUDA runtime that LibTorch has loaded: a build without CUDA has neither its headers nor its
  // library.
  using MemGetInfo = int (*)(std::size_t*, std::size_t*);
  const auto ask = reinterpret_cast<MemGetInfo>(::dlsym(RTLD_DEFAULT, "cudaMemGetInfo"));
  std::size_t free = 0, total = 0;
  if (ask == nullptr || ask(&free, &total) != 0) return std::numeric_limits<double>::infinity();
  return double(free);
}

}  // namespace smile::deep
