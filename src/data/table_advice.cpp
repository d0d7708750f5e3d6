#include "data/table_advice.hpp"

#include <algorithm>

namespace smile::data {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "1,000", "-12,345,678.9": groups of three digits behind the first.
bool has_thousands_separators(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  text = text.substr(0, text.find('.'));
  std::size_t group = 0, groups = 0;
  for (const char c : text) {
    if (c == ',') {
      if (group == 0 || group > 3 || (groups > 0 && group != 3)) return false;
      ++groups;
      group = 0;
    } else if (is_digit(c)) {
      ++group;
    } else {
      return false;
    }
  }
  return groups > 0 && group == 3;
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

NearNumber near_number(std::string_view text, const TableOptions& options, char delimiter) {
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
  return {};
}

}  // namespace smile::data
