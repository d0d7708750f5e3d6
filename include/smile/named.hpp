// SPDX-License-Identifier: Apache-2.0
/// Named alternatives: the spelling of an enumerator stands beside the enumeration, once, and everything that
/// reads, writes, lists or documents it goes through here.
///
///     enum class Keep { best, last };
///     template <>
///     struct Named<Keep> {
///       static constexpr Alternative<Keep> all[] = {{Keep::best, "best"}, {Keep::last, "last"}};
///     };
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace smile {

template <class E>
struct Alternative {
  E value;
  std::string_view name;        ///< canonical spelling, of configurations, files and messages
  std::string_view doc = {};    ///< a line for lists, where the name does not say it
  std::string_view alias = {};  ///< another spelling that is read, never written
  bool torch = false;           ///< needs LibTorch (smile::torch)
};

/// Specialised beside each enumeration that has names.
template <class E>
struct Named;

/// The canonical spelling.
template <class E>
requires requires {
  Named<E>::all;
}
constexpr std::string_view name_of(E value) {
  for (const Alternative<E>& alternative : Named<E>::all)
    if (alternative.value == value) return alternative.name;
  return {};
}

/// The alternative of that canonical spelling (letter case counts), or none.
template <class E>
constexpr std::optional<E> parse_name(std::string_view name) {
  for (const Alternative<E>& alternative : Named<E>::all)
    if (alternative.name == name) return alternative.value;
  return std::nullopt;
}

/// "`a`, `b`, `c`", for messages.
template <class E>
std::string names_text() {
  std::string text;
  for (const Alternative<E>& alternative : Named<E>::all)
    text += (text.empty() ? "`" : ", `") + std::string(alternative.name) + "`";
  return text;
}

}  // namespace smile
