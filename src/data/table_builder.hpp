/// Records of fields become a Table: header, column count, numbers, missing values, words.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "data/field.hpp"
#include "smile/data/table.hpp"

namespace smile::data {

class TableBuilder {
 public:
  TableBuilder(std::string source, const TableOptions& options);

  /// What separates the fields, for messages; 0: blanks.
  void set_delimiter(char delimiter) { delimiter_ = delimiter; }
  /// @param line  of the record's first character, from 1
  void add(std::size_t line, const std::vector<std::string>& fields);
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

  bool looks_like_header(const std::vector<std::string>& fields) const;
  void start(const std::vector<std::string>& fields);
  void add_row(std::size_t line, const std::vector<std::string>& fields);
  [[noreturn]] void refuse(std::size_t line, std::size_t column, const std::string& text,
                           FieldKind kind) const;
  void order_words(std::size_t column);

  TableOptions options_;
  char delimiter_ = '\0';
  Table table_;
  bool started_ = false, first_row_ = true;
  std::size_t taken_ = 0, dropped_ = 0;   ///< rows taken; rows left out, all tables together
  std::vector<bool> categorical_, read_;  ///< by column
  std::vector<std::map<std::string, double>>
      words_;  ///< by column: codes in order of appearance until finish()
  std::vector<OddRecord> odd_records_;
};

}  // namespace smile::data
