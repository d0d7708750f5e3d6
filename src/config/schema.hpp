// SPDX-License-Identifier: Apache-2.0
/// The schema of the configuration: one table of keys, from which the reader, the writer, the checks, the
/// warnings and the reference in docs/configuration.md all follow.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "smile/config/config.hpp"
#include "smile/named.hpp"

namespace smile::schema {

/// Where a key's value lives in a Config; its type is the key's type.
template <class T>
using At = std::function<T*(Config&)>;

/// A member that is one of some named alternatives, or a list of them, seen through its names.
struct NamedMember {
  bool list = false;
  std::function<std::vector<std::string_view>(const Config&)> names;
  /// @param names  canonical spellings; one where it is no list
  std::function<void(Config&, const std::vector<std::string_view>& names)> set;
};
using Slot =
    std::variant<At<bool>, At<std::int64_t>, At<std::uint64_t>, At<double>, At<std::string>,
                 At<std::optional<bool>>, At<std::optional<std::int64_t>>, At<std::optional<std::uint64_t>>,
                 At<std::optional<double>>, At<std::optional<std::string>>, At<std::vector<std::string>>,
                 At<std::vector<std::int64_t>>, At<std::vector<double>>,
                 At<std::optional<std::vector<std::string>>>, NamedMember>;

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
/// All alternatives of an enumeration with names.
template <class E>
Choices choices_of() {
  Choices choices;
  for (const Alternative<E>& one : Named<E>::all)
    choices.push_back({one.name, one.doc, true,
                       one.alias.empty() ? std::vector<std::string_view>{} : std::vector{one.alias},
                       one.torch});
  return choices;
}
/// Whether this build has it, LibTorch considered.
bool is_available(const Choice& choice);

/// When a key has an effect.
struct Condition {
  std::string text;  ///< "psgld"; empty: always
  std::function<bool(const Config&)> holds;
};

/// The slot of a member, and the alternatives where its type has names.
struct Member {
  Slot slot;
  Choices choices = {};

  Member() = default;
  template <class T>
  Member(T* (*at)(Config&)) : slot(At<T>(at)) {}  // NOLINT: a member stands for itself
  template <class T>
  Member(At<T> at) : slot(std::move(at)) {}  // NOLINT
  /// An enumeration with names.
  template <class E>
  requires std::is_enum_v<E> Member(E* (*at)(Config&))  // NOLINT
      : slot(NamedMember{false, [at](const Config& c) { return std::vector{name_of(*value(at, c))}; },
                         [at](Config& c, const auto& names) { *at(c) = *parse_name<E>(names.front()); }}),
        choices(choices_of<E>()) {}
  /// A list of them.
  template <class E>
  requires std::is_enum_v<E> Member(std::vector<E>* (*at)(Config&))  // NOLINT
      : slot(NamedMember{true,
                         [at](const Config& c) {
                           std::vector<std::string_view> names;
                           for (const E one : *value(at, c)) names.push_back(name_of(one));
                           return names;
                         },
                         [at](Config& c, const auto& names) {
                           at(c)->clear();
                           for (const std::string_view name : names) at(c)->push_back(*parse_name<E>(name));
                         }}),
        choices(choices_of<E>()) {}
  /// A truth value whose two sides have names, in the order in which they are listed.
  using Side = std::pair<bool, std::string_view>;
  Member(bool* (*at)(Config&), Side first, Side second)
      : slot(NamedMember{false,
                         [=](const Config& c) {
                           return std::vector{*value(at, c) == first.first ? first.second : second.second};
                         },
                         [=](Config& c, const auto& names) {
                           *at(c) = names.front() == first.second ? first.first : second.first;
                         }}),
        choices{{first.second}, {second.second}} {}

  /// The same with more alternatives, which this program knows by name only and refuses.
  Member and_unavailable(std::initializer_list<std::string_view> names) && {
    for (const std::string_view name : names) choices.push_back({name, "", false});
    return std::move(*this);
  }
  /// One such, with a line for lists.
  Member and_unavailable(std::string_view name, std::string_view doc) && {
    choices.push_back({name, doc, false});
    return std::move(*this);
  }

 private:
  template <class T>
  static const T* value(T* (*at)(Config&), const Config& config) {
    return at(const_cast<Config&>(config));  // The slot only hands out the address.
  }
};

/// Whether a key names a place on one machine: parts of a run on other machines may name it otherwise.
enum class NamesPlace { no, input, output };

struct Key {
  std::string_view path;
  Member member;
  std::string_view doc;
  Condition when{"", [](const Config&) { return true; }};
  Range range = {};
  Choices choices = {};             ///< of a text; those of an enumeration come with the member
  std::string_view null_word = {};  ///< what stands for "no value" beside null, e.g. "auto"
  std::string_view authors = {};    ///< value under `compat: authors`, as YAML text
  bool required = false;
  NamesPlace place = NamesPlace::no;  ///< input: a file or folder that is read

  const Choices& alternatives() const { return choices.empty() ? member.choices : choices; }
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
Choices model_choices();
Choices prior_choices();

}  // namespace smile::schema
