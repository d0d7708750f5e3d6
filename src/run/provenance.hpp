/// What made a run: program, machine, libraries.
#pragma once

#include <string>

namespace smile::provenance {

std::string version();
std::string host_name();
/// Lines "# …" for the head of a configuration file.
std::string comment();

}  // namespace smile::provenance
