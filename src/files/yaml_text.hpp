// SPDX-License-Identifier: Apache-2.0
/// A text as it stands in a YAML file, of a configuration or in an advice.
#pragma once

#include <string>
#include <string_view>

namespace smile::data {

/// Plain where YAML and the reader of configurations take the text for text, else in double quotes.
std::string yaml_text(std::string_view value);

}  // namespace smile::data
