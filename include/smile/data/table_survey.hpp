// SPDX-License-Identifier: Apache-2.0
/// What a table holds, column by column: for a first configuration. Nothing is decided here.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "smile/data/table.hpp"

namespace smile {

struct ColumnSurvey {
  std::string name;
  std::size_t missing = 0;         ///< cells
  std::size_t numbers = 0;         ///< cells that are numbers, with the table's decimal mark
  std::size_t decimal_commas = 0;  ///< cells that would be numbers with the other mark
  std::size_t words = 0;           ///< all other cells
  std::size_t distinct = 0;        ///< different cells, the missing ones apart
  bool whole = false;              ///< all numbers are whole
  bool counts_up = false;          ///< each number is the one before plus 1
  bool codes = false;              ///< some numbers have a leading zero: "00501"
  bool dates = false;              ///< most words are dates or times
  std::string odd_cell;            ///< a cell that is no number, where most are; else empty
  std::size_t odd_line = 0;        ///< its line

  std::size_t cells() const { return numbers + decimal_commas + words; }
};

struct TableSurvey {
  TableHead head;
  std::size_t rows = 0;
  std::vector<ColumnSurvey> columns;
  std::vector<std::vector<bool>> missing;   ///< by column, then by row
  Delimiter delimiter = Delimiter::detect;  ///< that has to be given for the file to be read
  bool decimal_comma = false;               ///< likewise
  std::vector<std::string> remarks;
};

/// Reads the whole table as text. Where its fields cannot be told apart by the ending of the name, commas,
/// semicolons and tabs are tried.
/// @throws Error as read_table() for what is no table
TableSurvey survey_table(const std::filesystem::path& path);

}  // namespace smile
