#include "smile/data/table.hpp"

#include <charconv>
#include <cmath>

#include "data/field.hpp"
#include "smile/data/npy.hpp"
#include "smile/error.hpp"

namespace smile {

using data::location;

std::size_t column_index(const std::string& name_or_index, const std::vector<std::string>& names,
                         const std::string& where) {
  std::size_t found = names.size(), matches = 0;
  std::string known;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (names[j] == name_or_index) {
      found = j;
      ++matches;
    }
    known += (j ? ", " : "") + names[j];
  }
  if (matches == 1) return found;
  if (matches > 1)
    throw Error(where, "several columns are named " + data::shown(name_or_index),
                "give the column's index from 0");
  long long index = 0;
  const char* last = name_or_index.data() + name_or_index.size();
  const auto [end, status] = std::from_chars(name_or_index.data(), last, index);
  const auto count = static_cast<long long>(names.size());
  if (status == std::errc() && end == last) {
    if (index < 0) index += count;
    if (index >= 0 && index < count) return static_cast<std::size_t>(index);
    throw Error(where, "there is no column " + name_or_index,
                "the file has " + std::to_string(count) + " columns, 0 to " + std::to_string(count - 1));
  }
  throw Error(where, "there is no column " + data::shown(name_or_index), "the columns are " + known);
}

Table read_npy_table(const std::filesystem::path& path, const TableOptions& options) {
  const std::string source = path.string();
  const NpyArray array = read_npy(path);
  if (array.shape().size() != 2)
    throw Error(source, "an array of " + std::to_string(array.shape().size()) + " dimensions is no table",
                "give an array of shape (rows, columns)");
  Table table;
  table.source = source;
  table.columns = array.shape()[1];
  if (array.size() == 0) throw Error(source, "no data", "give an array with at least one row and column");
  for (std::size_t j = 0; j < table.columns; ++j)
    table.column_names.push_back("column" + std::to_string(j + 1));
  table.categories.resize(table.columns);
  if (!options.categorical.empty())
    for (const std::string& name : options.categorical) column_index(name, table.column_names, source);

  const std::vector<double> values = array.as<double>();
  for (std::size_t i = 0; i < array.shape()[0]; ++i) {
    bool dropped = false;
    for (std::size_t j = 0; j < table.columns; ++j) {
      const double value = values[i * table.columns + j];
      if (std::isinf(value))
        throw Error(location(source, i + 1, j + 1), "the value is not finite",
                    "correct it or remove the row");
      if (!std::isnan(value)) continue;
      if (options.missing == MissingPolicy::error)
        throw Error(location(source, i + 1, j + 1), "missing value (NaN)",
                    "fill it in or choose 'missing: drop' or 'missing: mean'");
      dropped = dropped || options.missing == MissingPolicy::drop;
      if (options.missing == MissingPolicy::mean) ++table.missing_values;
    }
    if (dropped) {
      table.dropped_lines.push_back(i + 1);
      continue;
    }
    const auto row = values.begin() + static_cast<std::ptrdiff_t>(i * table.columns);
    table.values.insert(table.values.end(), row, row + static_cast<std::ptrdiff_t>(table.columns));
    table.lines.push_back(i + 1);
    ++table.rows;
  }
  if (table.rows == 0)
    throw Error(source, "no data: every row has a missing value", "choose 'missing: mean' or fill them in");
  return table;
}

Table read_table(const std::filesystem::path& path, const TableOptions& options) {
  std::string extension = path.extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (extension == ".npy") return read_npy_table(path, options);
  if (extension == ".csv" || options.delimiter) return read_csv_table(path, options);
  if (extension == ".tsv") {
    TableOptions tabs = options;
    tabs.delimiter = '\t';
    return read_csv_table(path, tabs);
  }
  return read_data_table(path, options);
}

}  // namespace smile
