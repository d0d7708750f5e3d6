// SPDX-License-Identifier: Apache-2.0
/// The members of a structure and their names in a JSON file, said once for writing and for reading:
///
///     template <>
///     struct JsonFields<PhaseTime> {
///       static void visit(auto& field, auto& phase) {
///         field("name", phase.name);
///         field("seconds", phase.seconds);
///       }
///     };
///
/// What is read leaves a member as it is where the file has nothing of that name or a value of another kind;
/// floating-point members become NaN then.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "evaluation/json_number.hpp"
#include "smile/named.hpp"

namespace smile {

/// Specialised beside what reads and writes a file.
template <class T>
struct JsonFields;

namespace json_fields {

using Json = nlohmann::ordered_json;

template <class T>
concept Structure = requires {
  sizeof(JsonFields<T>);
};
template <class T>
concept Enumeration = std::is_enum_v<T> && requires {
  Named<T>::all;
};
template <class T>
struct Element {};
template <class T>
struct Element<std::vector<T>> {
  using Type = T;
};
/// Values by name, in their order: an object.
template <class T>
struct Element<std::vector<std::pair<std::string, T>>> {
  using Named = T;
};
template <class T>
concept List = requires {
  typename Element<T>::Type;
};
template <class T>
concept Table = requires {
  typename Element<T>::Named;
};

template <class T>
Json write(const T& value) {
  Json out;
  if constexpr (Structure<T>) {
    out = Json::object();
    auto field = [&](std::string_view name, const auto& member) { out[std::string(name)] = write(member); };
    JsonFields<T>::visit(field, value);
  } else if constexpr (Enumeration<T>) {
    out = std::string(name_of(value));
  } else if constexpr (List<T>) {
    out = Json::array();
    for (const auto& element : value) out.push_back(write(element));
  } else if constexpr (Table<T>) {
    out = Json::object();
    for (const auto& [name, element] : value) out[name] = write(element);
  } else {
    out = value;
  }
  return out;
}

template <class T>
void read(const Json& json, T& value) {
  if constexpr (Structure<T>) {
    auto field = [&](std::string_view name, auto& member) {
      const auto at = json.is_object() ? json.find(std::string(name)) : json.end();
      read(at == json.end() ? Json() : *at, member);
    };
    JsonFields<T>::visit(field, value);
  } else if constexpr (Enumeration<T>) {
    if (!json.is_string()) return;
    if (const auto known = parse_name<T>(json.template get_ref<const std::string&>())) value = *known;
  } else if constexpr (List<T>) {
    value.clear();
    if (!json.is_array()) return;
    for (const Json& element : json) read(element, value.emplace_back());
  } else if constexpr (Table<T>) {
    value.clear();
    if (!json.is_object()) return;
    for (const auto& [name, element] : json.items()) read(element, value.emplace_back(name, 0).second);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (json.is_boolean()) value = json.template get<bool>();
  } else if constexpr (std::is_floating_point_v<T>) {
    value = json_number(json);
  } else if constexpr (std::is_unsigned_v<T>) {
    if (json.is_number_unsigned()) value = json.template get<T>();
  } else if constexpr (std::is_integral_v<T>) {
    if (json.is_number_integer()) value = json.template get<T>();
  } else {
    static_assert(std::is_same_v<T, std::string>);
    if (json.is_string()) value = json.template get<std::string>();
  }
}

}  // namespace json_fields
}  // namespace smile
