// SPDX-License-Identifier: Apache-2.0
#include "smile/instruction_set.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "smile/error.hpp"

namespace smile {
namespace {

std::string name_of(std::int64_t target) {
#if HWY_ARCH_X86
  switch (target) {
    case HWY_AVX3:
      return "avx3";
    case HWY_AVX2:
      return "avx2";
    case HWY_STATIC_TARGET:
      return "baseline";
    default:
      break;
  }
#endif
  std::string name = hwy::TargetName(target);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return name;
}

/// Targets that were compiled and that the machine has, best (lowest bit) first.
std::vector<std::int64_t> usable_targets() {
  std::vector<std::int64_t> targets;
  std::int64_t left = (hwy::SupportedTargets() & HWY_TARGETS) | HWY_STATIC_TARGET;
  while (left != 0) {
    targets.push_back(left & -left);
    left &= left - 1;
  }
  return targets;
}

/// What the machine could run if nothing were forced.
const std::vector<std::int64_t>& machine_targets() {
  static const std::vector<std::int64_t> targets = usable_targets();
  return targets;
}

void force(std::string_view name, const std::string& where) {
  const auto& targets = machine_targets();
  if (name.empty()) {
    hwy::DisableTargets(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    return;
  }
  for (std::int64_t target : targets) {
    if (name_of(target) != name) continue;
    // Lower bits are better targets.
    hwy::DisableTargets(target - 1);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    return;
  }
  std::string known;
  for (std::int64_t target : targets) known += (known.empty() ? "" : ", ") + name_of(target);
  throw Error(where, "this machine has no instruction set '" + std::string(name) + "'",
              "use one of " + known);
}

}  // namespace

std::string instruction_set() {
  apply_simd_environment();
  return name_of(usable_targets().front());
}

std::vector<std::string> available_instruction_sets() {
  std::vector<std::string> names;
  for (std::int64_t target : machine_targets()) names.push_back(name_of(target));
  return names;
}

void force_instruction_set(std::string_view name) {
  apply_simd_environment();
  force(name, "instruction set");
}

void apply_simd_environment() {
  static const bool applied = [] {
    machine_targets();
    if (const char* name = std::getenv("SMILE_SIMD"); name && *name) force(name, "SMILE_SIMD");
    return true;
  }();
  (void)applied;
}

}  // namespace smile
