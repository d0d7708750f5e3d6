// SPDX-License-Identifier: Apache-2.0
#include "data/table_advice.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <utility>

#include "data/field.hpp"
#include "files/yaml_text.hpp"

namespace smile::data {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Without a sign before it.
std::string_view unsigned_part(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return text;
}

/// "1,000", "-12,345,678.9", "1.234,56", "1 000", "1'000", "1_000": groups of three digits behind the first.
bool has_thousands_separators(std::string_view text, std::string_view separator, char decimal) {
  text = unsigned_part(text);
  text = text.substr(0, text.find(decimal));
  std::size_t group = 0, groups = 0;
  while (!text.empty()) {
    if (text.starts_with(separator)) {
      if (group == 0 || group > 3 || (groups > 0 && group != 3)) return false;
      ++groups;
      group = 0;
      text.remove_prefix(separator.size());
    } else if (is_digit(text[0])) {
      ++group;
      text.remove_prefix(1);
    } else {
      return false;
    }
  }
  return groups > 0 && group == 3;
}

bool has_thousands_separators(std::string_view text) {
  constexpr std::string_view kNoBreakSpace = "\xc2\xa0", kThinSpace = "\xe2\x80\xaf";
  if (has_thousands_separators(text, ",", '.')) return true;
  if (text.find(',') != std::string_view::npos && has_thousands_separators(text, ".", ',')) return true;
  for (const std::string_view separator :
       {std::string_view(" "), std::string_view("'"), std::string_view("_"), kNoBreakSpace, kThinSpace})
    if (has_thousands_separators(text, separator, '.') || has_thousands_separators(text, separator, ','))
      return true;
  return false;
}

/// The text is a number once it is rid of `part`, which stands at one of its ends.
bool is_number_beside(std::string_view text, std::string_view part) {
  if (text.starts_with(part))
    text.remove_prefix(part.size());
  else if (text.ends_with(part))
    text.remove_suffix(part.size());
  else
    return false;
  return parse_field(trimmed(text), text.find(',') != std::string_view::npos).kind == FieldKind::number;
}

bool is_hexadecimal(std::string_view text) {
  text = unsigned_part(text);
  return text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') &&
         text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
}

bool is_truth_value(std::string_view text) {
  std::string word(text);
  for (char& c : word) c = char(std::tolower(static_cast<unsigned char>(c)));
  for (const char* known : {"true", "false", "yes", "no"})
    if (word == known) return true;
  return false;
}

bool is_digits_and(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_digit(c) || others.find(c) != std::string_view::npos; });
}

/// "1.0D+02": Fortran's exponent of double precision.
bool has_fortran_exponent(std::string_view text) {
  const std::size_t at = text.find_first_of("dD");
  if (at == 0 || at == std::string_view::npos || at + 1 == text.size()) return false;
  const auto numeric = [](std::string_view part, std::string_view more) {
    return std::any_of(part.begin(), part.end(), is_digit) &&
           std::all_of(part.begin(), part.end(),
                       [&](char c) { return is_digit(c) || more.find(c) != std::string_view::npos; });
  };
  return numeric(text.substr(0, at), "+-.") && numeric(text.substr(at + 1), "+-");
}

}  // namespace

bool is_date_or_time(std::string_view text) {
  if (text.size() < 4 || !is_digit(text[0])) return false;
  std::size_t colons = 0, strokes = 0, digits = 0;
  for (const char c : text) {
    digits += is_digit(c);
    colons += c == ':';
    strokes += c == '-' || c == '/' || c == '.';
    if (!is_digit(c) && std::string_view(":-/. TZ+").find(c) == std::string_view::npos) return false;
  }
  return digits >= 3 && (colons > 0 || strokes >= 2);
}

bool is_spreadsheet_error(std::string_view text) {
  return text.size() > 2 && text[0] == '#' && (text.back() == '!' || text.back() == '?') &&
         text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ/0!?", 1) == std::string_view::npos;
}

bool is_spoilt_number(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos &&
         (text.find_first_not_of("0123456789.,;:/+-") == std::string_view::npos ||
          has_fortran_exponent(text) || has_thousands_separators(text) || is_hexadecimal(text) ||
          is_date_or_time(text) || is_number_beside(text, "%"));
}

NearNumber near_number(std::string_view text, std::string_view column, const TableOptions& options,
                       char delimiter) {
  if (has_fortran_exponent(text)) return {" has a Fortran exponent", "write E for D in the numbers"};
  if (has_thousands_separators(text)) {
    std::string mend = "write it without the separators";
    if (!options.of_run && delimiter != ',' && std::count(text.begin(), text.end(), ',') == 1)
      mend += "; if the comma is a decimal one, set 'data.decimal: comma'";
    return {" has separators of thousands", mend};
  }
  if (delimiter == '\0' && text.size() > 1 && (text.back() == ',' || text.back() == ';')) {
    const bool comma = text.back() == ',';
    std::string mend = std::string("separate the fields by blanks, or name the file .csv");
    if (!options.of_run)
      mend += std::string(", or set 'data.delimiter: ") + (comma ? "comma'" : "semicolon'");
    return {std::string(" ends with the ") + (comma ? "comma" : "semicolon") +
                " that separates the fields, and the fields of a .data file are separated by blanks",
            mend};
  }
  const std::string no_number = " is not a number: ";
  if (is_hexadecimal(text)) return {no_number + "it is in hexadecimal", "write it in decimal"};
  if (is_spreadsheet_error(text))
    return {no_number + "it is an error of a spreadsheet", "correct the cell there, or leave it empty"};
  constexpr std::string_view kMinus = "\xe2\x88\x92";  // U+2212
  if (is_number_beside(text, kMinus))
    return {no_number + "its minus sign is not the one of ASCII", "write '-'"};
  for (const auto& [sign, name] : {std::pair<std::string_view, const char*>{"%", "a percent sign"},
                                   {"$", "a sign of currency"},
                                   {"\xe2\x82\xac", "a sign of currency"},
                                   {"\xc2\xa3", "a sign of currency"}})
    if (is_number_beside(text, sign)) return {no_number + "it has " + name, "write the number without it"};
  if (is_truth_value(text))
    return {no_number + "it is a truth value",
            "write 1 and 0" + (options.of_run ? std::string()
                                              : ", or say that the column holds words: 'data.categorical: [" +
                                                    yaml_text(column) + "]'")};
  if (is_date_or_time(text) && !is_digits_and(text, "."))
    return {no_number + "it is a date or a time",
            options.of_run ? "write it as in the training file"
                           : "write it as a number, such as days, or name the features without it in "
                             "'data.features'"};
  return {};
}

}  // namespace smile::data
