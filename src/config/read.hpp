// SPDX-License-Identifier: Apache-2.0
/// From YAML to a Config that is not completed yet: types, ranges, names and spelling of single keys.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/schema.hpp"
#include "smile/config/config.hpp"

namespace YAML {
class Node;
}

namespace smile::schema {

/// The content of a file. Throws Error for a missing, unreadable, empty or huge file.
std::string read_text_file(const std::string& file);

/// Parses text into one document, turning the parser's complaints into Errors with file:line:column. The root
/// is a mapping.
YAML::Node parse_document(const std::string& text, const std::string& name);

/// A key met in the text.
struct Found {
  const Key* key;
  const YAML::Node* value;
  std::string place;  ///< "config.yaml:12"
};

/// Goes through a mapping. `leaf` is called for every key of the schema; `section` for a section that is no
/// mapping (returns whether it took care of it).
class Walker {
 public:
  explicit Walker(std::string name) : name_(std::move(name)) {}
  virtual ~Walker() = default;
  /// @param prefix  "" or "training.sampler"
  /// @param fixed_place  if not empty, stands for name:line in every message
  void walk(const YAML::Node& mapping, const std::string& prefix, const std::string& fixed_place = {});

 protected:
  virtual void leaf(const Key& key, const YAML::Node& value, const std::string& place) = 0;
  virtual bool section(const std::string& path, const YAML::Node& value, const std::string& place);
  /// Does the key take this value (or, in a search file, one of these values)? Used to suggest only what
  /// works.
  virtual bool takes(const Key& key, const YAML::Node& value) const = 0;

 private:
  [[noreturn]] void unknown_key(const YAML::Node& mapping, const std::string& prefix, const std::string& name,
                                const YAML::Node& value, const std::string& place) const;
  std::string name_;
};

/// Stores a value in its member. Throws Error with `place`: key, the value and what is allowed.
void assign(const Key& key, const YAML::Node& value, const std::string& place, Config& config);

/// A node as one line of YAML from which the same node is read back.
std::string flow_text(const YAML::Node& node);

/// Text for a message: control characters escaped, at most some 60 characters.
std::string shown(const std::string& text);

/// Edits (insert, delete, replace, swap neighbours) between two words, without regard to letter case, '_' and
/// '-'.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Fills in what follows from other keys, checks what concerns several keys, and collects the warnings.
void complete(Config& config);

}  // namespace smile::schema
