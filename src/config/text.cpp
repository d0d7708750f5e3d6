// SPDX-License-Identifier: Apache-2.0
/// Values of the schema as text: for the written configuration, messages and the reference.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "config/schema.hpp"
#include "files/yaml_text.hpp"

namespace smile::schema {
namespace {

std::string text_of(bool value) {
  return value ? "true" : "false";
}
std::string text_of(std::int64_t value) {
  return std::to_string(value);
}
std::string text_of(std::uint64_t value) {
  return std::to_string(value);
}

std::string text_of(double value) {
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  // 1 is written 1.0, so that a reader sees a number that need not be whole.
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string text_of(const std::string& value) {
  return data::yaml_text(value);
}

template <class T>
std::string text_of(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& value : values) {
    if (text.size() > 1) text += ", ";
    text += text_of(value);
  }
  return text + "]";
}

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

/// Whether a slot is a member seen through names.
template <class At>
constexpr bool kNamed = std::is_same_v<std::decay_t<At>, NamedMember>;
/// The type of the member that a slot hands out; NamedMember for one seen through names.
template <class At>
struct MemberType {
  using type = NamedMember;
};
template <class T>
struct MemberType<schema::At<T>> {
  using type = T;
};
template <class At>
using MemberOf = typename MemberType<std::decay_t<At>>::type;

template <class T>
std::string number_words(const Range& range, std::string one, bool list) {
  const auto text = [](double bound) {
    const double whole = std::trunc(bound);
    if (whole == bound && std::abs(bound) < 1e15) return std::to_string(static_cast<std::int64_t>(bound));
    return text_of(bound);
  };
  const bool bounded_low = std::isfinite(range.low);
  // Counts are bounded only against overflow; nobody needs to read that.
  const bool bounded_high = std::isfinite(range.high) && range.high < 1e9;
  std::string words = std::move(one);
  if (bounded_low && bounded_high && range.low == range.high) {
    words = text(range.low);
  } else if (bounded_low && bounded_high) {
    words += std::string(list ? " each in " : " in ") + (range.without_low ? "(" : "[") + text(range.low) +
             ", " + text(range.high) + (range.without_high ? ")" : "]");
  } else if (bounded_low) {
    words += std::string(list ? " each " : " ") + (range.without_low ? "> " : "≥ ") + text(range.low);
  }
  if (range.infinity_allowed) words += ", or .inf";
  return words;
}

}  // namespace

std::string value_text(const Key& key, const Config& config) {
  return std::visit(
      [&](const auto& at) {
        if constexpr (kNamed<decltype(at)>) {
          const auto names = at.names(config);
          std::vector<std::string> texts(names.begin(), names.end());
          return at.list ? text_of(texts) : text_of(texts.front());
        } else {
          const auto& value = *at(const_cast<Config&>(config));  // The slot only hands out the address.
          using T = std::decay_t<decltype(value)>;
          if constexpr (IsOptional<T>::value) {
            if (value) return text_of(*value);
            return std::string(key.null_word.empty() ? "null" : key.null_word);
          } else {
            return text_of(value);
          }
        }
      },
      key.member.slot);
}

bool is_null(const Key& key, const Config& config) {
  return std::visit(
      [&](const auto& at) {
        if constexpr (kNamed<decltype(at)>)
          return false;
        else {
          const auto& value = *at(const_cast<Config&>(config));
          if constexpr (IsOptional<std::decay_t<decltype(value)>>::value) return !value.has_value();
          return false;
        }
      },
      key.member.slot);
}

bool is_list(const Key& key) {
  return std::visit(
      [](const auto& at) {
        if constexpr (kNamed<decltype(at)>) {
          return at.list;
        } else {
          using T = MemberOf<decltype(at)>;
          return IsVector<T>::value || std::is_same_v<T, std::optional<std::vector<std::string>>>;
        }
      },
      key.member.slot);
}

bool is_available(const Choice& choice) {
  return choice.available && (!choice.torch || torch_is_here());
}

std::string choices_text(const Choices& choices, bool all_builds) {
  std::string text;
  for (const Choice& choice : choices) {
    if (!is_available(choice) && !(all_builds && choice.torch)) continue;
    if (!text.empty()) text += ", ";
    text += "`" + std::string(choice.name) + "`";
  }
  return text;
}

std::string allowed_text(const Key& key, bool all_builds) {
  std::string words = std::visit(
      [&](const auto& at) -> std::string {
        using T = MemberOf<decltype(at)>;
        const bool named = !key.alternatives().empty();
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::optional<bool>>)
          return "true or false";
        if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t> ||
                      std::is_same_v<T, std::optional<std::int64_t>> ||
                      std::is_same_v<T, std::optional<std::uint64_t>>) {
          return number_words<T>(key.range, "an integer", false);
        }
        if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>) {
          return number_words<T>(key.range, "a number", false);
        }
        if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
          return number_words<T>(key.range, "a list of integers", true);
        }
        if constexpr (std::is_same_v<T, std::vector<double>>)
          return number_words<T>(key.range, "a list of numbers", true);
        if constexpr (std::is_same_v<T, std::vector<std::string>> ||
                      std::is_same_v<T, std::optional<std::vector<std::string>>>) {
          return named ? "a list of " + choices_text(key.alternatives(), all_builds) : "a list of texts";
        }
        if constexpr (kNamed<decltype(at)>) {
          if (at.list) return "a list of " + choices_text(key.alternatives(), all_builds);
        }
        return named ? "one of " + choices_text(key.alternatives(), all_builds) : "a text";
      },
      key.member.slot);
  const bool nullable =
      std::visit([](const auto& at) { return IsOptional<MemberOf<decltype(at)>>::value; }, key.member.slot);
  if (nullable) words += key.null_word.empty() ? ", or null" : ", or `" + std::string(key.null_word) + "`";
  return words;
}

}  // namespace smile::schema
