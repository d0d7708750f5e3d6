// SPDX-License-Identifier: Apache-2.0
/// One field of a text table: a number, a missing value, or neither.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace smile::data {

enum class FieldKind { number, missing, infinite, out_of_range, decimal_comma, decimal_point, text };

struct ParsedField {
  FieldKind kind = FieldKind::text;
  double value = 0;  ///< where kind is number
};

/// Without blanks and tabs at both ends.
std::string_view trimmed(std::string_view text);

/// The whole field must be a number: digits, one decimal point (or comma where told), an exponent, one sign.
/// A leading + is allowed; hexadecimal, thousands separators and anything behind the number are not.
ParsedField parse_field(std::string_view text, bool decimal_comma);

/// Empty, ?, NA, N/A, #N/A, <NA>, NaN, null, none (any case). In a column of words "null" and "none" are
/// words.
bool is_missing(std::string_view trimmed_text, bool categorical);

/// The shortest decimal form that reads back as the same number; "0" for −0.
std::string shortest(double value);

/// Plain numbers in their shortest form ("2" for "2.00e+00"), others as they are ("01", "+1", words): equal
/// labels have equal names, and a leading zero makes a code of a number.
std::string label_name(std::string_view text, bool decimal_comma);

/// The text in quotes for a message: control bytes escaped, long text cut.
std::string shown(std::string_view text);

/// "file:line:column", both from 1.
std::string location(const std::string& file, std::size_t line, std::size_t column);

/// "3, 7, 9", at most five of them.
std::string joined_lines(const std::vector<std::size_t>& lines);

}  // namespace smile::data
