// SPDX-License-Identifier: Apache-2.0
/// What made a run: program, machine, libraries.
#pragma once

#include <string>

namespace smile::provenance {

std::string version();
std::string host_name();
/// "smile 0.1.0, AVX2": chains of equal builds have equal bits.
std::string build();
/// Lines "# …" for the head of a configuration file.
std::string comment();

}  // namespace smile::provenance
