// SPDX-License-Identifier: Apache-2.0
/// Numbers in our JSON files. JSON has none that are not finite: they are null, which is how the library
/// writes such a double by itself, so that no code converts what it writes; where there is a reason, it
/// stands beside them in words. Reading turns null, and what is not there, into NaN.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>

namespace smile {

template <class Json>
double json_number(const Json& value) {
  return value.is_number() ? value.template get<double>() : std::numeric_limits<double>::quiet_NaN();
}

template <class Json>
double json_number(const Json& object, const char* key) {
  const bool known = object.is_object() && object.contains(key);
  return known ? json_number(object[key]) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace smile
