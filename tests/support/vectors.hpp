// SPDX-License-Identifier: Apache-2.0
/// Access to the test vectors (tests/data/vectors, or the directory named by SMILE_VECTORS_DIR) and their
/// rule of comparison. A replay takes every case from the file; a key it does not know fails it.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace smile::test {

using Json = nlohmann::json;

/// Directory with the vectors: SMILE_VECTORS_DIR where set, else the copy in the source tree.
std::string vectors_directory();

/// The file of a topic, with "nan", "inf", "-inf" left as strings; throws with the path where it cannot be
/// read or where its `topic` is another.
Json load_vectors(const std::string& topic);

/// A number, or one of "nan", "inf", "-inf".
double number(const Json& value);
std::vector<double> numbers(const Json& array);
std::vector<std::vector<double>> matrix(const Json& rows);

struct Tolerance {
  double rel = 0;
  double abs = 0;
};
/// Reads {"rel": …, "abs": …}.
Tolerance tolerance(const Json& object);

/// |a − b| ≤ abs + rel·|b|; equal non-finite values agree, a NaN agrees only with NaN. Returns "" or a
/// message.
std::string mismatch(double actual, double expected, Tolerance tolerance);
/// max |a_i − b_i| ≤ abs + rel · max |b_i|, with non-finite entries compared one by one. "" or a message.
std::string mismatch(const std::vector<double>& actual, const std::vector<double>& expected,
                     Tolerance tolerance);

/// "" where every key of `object` is in `known`, else a message that names the strangers.
std::string unknown_keys(const Json& object, std::initializer_list<std::string_view> known);

}  // namespace smile::test
