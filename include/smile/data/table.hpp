/// Tables of numbers from files (spec 2.4), of the kinds of table_formats().
///
/// Nothing is guessed: what is no number is an Error "file:line:column: what; mend", with lines as an editor
/// counts them (blank lines and the header included) and columns as fields, both from 1.
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

struct TableOptions {
  /// Whether line 1 names the columns; empty: it does if none of its fields is a number or a missing value.
  std::optional<bool> header = {};
  MissingPolicy missing = MissingPolicy::error;
  /// Fields end here; `detect` looks for ',', ';' or tab in the first line of a .csv file. Not used for .npy.
  Delimiter delimiter = Delimiter::detect;
  /// "0,3048" means 0.3048 (with ';' or tab between fields). Off: such a field is an Error that says so.
  bool decimal_comma = false;
  /// The file goes with a trained run, whose settings stay: messages then advise no change of them.
  bool of_run = false;
  /// Columns whose fields are words, by name or index (see column_index); coded 0, 1, … in sorted order.
  std::vector<std::string> categorical = {};
  /// Where set, decides instead once the columns are known: which of them hold words.
  /// @param names  of the columns   @param has_header  whether they come from the file
  std::function<std::vector<bool>(const std::vector<std::string>& names, bool has_header)>
      choose_categorical = {};
  /// Where set, decides which columns are looked at, likewise: whatever the others hold is no matter, and
  /// their values are NaN.
  std::function<std::vector<bool>(const std::vector<std::string>& names, bool has_header)> choose_read = {};
};

/// Numbers of a table that lie in a caller's memory and are read where they are.
class TableNumbers {
 public:
  virtual ~TableNumbers() = default;
  /// NaN where a value is missing.
  virtual double at(std::size_t row, std::size_t column) const = 0;
};

struct Table {
  std::string source;                     ///< the file, as given
  std::vector<std::string> column_names;  ///< from the header, else "column1", "column2", …
  bool has_header = false;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;  ///< @shape [rows, columns] row-major; NaN: missing (policy mean)
  std::shared_ptr<const TableNumbers> elsewhere;  ///< where set, they are there and `values` is empty
  std::vector<std::size_t> lines;  ///< line of each row in the file, from 1; empty: row i is line i + 1
  std::vector<std::vector<std::string>> categories;  ///< per column: the words, by code; empty where numeric
  std::vector<std::size_t> dropped_lines;            ///< rows left out under MissingPolicy::drop
  std::size_t missing_values = 0;                    ///< NaN kept under MissingPolicy::mean

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
