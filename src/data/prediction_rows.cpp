#include <algorithm>
#include <cmath>
#include <string>

#include "data/field.hpp"
#include "smile/data/dataset.hpp"
#include "smile/error.hpp"

namespace smile {

namespace {

using data::location;
using data::shown;

/// Where the trained model's columns are in the new file.
struct Columns {
  std::vector<std::size_t> features;
  bool has_target = false;
  std::size_t target = 0;
};

Columns find_columns(const std::vector<std::string>& names, bool has_header, const DatasetInfo& info,
                     const std::string& source) {
  Columns columns;
  if (has_header && info.has_header) {
    for (const std::string& name : info.feature_names)
      columns.features.push_back(column_index(name, names, source));
    const auto target = std::find(names.begin(), names.end(), info.target_name);
    columns.has_target = target != names.end();
    columns.target = static_cast<std::size_t>(target - names.begin());
    return columns;
  }
  if (names.size() == info.file_columns) {
    columns.features = info.feature_columns;
    columns.has_target = true;
    columns.target = info.target_position;
  } else if (names.size() + 1 == info.file_columns) {  // the training file without its target
    for (std::size_t column : info.feature_columns)
      columns.features.push_back(column - (column > info.target_position ? 1 : 0));
  } else if (names.size() == info.inputs()) {
    for (std::size_t k = 0; k < info.inputs(); ++k) columns.features.push_back(k);
  } else {
    throw Error(source,
                "has " + std::to_string(names.size()) + " columns where the training file had " +
                    std::to_string(info.file_columns) + ", the target included",
                "give the training file's columns, with or without the target");
  }
  return columns;
}

/// Class of a label: a word's code or a number in the new table, looked up by its name.
std::size_t place_of(const std::string& name, const std::vector<std::string>& names, const Table& table,
                     std::size_t row, std::size_t column) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw Error(location(table.source, table.lines[row], column + 1),
                shown(name) + " did not occur in this column of the training file",
                "correct the field or train with such rows");
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

PredictionRows load_prediction_rows(const std::filesystem::path& path, TableOptions options,
                                    const DatasetInfo& info) {
  const bool labels = info.labels.classes() > 0;
  options.choose_categorical = [&](const std::vector<std::string>& names, bool has_header) {
    const Columns columns = find_columns(names, has_header, info, path.string());
    std::vector<bool> words(names.size(), false);
    for (std::size_t k = 0; k < info.inputs(); ++k)
      words[columns.features[k]] = !info.feature_categories[k].empty();
    if (columns.has_target && labels) words[columns.target] = true;
    return words;
  };
  const Table table = read_table(path, options);
  const Columns columns = find_columns(table.column_names, table.has_header, info, table.source);

  PredictionRows out;
  out.rows = table.rows;
  out.lines = table.lines;
  const auto name_of = [&](std::size_t row, std::size_t column) {
    const std::vector<std::string>& words = table.categories[column];
    const double value = table.at(row, column);
    return words.empty() ? data::shortest(value) : words[static_cast<std::size_t>(value)];
  };
  for (std::size_t i = 0; i < table.rows; ++i) {
    for (std::size_t k = 0; k < info.inputs(); ++k) {
      const std::size_t column = columns.features[k];
      double value = table.at(i, column);
      if (!info.feature_categories[k].empty()) {
        if (std::isnan(value))
          throw Error(location(table.source, table.lines[i], column + 1),
                      "missing value in a column of words", "fill it in or choose 'missing: drop'");
        value =
            static_cast<double>(place_of(name_of(i, column), info.feature_categories[k], table, i, column));
      }
      out.features.push_back(value);
    }
    if (!columns.has_target) continue;
    const double target = table.at(i, columns.target);
    if (std::isnan(target))
      throw Error(location(table.source, table.lines[i], columns.target + 1), "missing value in the target",
                  "fill it in, choose 'missing: drop', or leave the target column out");
    out.targets.push_back(labels ? static_cast<double>(place_of(name_of(i, columns.target), info.labels.names,
                                                                table, i, columns.target))
                                 : info.normalisation.scaled_target(target));
  }
  info.normalisation.scale_features(out.features);
  return out;
}

}  // namespace smile
