// SPDX-License-Identifier: Apache-2.0
/// What the program can be asked, as data: the manual page and the completion of shells are written from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace smile::program {

struct ManualOption {
  std::string names;               ///< "-q, --quiet"; of a positional argument what stands for it
  std::vector<std::string> words;  ///< "-q", "--quiet"; none: a positional argument
  std::string value;               ///< "N"; empty: a flag
  std::string text;
  bool takes_key = false;  ///< a key of the configuration and its value
};
struct ManualCommand {
  std::string name, text;
  std::vector<ManualOption> options;
  std::vector<ManualCommand> below;
};

/// The whole program, as its parser has it.
ManualCommand manual_of(const CLI::App& program);

/// roff, of section 1.
std::string man_page(const ManualCommand& program);

struct Shell {
  std::string_view name, use;  ///< how it is used, a line
  std::string (*write)(const ManualCommand& program);
};
const std::vector<Shell>& shells();

}  // namespace smile::program
