// SPDX-License-Identifier: Apache-2.0
/// A chain's energy errors over time, from its monitor file.
#pragma once

#include <filesystem>
#include <vector>

#include "smile/diagnosis/energy_window.hpp"

namespace smile::experiment {

/// Empty where there is no file, or one of another form.
std::vector<EnergyWindow> energy_windows(const std::filesystem::path& run, std::uint32_t chain);

}  // namespace smile::experiment
