// SPDX-License-Identifier: Apache-2.0
/// Records of fields become a Table: names, column count, numbers, missing values, words.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "data/field.hpp"
#include "data/header_rule.hpp"
#include "smile/data/table.hpp"

namespace smile::data {

class TableBuilder {
 public:
  TableBuilder(std::string source, const TableOptions& options);

  /// What separates the fields, for messages; 0: blanks.
  void set_delimiter(char delimiter) { delimiter_ = delimiter; }
  /// Before the first add(). @param first  the first record that is a row, for the number of columns
  void start(const HeaderDecision& header, const Record& first);
  /// Adds a row; a comment or a blank line is left out.
  void add(const Record& record);
  /// A line that is left out.
  void add_comment(std::size_t line) { table_.comment_lines.push_back(line); }
  /// Rows since the last take().
  std::size_t rows() const { return table_.rows; }
  /// The rows since the last take(), with the words among them; later rows go into the next table.
  /// @throws Error where some had another number of fields
  Table take();
  /// @throws Error where no row came at all, with or without take()
  void check_any() const;

 private:
  struct OddRecord {
    std::size_t line, fields;
  };

  void name_columns(const HeaderDecision& header, std::size_t columns);
  void choose_columns();
  void tell(const HeaderDecision& header);
  void add_row(std::size_t line, const std::vector<std::string>& fields);
  [[noreturn]] void refuse(std::size_t line, std::size_t column, const std::vector<std::string>& fields,
                           FieldKind kind) const;
  void order_words(std::size_t column);

  TableOptions options_;
  char delimiter_ = '\0';
  Table table_;
  bool first_row_ = true;
  std::size_t header_line_ = 0;                      ///< 0: none
  std::size_t taken_ = 0, dropped_ = 0;              ///< rows taken; rows left out, all tables together
  std::size_t comments_ = 0;                         ///< lines, of tables taken
  std::vector<bool> categorical_, read_, optional_;  ///< by column
  std::vector<bool> labels_;                         ///< by column: words, but plain numbers are numbers
  std::vector<std::map<std::string, double>>
      words_;  ///< by column: codes in order of appearance until finish()
  std::vector<OddRecord> odd_records_;
};

}  // namespace smile::data
