// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "data/field.hpp"
#include "files/npy_header.hpp"
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

/// Of a file with names. A name that occurs several times, as in the training file, is the column at its
/// place there.
std::size_t place_of(const std::string& name, std::size_t training_place,
                     const std::vector<std::string>& names, const DatasetInfo& info,
                     const std::string& source) {
  const auto count = std::count(names.begin(), names.end(), name),
             trained = std::count(info.column_names.begin(), info.column_names.end(), name);
  if (trained > 1 && count == trained && training_place < names.size() && names[training_place] == name)
    return training_place;
  if (trained > 1)
    throw Error(source,
                "the training file had " + std::to_string(trained) + " columns named " + shown(name) +
                    ", which are told apart by their places",
                "give all columns of the training file in their places");
  if (count > 1) throw Error(source, "several columns are named " + shown(name), "rename the others");
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

Columns find_columns(const TableHead& head, const DatasetInfo& info, const std::string& source) {
  const std::vector<std::string>& names = head.column_names;
  Columns columns;
  if (head.has_header && info.has_header) {
    refuse_missing(names, info, source);
    for (std::size_t k = 0; k < info.inputs(); ++k)
      columns.features.push_back(
          place_of(info.feature_names[k], info.feature_columns[k], names, info, source));
    columns.has_target = contains(names, info.target_name);
    if (columns.has_target)
      columns.target = place_of(info.target_name, info.target_position, names, info, source);
    for (std::size_t j = 0; j < names.size(); ++j)
      if (names[j] != info.target_name && !contains(info.feature_names, names[j]) &&
          !(j == 0 && head.has_index))
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

/// Class of a label, or code of a word, looked up by its name: as text, or as numbers that are equal.
std::size_t code_of(const std::string& name, const std::vector<std::string>& names, const Table& table,
                    std::size_t row, std::size_t column) {
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    const std::string number = data::label_name(name, false);
    const auto same = [&](const std::string& known) { return data::label_name(known, false) == number; };
    if (std::count_if(names.begin(), names.end(), same) == 1)
      found = std::find_if(names.begin(), names.end(), same);
  }
  if (found == names.end())
    throw Error(location(table.source, table.lines[row], column + 1),
                shown(name) + " did not occur in this column of the training file",
                "correct the field or train with such rows");
  return static_cast<std::size_t>(found - names.begin());
}

/// "1 row", "3 rows".
std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// Lines of a text file, or rows that a NumPy header tells; 0: not known.
std::size_t count_rows(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return 0;
  std::ifstream file(path, std::ios::binary);
  std::string piece(std::size_t{1} << 20, '\0');
  std::size_t lines = 0;
  for (bool first = true; file.read(piece.data(), std::streamsize(piece.size())), file.gcount() > 0;
       first = false) {
    const std::string_view read(piece.data(), std::size_t(file.gcount()));
    if (first && read.starts_with("\x93NUMPY")) {
      const auto shape = data::parse_any_npy_header(read, path.string()).shape;
      return shape.empty() ? 0 : shape[0];
    }
    lines += std::size_t(std::count(read.begin(), read.end(), '\n'));
  }
  return lines;
}

}  // namespace

struct PredictionReader::State {
  DatasetInfo info;
  std::string source;
  std::vector<std::string> ignored;
  TableBlocks table;
  std::size_t next_record = 0;
  std::size_t comments = 0, blanks = 0;
  std::size_t rows_about = 0;
  PredictionRows sums;  // of what was counted

  State(const std::filesystem::path& path, TableOptions options, const DatasetInfo& of_training)
      : info(of_training), source(path.string()), table(path, of_run(std::move(options))) {
    rows_about = count_rows(path);
  }
  State(std::shared_ptr<const Table> rows, MissingPolicy missing, const DatasetInfo& of_training)
      : info(of_training),
        source(rows->source),
        table(open_memory_table(rows, of_run({.missing = missing}))),
        rows_about(rows->rows) {}

  /// The columns that held words in training hold words here; a row need not have a target.
  TableOptions of_run(TableOptions options) {
    options.of_run = true;
    options.categorical.clear();  // the training file's; what is missing here is said below
    if (info.has_header) {
      options.known_names = info.feature_names;
      options.known_names.push_back(info.target_name);
    }
    options.choose_categorical = [this](const TableHead& head) {
      const Columns columns = find_columns(head, info, source);
      std::vector<bool> words(head.column_names.size(), false);
      for (std::size_t k = 0; k < info.inputs(); ++k)
        words[columns.features[k]] = !info.feature_categories[k].empty();
      if (columns.has_target && info.labels.classes() > 0) words[columns.target] = true;
      for (const std::size_t column : columns.ignored) ignored.push_back(head.column_names[column]);
      return words;
    };
    options.choose_read = [this](const TableHead& head) {
      const Columns columns = find_columns(head, info, source);
      std::vector<bool> read(head.column_names.size(), false);
      for (const std::size_t column : columns.features) read[column] = true;
      if (columns.has_target) read[columns.target] = true;
      return read;
    };
    options.choose_optional = [this](const TableHead& head) {
      const Columns columns = find_columns(head, info, source);
      std::vector<bool> optional(head.column_names.size(), false);
      if (columns.has_target) optional[columns.target] = true;
      return optional;
    };
    return options;
  }

  bool next(std::size_t rows, PredictionRows& out) {
    Table block;
    if (!table.next(rows, block)) return false;
    const Columns columns = find_columns(block, info, block.source);
    out = PredictionRows();
    out.rows = block.rows;
    out.lines = block.lines;
    out.dropped = block.dropped_lines.size();
    for (std::size_t i = 0; i < block.rows; ++i) add(block, columns, i, out);
    number(block, out);
    info.normalisation.scale_features(out.features);
    refuse_what_overflows(block, columns, out);
    comments += block.comment_lines.size();
    blanks += block.blank_lines.size();
    sums.dropped += out.dropped;
    sums.filled += out.filled;
    sums.outside += out.outside;
    sums.far_outside += out.far_outside;
    if (sums.farthest.empty()) sums.farthest = out.farthest;
    return true;
  }

  /// Networks compute in single precision.
  void refuse_what_overflows(const Table& block, const Columns& columns, const PredictionRows& out) const {
    for (std::size_t k = 0; k < out.features.size(); ++k)
      if (!std::isfinite(static_cast<float>(out.features[k])))
        throw Error(
            location(block.source, block.lines[k / info.inputs()], columns.features[k % info.inputs()] + 1),
            "the value is too large for single precision, in which networks compute",
            "correct the field or remove the row");
  }

  std::vector<std::string> remarks() const {
    std::vector<std::string> lines;
    std::string names;
    for (const auto& name : ignored) names += (names.empty() ? "" : ", ") + name;
    if (!names.empty()) lines.push_back("columns that the model does not use: " + names);
    if (sums.dropped > 0) lines.push_back(counted(sums.dropped, "row") + " with a missing value left out");
    if (sums.filled > 0)
      lines.push_back(counted(sums.filled, "missing value") + " replaced by the mean of the training rows");
    if (sums.outside > 0)
      lines.push_back(
          counted(sums.outside, "row") + " with a feature outside of its range in the training rows" +
          (sums.far_outside > 0 ? ", " + std::to_string(sums.far_outside) +
                                      " by more than the range's width (first: " + sums.farthest + ")"
                                : ""));
    if (comments > 0) lines.push_back(counted(comments, "line") + " beginning with # left out");
    if (blanks > 0) lines.push_back(counted(blanks, "line") + " without a value left out");
    return lines;
  }

  /// Counts a row that the network has seen nothing like.
  void compare(const Table& block, const Columns& columns, std::size_t i, PredictionRows& out) const {
    bool outside = false, far = false;
    for (std::size_t k = 0; k < info.feature_lowest.size(); ++k) {
      if (!info.feature_categories[k].empty()) continue;
      const double value = block.at(i, columns.features[k]), low = info.feature_lowest[k],
                   high = info.feature_highest[k], width = high - low;
      if (!(value < low || value > high)) continue;
      outside = true;
      if (far || !(value < low - width || value > high + width)) continue;
      far = true;
      if (out.farthest.empty())
        out.farthest = "line " + std::to_string(block.lines[i]) + ", " + shown(info.feature_names[k]) +
                       " is " + data::shortest(value) + ", in training " + data::shortest(low) + " to " +
                       data::shortest(high);
    }
    out.outside += outside;
    out.far_outside += far;
  }

  /// Class of a label or code of a word of the block.
  std::size_t code(const std::vector<std::string>& known, const Table& block, std::size_t row,
                   std::size_t column) const {
    const std::vector<std::string>& words = block.categories[column];
    const double value = block.at(row, column);
    const std::string name = words.empty() ? data::shortest(value) : words[static_cast<std::size_t>(value)];
    return code_of(name, known, block, row, column);
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
      out.filled += std::isnan(value);
      out.features.push_back(value);
    }
    compare(block, columns, i, out);
    if (!columns.has_target) return;
    const double target = block.at(i, columns.target);
    out.targets.push_back(std::isnan(target) ? target
                          : info.labels.classes() > 0
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
std::size_t PredictionReader::rows_about() const {
  return state_->rows_about;
}
std::vector<std::string> PredictionReader::remarks() const {
  return state_->remarks();
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
