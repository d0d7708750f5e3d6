// SPDX-License-Identifier: Apache-2.0
/// Configurations: what is read is written out completely and read again to the same.
#include "fuzz.hpp"
#include "smile/config/config.hpp"

SMILE_FUZZ(input) {
  smile::fuzz::read_or_refuse([&] {
    const smile::Config config = smile::parse_config(std::string(input), "config.yaml");
    if (!(smile::parse_config(smile::to_yaml(config), "again.yaml") == config)) std::abort();
  });
}
