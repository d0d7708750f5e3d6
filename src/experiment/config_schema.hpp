/// The schema of the configuration: one table of keys, from which the reader, the writer, the checks, the
/// warnings and the reference in docs/configuration.md all follow.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "smile/experiment/config.hpp"

namespace smile::schema {

/// Where a key's value lives in a Config; its type is the key's type.
template <class T>
using At = T* (*)(Config&);
using Slot =
    std::variant<At<bool>, At<std::int64_t>, At<double>, At<std::string>, At<std::optional<bool>>,
                 At<std::optional<std::int64_t>>, At<std::optional<double>>, At<std::optional<std::string>>,
                 At<std::vector<std::string>>, At<std::vector<std::int64_t>>, At<std::vector<double>>,
                 At<std::optional<std::vector<std::string>>>>;

/// Bounds of a number, or of every element of a list of numbers.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool without_low = false, without_high = false;
  bool infinity_allowed = false;
};

/// One alternative of a key that names things.
struct Choice {
  std::string_view name;
  std::string_view doc = {};
  bool available = true;
  std::vector<std::string_view> aliases = {};  ///< other accepted spellings; letter case never matters
  bool torch = false;                          ///< needs LibTorch (smile::torch)
};
using Choices = std::vector<Choice>;
/// Whether this build has it, LibTorch considered.
bool is_available(const Choice& choice);

/// When a key has an effect.
struct Condition {
  std::string_view text;  ///< "psgld"; empty: always
  bool (*holds)(const Config&);
};

struct Key {
  std::string_view path;
  Slot slot;
  std::string_view doc;
  Condition when{"", [](const Config&) { return true; }};
  Range range = {};
  Choices choices = {};
  std::string_view null_word = {};  ///< what stands for "no value" beside null, e.g. "auto"
  std::string_view authors = {};    ///< value under `compat: authors`, as YAML text
  bool required = false;
};

/// All keys, sections together, in the order in which they are written.
const std::vector<Key>& keys();
/// The key of that path, or null.
const Key* find_key(std::string_view path);
/// True for "training.sampler" and the like.
bool is_section(std::string_view path);
/// The path that an alternative path stands for, or the path itself.
std::string canonical_path(std::string_view path);

/// The value as YAML text; it is read back as the same value.
std::string value_text(const Key& key, const Config& config);
/// True where the value is null.
bool is_null(const Key& key, const Config& config);
bool is_list(const Key& key);
/// Names of the alternatives that this build has, each between backticks.
/// @param all_builds  also those that only a build with LibTorch has (for the reference)
std::string choices_text(const Choices& choices, bool all_builds = false);
/// What the key allows, as words: "an integer ≥ 1", "one of `a`, `b`".
std::string allowed_text(const Key& key, bool all_builds = false);

const Choices& sampler_choices();
const Choices& model_choices();
const Choices& prior_choices();
const Choices& evaluation_choices();

}  // namespace smile::schema
