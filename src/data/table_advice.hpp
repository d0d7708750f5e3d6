// SPDX-License-Identifier: Apache-2.0
/// What a message about a table tells the reader to do. The settings it names are keys of a configuration, in
/// the form `--set` and YAML take; a table that goes with a trained run has no settings of its own.
#pragma once

#include <string>
#include <string_view>

#include "files/yaml_text.hpp"
#include "smile/data/table.hpp"

namespace smile::data {

inline std::string against_missing(const TableOptions& options, bool has_mean = true) {
  if (options.of_run) return "fill it in or remove the row";
  return std::string("fill it in, or set 'data.missing: drop'") +
         (has_mean ? " or 'data.missing: mean'" : "");
}

inline std::string against_all_missing(const TableOptions& options) {
  return options.of_run ? "fill them in" : "fill them in, or set 'data.missing: mean'";
}

/// @param delimiter  between the fields; 0: blanks
inline std::string against_decimal_comma(const TableOptions& options, char delimiter) {
  if (options.of_run) return "write decimal points, as the training file has them";
  if (delimiter == ',') return "write decimal points";
  return "write decimal points, or set 'data.decimal: comma'";
}

inline std::string against_decimal_point(const TableOptions& options) {
  return options.of_run ? "write decimal commas, as the training file has them"
                        : "write decimal commas, or set 'data.decimal: point'";
}

inline std::string against_word(const TableOptions& options, std::string_view column) {
  if (options.of_run) return "correct the field or remove the row";
  return "correct the field, or say that the column holds words: 'data.categorical: [" + yaml_text(column) +
         "]'";
}

/// Digits and punctuation alone: a number that was spoilt, no name and no word.
bool is_spoilt_number(std::string_view text);

/// Digits in groups between -, / or ., a time between colons, or both.
bool is_date_or_time(std::string_view text);

/// What Excel and its kin write into a cell that they could not compute: "#DIV/0!".
bool is_spreadsheet_error(std::string_view text);

/// Text that is nearly a number, or a known kind of none: what it is and what to do, or two empty texts.
struct NearNumber {
  std::string what, mend;
};
/// @param text    without blanks around it
/// @param column  its name
NearNumber near_number(std::string_view text, std::string_view column, const TableOptions& options,
                       char delimiter);

}  // namespace smile::data
