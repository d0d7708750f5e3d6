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

  /// @param line  of the record's first character, from 1
  void add(std::size_t line, const std::vector<std::string>& fields);
  /// The finished table. @throws Error where there are no rows, or where some had another number of fields
  Table finish();

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
  Table table_;
  bool started_ = false, first_row_ = true;
  std::vector<bool> categorical_;  ///< by column
  std::vector<std::map<std::string, double>>
      words_;  ///< by column: codes in order of appearance until finish()
  std::vector<OddRecord> odd_records_;
};

}  // namespace smile::data
