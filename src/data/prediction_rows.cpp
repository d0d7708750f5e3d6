#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "data/field.hpp"
#include "smile/data/dataset.hpp"
#include "smile/data/memory_table.hpp"
#include "smile/error.hpp"

namespace smile {

namespace {

using data::location;
using data::shown;

/// Where the trained model's columns are in the new file.
struct Columns {
  std::vector<std::size_t> features;
  std::vector<std::size_t> ignored;
  bool has_target = false;
  std::size_t target = 0;
};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Names every feature that the file has not, and what it has in their place.
void refuse_missing(const std::vector<std::string>& names, const DatasetInfo& info,
                    const std::string& source) {
  std::string missing, known;
  std::size_t count = 0;
  for (const std::string& name : info.feature_names)
    if (!contains(names, name)) missing += (count++ ? ", " : "") + shown(name);
  if (count == 0) return;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  throw Error(source, (count == 1 ? "there is no column " : "there are no columns ") + missing,
              "the columns are " + known + "; give the columns of the training file under their names");
}

Columns find_columns(const std::vector<std::string>& names, bool has_header, const DatasetInfo& info,
                     const std::string& source) {
  Columns columns;
  if (has_header && info.has_header) {
    refuse_missing(names, info, source);
    for (const std::string& name : info.feature_names)
      columns.features.push_back(column_index(name, names, source));
    const auto target = std::find(names.begin(), names.end(), info.target_name);
    columns.has_target = target != names.end();
    columns.target = static_cast<std::size_t>(target - names.begin());
    for (std::size_t j = 0; j < names.size(); ++j)
      if (names[j] != info.target_name && !contains(info.feature_names, names[j]))
        columns.ignored.push_back(j);
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

struct PredictionReader::State {
  DatasetInfo info;
  std::string source;
  std::vector<std::string> ignored;
  TableBlocks table;
  std::size_t next_record = 0;

  State(const std::filesystem::path& path, TableOptions options, const DatasetInfo& of_training)
      : info(of_training), source(path.string()), table(path, with_words(std::move(options))) {}
  State(std::shared_ptr<const Table> rows, MissingPolicy missing, const DatasetInfo& of_training)
      : info(of_training),
        source(rows->source),
        table(open_memory_table(rows, with_words({.missing = missing}))) {}

  /// The columns that held words in training hold words here.
  TableOptions with_words(TableOptions options) {
    options.of_run = true;
    options.categorical.clear();  // the training file's; what is missing here is said below
    options.choose_categorical = [this](const std::vector<std::string>& names, bool has_header) {
      const Columns columns = find_columns(names, has_header, info, source);
      std::vector<bool> words(names.size(), false);
      for (std::size_t k = 0; k < info.inputs(); ++k)
        words[columns.features[k]] = !info.feature_categories[k].empty();
      if (columns.has_target && info.labels.classes() > 0) words[columns.target] = true;
      for (const std::size_t column : columns.ignored) ignored.push_back(names[column]);
      return words;
    };
    options.choose_read = [this](const std::vector<std::string>& names, bool has_header) {
      const Columns columns = find_columns(names, has_header, info, source);
      std::vector<bool> read(names.size(), false);
      for (const std::size_t column : columns.features) read[column] = true;
      if (columns.has_target) read[columns.target] = true;
      return read;
    };
    return options;
  }

  bool next(std::size_t rows, PredictionRows& out) {
    Table block;
    if (!table.next(rows, block)) return false;
    const Columns columns = find_columns(block.column_names, block.has_header, info, block.source);
    out = PredictionRows();
    out.rows = block.rows;
    out.lines = block.lines;
    out.dropped = block.dropped_lines.size();
    for (std::size_t i = 0; i < block.rows; ++i) add(block, columns, i, out);
    number(block, out);
    info.normalisation.scale_features(out.features);
    return true;
  }

  /// Class of a label or code of a word of the block.
  std::size_t code(const std::vector<std::string>& known, const Table& block, std::size_t row,
                   std::size_t column) const {
    const std::vector<std::string>& words = block.categories[column];
    const double value = block.at(row, column);
    const std::string name = words.empty() ? data::shortest(value) : words[static_cast<std::size_t>(value)];
    return place_of(name, known, block, row, column);
  }

  void add(const Table& block, const Columns& columns, std::size_t i, PredictionRows& out) const {
    for (std::size_t k = 0; k < info.inputs(); ++k) {
      const std::size_t column = columns.features[k];
      double value = block.at(i, column);
      if (!info.feature_categories[k].empty()) {
        if (std::isnan(value))
          throw Error(location(block.source, block.lines[i], column + 1),
                      "missing value in a column of words", "fill it in or remove the row");
        value = static_cast<double>(code(info.feature_categories[k], block, i, column));
      }
      out.features.push_back(value);
    }
    if (!columns.has_target) return;
    const double target = block.at(i, columns.target);
    if (std::isnan(target))
      throw Error(location(block.source, block.lines[i], columns.target + 1), "missing value in the target",
                  "fill it in, remove the row, or leave the target column out");
    out.targets.push_back(info.labels.classes() > 0
                              ? static_cast<double>(code(info.labels.names, block, i, columns.target))
                              : info.normalisation.scaled_target(target));
  }

  /// Kept and dropped rows come in the order of their lines.
  void number(const Table& block, PredictionRows& out) {
    auto dropped = block.dropped_lines.begin();
    for (const std::size_t line : block.lines) {
      for (; dropped != block.dropped_lines.end() && *dropped < line; ++dropped) ++next_record;
      out.records.push_back(next_record++);
    }
    next_record += static_cast<std::size_t>(block.dropped_lines.end() - dropped);
  }
};

PredictionReader::PredictionReader(const std::filesystem::path& path, TableOptions table,
                                   const DatasetInfo& info)
    : state_(std::make_unique<State>(path, std::move(table), info)) {}
PredictionReader::PredictionReader(std::shared_ptr<const Table> table, MissingPolicy missing,
                                   const DatasetInfo& info)
    : state_(std::make_unique<State>(std::move(table), missing, info)) {}
PredictionReader::PredictionReader(PredictionReader&&) noexcept = default;
PredictionReader::~PredictionReader() = default;

bool PredictionReader::next(std::size_t rows, PredictionRows& block) {
  return state_->next(rows, block);
}
const std::vector<std::string>& PredictionReader::ignored_columns() const {
  return state_->ignored;
}

PredictionRows load_prediction_rows(const std::filesystem::path& path, TableOptions table,
                                    const DatasetInfo& info) {
  PredictionReader reader(path, std::move(table), info);
  PredictionRows all, none;
  reader.next(std::numeric_limits<std::size_t>::max(), all);
  if (all.rows == 0) reader.next(1, none);  // says why there are no rows
  return all;
}

}  // namespace smile
