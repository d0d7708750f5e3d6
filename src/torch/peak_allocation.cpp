#include "peak_allocation.hpp"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace smile::deep {
namespace {

/// LibTorch's allocator tells it of every allocation and release, as it would tell a profiler.
class Reporter final : public c10::MemoryReportingInfoBase {
 public:
  bool memoryProfilingEnabled() const override { return true; }
  // The totals were signed before LibTorch 2.0: one of the two overrides.
  void reportMemoryUsage(void*, std::int64_t bytes, std::int64_t, std::int64_t, c10::Device) { count(bytes); }
  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t, c10::Device) { count(bytes); }

  std::int64_t peak = 0;

 private:
  void count(std::int64_t bytes) { peak = std::max(peak, now_ += bytes); }
  std::int64_t now_ = 0;
};

}  // namespace

std::size_t peak_allocation(const std::function<void()>& compute) {
  const auto reporter = std::make_shared<Reporter>();
  {
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, reporter);
    compute();
  }
  return std::size_t(reporter->peak);
}

}  // namespace smile::deep
