// SPDX-License-Identifier: Apache-2.0
/// Does the first line of a text table name its columns? One rule for all text tables, with what decided it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "smile/data/table.hpp"

namespace smile::data {

struct Record {
  std::size_t line = 0;  ///< of its first character, from 1
  std::vector<std::string> fields;
  bool hash = false;  ///< begins with # outside of quotes
};

struct HeaderDecision {
  /// The names of the columns; empty: there are none. May have empty names.
  std::vector<std::string> names;
  std::size_t line = 0;             ///< where they stand
  bool in_doubt = false;            ///< words in all columns, so that it might have been otherwise
  bool behind_hash = false;         ///< the line begins with #
  bool rows_have_one_more = false;  ///< a field for the rows' names, which line 1 does not name
  std::string recurring;            ///< where line 1 is a row for it: a cell of it that occurs again
};

/// The rule:
///   1. options.header decides where it is set, then a name of options.known_names in line 1.
///   2. A line with a number (or what is nearly one) is a row; so is one without any word.
///   3. Words above a column of numbers are names.
///   4. Where all columns hold words: a line of which a cell occurs again in its column is a row, any other
///      names the columns.
///   Lines above that begin with # are comments; the last of them names the columns where it has as many
///   fields as the rows and the first line that has no # does not name them.
/// @param first   the beginning of the file: records that are not blank, at least up to the first without #
/// @param blanks  whether blanks separate the fields
HeaderDecision decide_header(std::span<const Record> first, const TableOptions& options, bool blanks);

/// The cells of a first line without the # it begins with.
/// @param blanks  whether blanks separate the fields, so that a # of its own is none
std::vector<std::string> without_hash(std::vector<std::string> fields, bool blanks);

}  // namespace smile::data
