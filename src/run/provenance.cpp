// SPDX-License-Identifier: Apache-2.0
#include "run/provenance.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <boost/version.hpp>
#include "smile/instruction_set.hpp"

namespace smile::provenance {

std::string version() {
  return SMILE_VERSION;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown";
  return name.data();
}

std::string build() {
  return fmt::format("smile {}, {}", version(), instruction_set());
}

std::string comment() {
  // The instruction set is named because results are the same bits only on the same one.
  return fmt::format(
      "# Completed configuration of a run of smile {}.\n"
      "# Host: {}; instruction set: {}; compiler: {}; fmt {}.{}.{}, Boost {}\n",
      version(), host_name(), instruction_set(), __VERSION__, FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
      FMT_VERSION % 100, BOOST_LIB_VERSION);
}

}  // namespace smile::provenance
