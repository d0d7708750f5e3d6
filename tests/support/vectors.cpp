// SPDX-License-Identifier: Apache-2.0
#include "support/vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <stdexcept>

namespace smile::test {

std::string vectors_directory() {
  const char* other = std::getenv("SMILE_VECTORS_DIR");
  return other && *other ? other : std::string(SMILE_TEST_DATA_DIR) + "/vectors";
}

Json load_vectors(const std::string& topic) {
  const std::string path = vectors_directory() + "/" + topic + ".json";
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read the test vectors " + path);
  Json file = Json::parse(in);
  if (file.at("topic") != topic) throw std::runtime_error(path + " is about another topic");
  return file;
}

double number(const Json& value) {  // a planted value may be written as text, "-3e9"
  if (value.is_number()) return value.get<double>();
  const auto text = value.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  std::size_t used = 0;
  const double value_of_text = std::stod(text, &used);
  if (used != text.size()) throw std::runtime_error("not a number: " + text);
  return value_of_text;
}

std::vector<double> numbers(const Json& array) {
  std::vector<double> out;
  out.reserve(array.size());
  for (const Json& value : array) out.push_back(number(value));
  return out;
}

std::vector<std::vector<double>> matrix(const Json& rows) {
  std::vector<std::vector<double>> out;
  for (const Json& row : rows) out.push_back(numbers(row));
  return out;
}

Tolerance tolerance(const Json& object) {
  return {object.value("rel", 0.0), object.value("abs", 0.0)};
}

std::string mismatch(double actual, double expected, Tolerance tol) {
  if (!std::isfinite(expected) || !std::isfinite(actual)) {
    const bool same = (std::isnan(expected) && std::isnan(actual)) || actual == expected;
    return same ? "" : fmt::format("{} where {} was expected", actual, expected);
  }
  const double allowed = tol.abs + tol.rel * std::fabs(expected);
  if (std::fabs(actual - expected) <= allowed) return "";
  return fmt::format("{:.17g} where {:.17g} was expected (off by {:.3g}, allowed {:.3g})", actual, expected,
                     actual - expected, allowed);
}

std::string mismatch(const std::vector<double>& actual, const std::vector<double>& expected, Tolerance tol) {
  if (actual.size() != expected.size())
    return fmt::format("{} entries where {} were expected", actual.size(), expected.size());
  double largest = 0;
  for (double b : expected)
    if (std::isfinite(b)) largest = std::max(largest, std::fabs(b));
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const std::string message = mismatch(actual[i], expected[i], {0, tol.abs + tol.rel * largest});
    if (!message.empty()) return fmt::format("entry {}: {}", i, message);
  }
  return "";
}

std::string unknown_keys(const Json& object, std::initializer_list<std::string_view> known) {
  std::string strangers;
  for (const auto& [key, value] : object.items())
    if (std::find(known.begin(), known.end(), key) == known.end()) strangers += " " + key;
  return strangers.empty() ? "" : "unknown keys:" + strangers;
}

}  // namespace smile::test
