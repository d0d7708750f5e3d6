// SPDX-License-Identifier: Apache-2.0
/// Tables of numbers from files (spec 2.4), of the kinds of table_formats().
///
/// The rules stand in docs/data.md, each with an example. What is no number is an Error "file:line:column:
/// what; mend", with lines as an editor counts them (blank lines and the header included) and columns as
/// fields, both from 1.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smile/named.hpp"

namespace smile {

/// What to do with an empty field, NA, N/A, NaN, null, none or ?. Infinities are refused whatever the policy.
enum class MissingPolicy {
  error,  ///< refuse, naming the first such field
  drop,   ///< leave out the rows concerned (Table::dropped_lines)
  mean,   ///< keep them as NaN; assemble_dataset() puts the training rows' column mean
};
template <>
struct Named<MissingPolicy> {
  static constexpr Alternative<MissingPolicy> all[] = {
      {MissingPolicy::error, "refuse"}, {MissingPolicy::drop, "drop"}, {MissingPolicy::mean, "mean"}};
};
/// The character that ends a field of a .csv file. Other values are characters without a name.
enum class Delimiter : char { detect = '\0', comma = ',', semicolon = ';', tab = '\t' };
template <>
struct Named<Delimiter> {
  static constexpr Alternative<Delimiter> all[] = {{Delimiter::detect, "auto"},
                                                   {Delimiter::comma, "comma"},
                                                   {Delimiter::semicolon, "semicolon"},
                                                   {Delimiter::tab, "tab"}};
};

/// What is known of a table before its first row.
struct TableHead {
  std::vector<std::string> column_names;  ///< from the header, else "column1", "column2", …
  bool has_header = false;
  /// The first column has no name, or pandas' "Unnamed: 0", as one that only numbers or names the rows.
  bool has_index = false;
};

struct TableOptions {
  /// Whether line 1 names the columns; empty: it is looked at (data/header_rule.hpp).
  std::optional<bool> header = {};
  MissingPolicy missing = MissingPolicy::error;
  /// Fields end here; `detect` looks for ',', ';' or tab in the first line of a .csv file. Not used for .npy.
  Delimiter delimiter = Delimiter::detect;
  /// "0,3048" means 0.3048 (with ';' or tab between fields). Off: such a field is an Error that says so.
  bool decimal_comma = false;
  /// The file goes with a trained run, whose settings stay: messages then advise no change of them.
  bool of_run = false;
  /// Columns whose fields are words, by name or index (see column_index); coded 0, 1, … in sorted order.
  /// Words compare as text: "00501" is not "501".
  std::vector<std::string> categorical = {};
  /// A column of class labels, likewise: as words, but plain numbers compare as numbers ("2.00e+00" is "2").
  std::optional<std::string> labels = {};
  /// Names of which one is enough to know the first line for a header; may be empty.
  std::vector<std::string> known_names = {};

  /// All columns of a text table are words, whatever they hold, and # begins a comment.
  bool as_text = false;

  /// A choice of columns, made once they are known. @return one value a column
  using Choice = std::function<std::vector<bool>(const TableHead& head)>;
  /// Where set, decides instead of `categorical` and `labels` which columns hold words.
  Choice choose_categorical = {};
  /// Where set, decides which columns are looked at: whatever the others hold is no matter, and their values
  /// are NaN.
  Choice choose_read = {};
  /// Where set, decides which columns may have missing values whatever the policy: NaN, and the row stays.
  Choice choose_optional = {};
};

/// Numbers of a table that lie in a caller's memory and are read where they are.
class TableNumbers {
 public:
  virtual ~TableNumbers() = default;
  /// NaN where a value is missing.
  virtual double at(std::size_t row, std::size_t column) const = 0;
};

struct Table : TableHead {
  std::string source;  ///< the file, as given
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;  ///< @shape [rows, columns] row-major; NaN: missing (policy mean)
  std::shared_ptr<const TableNumbers> elsewhere;  ///< where set, they are there and `values` is empty
  std::vector<std::size_t> lines;  ///< line of each row in the file, from 1; empty: row i is line i + 1
  std::vector<std::vector<std::string>> categories;  ///< per column: the words, by code; empty where numeric
  std::vector<std::size_t> dropped_lines;            ///< rows left out under MissingPolicy::drop
  std::vector<std::size_t> comment_lines;            ///< lines left out because they begin with #
  std::vector<std::size_t> blank_lines;              ///< lines of nothing but delimiters, left out
  std::size_t missing_values = 0;                    ///< NaN kept under MissingPolicy::mean
  std::vector<std::string> remarks;  ///< what was decided about the form of the file; one line each

  double at(std::size_t row, std::size_t column) const {
    return elsewhere ? elsewhere->at(row, column) : values[row * columns + column];
  }
  std::size_t line(std::size_t row) const { return lines.empty() ? row + 1 : lines[row]; }
};

/// Reads by the ending of the file's name (table_formats()).
/// @throws Error for a missing or unreadable file, a folder, an empty file ("no data"), binary content, rows
/// of
///         unequal length, and every field that is no finite number
Table read_table(const std::filesystem::path& path, const TableOptions& options = {});

/// What should be said of the table: decisions about its form, lines that were left out. One line each.
std::vector<std::string> table_remarks(const Table& table);

/// The same in blocks of rows, so that the file may be larger than memory. Each block has the codes of its
/// own words in `categories`; errors are those of read_table() and come with the block they are in.
class TableBlocks {
 public:
  explicit TableBlocks(const std::filesystem::path& path, const TableOptions& options = {});
  /// From a source of one's own.
  class Source;
  explicit TableBlocks(std::unique_ptr<Source> source);
  TableBlocks(TableBlocks&&) noexcept;
  ~TableBlocks();

  /// The next rows, at most `rows` of them; a block can be without rows where all were dropped. False at the
  /// end of the file.
  /// @throws Error also where the file has no row at all
  bool next(std::size_t rows, Table& block);

 private:
  std::unique_ptr<Source> source_;
};

/// Position of a column given by name or, where no column has that name, by index from 0 (−1 is the last
/// one).
/// @throws Error that lists the names there are
std::size_t column_index(const std::string& name_or_index, const std::vector<std::string>& names,
                         const std::string& where);

}  // namespace smile
