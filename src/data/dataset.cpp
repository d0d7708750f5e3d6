// SPDX-License-Identifier: Apache-2.0
#include "smile/data/dataset.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <utility>

#include "data/field.hpp"
#include "data/table_advice.hpp"
#include "smile/error.hpp"
#include "smile/random/stream.hpp"

namespace smile {

namespace {

using data::location;
using data::shown;

bool is_classification(Task task) {
  return task == Task::classification;
}

void check_options(const DatasetOptions& options) {
  if (options.task == Task::multilabel)
    throw Error("data.task", "class_multilabel is for text", "choose regr, mean_regr or class for a table");
  const std::pair<const char*, double> parts[] = {
      {"train", options.split.train}, {"valid", options.split.valid}, {"test", options.split.test}};
  double sum = 0;
  for (const auto& [name, fraction] : parts) {
    if (!(fraction >= 0 && fraction <= 1))
      throw Error(std::string("data.") + name + "_split", data::shortest(fraction) + " is no fraction",
                  "give a number from 0 to 1");
    sum += fraction;
  }
  if (std::fabs(sum - 1) > 1e-9)
    throw Error("data", "the train, valid and test fractions sum to " + data::shortest(sum),
                "make them sum to 1");
  if (options.max_rows && *options.max_rows == 0)
    throw Error("data", "a limit of 0 rows leaves no data", "raise the limit or remove it");
}

std::vector<std::size_t> feature_columns(const Table& table, std::size_t target,
                                         const DatasetOptions& options) {
  std::vector<std::size_t> columns;
  for (const std::string& name : options.features.value_or(std::vector<std::string>{})) {
    const std::size_t column = column_index(name, table.column_names, "data.features");
    if (column == target)
      throw Error("data.features", shown(name) + " is the target", "remove it from the features");
    if (std::find(columns.begin(), columns.end(), column) != columns.end())
      throw Error("data.features", shown(name) + " occurs twice", "name every feature once");
    columns.push_back(column);
  }
  if (columns.empty())
    for (std::size_t j = 0; j < table.columns; ++j)
      if (j != target && !(table.has_index && j == 0)) columns.push_back(j);
  if (columns.empty())
    throw Error(table.source, "there are no feature columns beside the target",
                "give a table of two columns or more");
  return columns;
}

/// Original labels in order, and class numbers in place of the table's target column.
LabelMap map_labels(const Table& table, std::size_t target, std::vector<double>& targets) {
  LabelMap labels;
  std::map<double, std::size_t> count_of;  // by table value: a number, or a word's code
  for (double label : targets)
    if (!std::isnan(label)) ++count_of[label];
  const std::vector<std::string>& words = table.categories[target];
  std::map<double, double> class_of;
  bool numeric = true;
  for (const auto& [value, count] : count_of) {
    class_of[value] = static_cast<double>(labels.names.size());
    labels.names.push_back(words.empty() ? data::shortest(value) : words[static_cast<std::size_t>(value)]);
    labels.counts.push_back(count);
    numeric = numeric && data::parse_field(labels.names.back(), false).kind == data::FieldKind::number;
  }
  const auto fraction = [](const std::string& name) {
    const double value = data::parse_field(name, false).value;
    return std::trunc(value) != value;
  };
  if (numeric)
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (std::isnan(targets[i])) continue;
      const std::string& name = labels.names[static_cast<std::size_t>(class_of[targets[i]])];
      if (fraction(name))
        throw Error(location(table.source, table.line(i), target + 1),
                    "label " + shown(name) + " is no whole number",
                    "choose a regression task or another target_column");
    }
  if (labels.classes() < 2)
    throw Error(table.source,
                "column '" + table.column_names[target] + "' has one class only (" + labels.names[0] + ")",
                "choose another target_column");
  for (double& label : targets)
    if (!std::isnan(label)) label = class_of[label];
  return labels;
}

struct Sizes {
  std::size_t train, valid, test;
};

Sizes split_sizes(std::size_t rows, const DatasetOptions& options, const std::string& source) {
  // A fraction such as 0.29 times 100 may fall just below the whole number that is meant.
  const auto part = [&](double fraction) {
    return static_cast<std::size_t>(std::floor(fraction * static_cast<double>(rows) + 1e-9));
  };
  Sizes sizes{part(options.split.train), part(options.split.valid), 0};
  const bool has_test = options.split.test > 0;
  if (has_test)
    sizes.test = rows - std::min(rows, sizes.train + sizes.valid);
  else
    sizes.train = rows - std::min(rows, sizes.valid);
  const std::pair<const char*, std::size_t> parts[] = {
      {"train", sizes.train}, {"valid", sizes.valid}, {"test", sizes.test}};
  for (const auto& [name, size] : parts)
    if (size == 0 && (has_test || std::string_view(name) != "test"))
      throw Error(
          source,
          std::to_string(rows) + (rows == 1 ? " row" : " rows") + " leave the " + name + " part empty",
          "give more rows or change the fractions");
  return sizes;
}

/// Mean and sd of a table column over some of its rows.
Moments column_moments(const Table& table, std::size_t column, std::span<const std::uint32_t> rows) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (std::uint32_t i : rows) values.push_back(table.at(i, column));
  if (std::all_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }))
    throw Error(table.source,
                "column '" + table.column_names[column] + "' has no value in the rows that give its mean",
                "leave the column out");
  return moments_of(values);
}

/// Smallest and largest value in some rows; NaN where there is none.
std::pair<double, double> range_of(const Table& table, std::size_t column,
                                   std::span<const std::uint32_t> rows) {
  double lowest = std::nan(""), highest = lowest;
  for (const std::uint32_t i : rows)
    lowest = std::fmin(lowest, table.at(i, column)), highest = std::fmax(highest, table.at(i, column));
  return {lowest, highest};
}

/// Every value of the rows, as the network gets it, is a finite number in single precision, in which it
/// computes. @return FNV-1a over the bits of the features and then of the targets, from `hash` on
std::uint64_t check_and_hash(const SplitTable& data, const std::vector<std::uint32_t>& rows,
                             std::uint64_t hash) {
  const Table& table = *data.table;
  const DatasetInfo& info = data.info;
  const auto check = [&](double value, std::uint32_t row, std::size_t column) {
    if (std::isfinite(static_cast<float>(value))) return;
    throw Error(location(table.source, table.line(row), column + 1),
                std::isfinite(value)
                    ? "the value is too large for single precision, in which networks compute"
                    : "the value overflows when it is standardised",
                "correct the field or remove the row");
  };
  const auto add = [&](double value) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211ull;
    hash ^= hash >> 32;
  };
  std::vector<double> features(info.inputs());
  for (const std::uint32_t row : rows) {
    data.read(row, features);
    for (std::size_t k = 0; k < features.size(); ++k) {
      check(features[k], row, info.feature_columns[k]);
      add(features[k]);
    }
  }
  const std::vector<double> targets = data.scaled_targets(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    check(targets[i], rows[i], info.target_position);
    add(targets[i]);
  }
  return hash;
}

DataPart make_part(const SplitTable& data, const std::vector<std::uint32_t>& rows) {
  DataPart part;
  part.rows = rows.size();
  const std::size_t inputs = data.info.inputs();
  part.features.resize(rows.size() * inputs);
  for (std::size_t i = 0; i < rows.size(); ++i)
    data.read(rows[i], std::span(part.features).subspan(i * inputs, inputs));
  part.targets = data.scaled_targets(rows);
  return part;
}

/// Columns of one name can be told apart by their place only.
void tell_of_equal_names(const DatasetInfo& info, std::vector<std::string>& warnings) {
  std::map<std::string, std::size_t> seen;
  for (std::size_t k = 0; k < info.feature_names.size(); ++k) {
    const auto [first, is_new] = seen.try_emplace(info.feature_names[k], info.feature_columns[k]);
    if (!is_new)
      warnings.push_back("columns " + std::to_string(first->second + 1) + " and " +
                         std::to_string(info.feature_columns[k] + 1) + " are both named " +
                         shown(info.feature_names[k]) +
                         "; files to be predicted must have them in the same places");
  }
}

/// The columns and what they are called.
void describe_columns(const Table& table, const DatasetOptions& options, DatasetInfo& info) {
  info.source = table.source;
  info.task = options.task;
  info.seed = options.seed;
  info.has_header = table.has_header;
  info.file_columns = table.columns;
  info.column_names = table.column_names;
  info.target_position =
      column_index(options.target_column.value_or("-1"), table.column_names, "data.target_column");
  info.target_name = table.column_names[info.target_position];
  info.feature_columns = feature_columns(table, info.target_position, options);
  for (std::size_t column : info.feature_columns) {
    info.feature_names.push_back(table.column_names[column]);
    info.feature_categories.push_back(table.categories[column]);
  }
}

/// The rows that have a target. Missing features are filled with the mean later; a row without a target
/// teaches nothing, a word has no mean. @param targets  NaN where there is none
std::vector<std::uint32_t> usable_rows(const Table& table, const DatasetInfo& info,
                                       std::vector<double>& targets, std::vector<std::string>& warnings) {
  if (!table.dropped_lines.empty())
    warnings.push_back(std::to_string(table.dropped_lines.size()) +
                       " rows with missing values left out (lines " +
                       data::joined_lines(table.dropped_lines) + ")");
  std::vector<std::uint32_t> usable;
  std::vector<std::size_t> without_target;
  std::size_t filled = 0;
  for (std::size_t i = 0; i < table.rows; ++i) {
    targets[i] = table.at(i, info.target_position);
    if (std::isnan(targets[i])) {
      without_target.push_back(table.line(i));
      continue;
    }
    usable.push_back(static_cast<std::uint32_t>(i));
    for (std::size_t column : info.feature_columns) {
      if (!std::isnan(table.at(i, column))) continue;
      ++filled;
      if (!table.categories[column].empty())
        throw Error(location(table.source, table.line(i), column + 1),
                    "missing value in column '" + table.column_names[column] + "', whose words have no mean",
                    data::against_missing({}, false));
    }
  }
  if (!without_target.empty())
    warnings.push_back(std::to_string(without_target.size()) + " rows without a target left out (lines " +
                       data::joined_lines(without_target) + ")");
  if (filled > 0)
    warnings.push_back(std::to_string(filled) + " missing values replaced by their column's mean");
  if (usable.empty()) throw Error(table.source, "no row has a target", "choose another target_column");
  return usable;
}

/// Rows of the table from files. The validation rows are taken from the training rows where no file has them.
/// @return all that are used
std::vector<std::uint32_t> rows_of_files(const Table& table, const std::vector<std::uint32_t>& usable,
                                         const DatasetOptions& options, DatasetInfo& info) {
  const std::string& path = options.split_files.test ? *options.split_files.test : info.source;
  if (!table.dropped_lines.empty() || usable.size() != table.rows)
    throw Error(path, "rows were left out of " + table.source + ", so that row numbers no longer hold",
                "mend the table, or write data.missing: mean");
  if (options.max_rows)
    throw Error("data.datapoint_limit", "a limit of rows and files that name the rows exclude each other",
                "leave one of them out");
  SplitRows rows = read_split_files(options.split_files, table.rows);
  if (!options.split_files.valid) {
    const SplitFractions& parts = options.split;
    std::vector<std::uint32_t> order(rows.train.size());
    random_permutation({.seed = options.seed, .chain = 0, .purpose = Purpose::split}, 0, order);
    for (std::uint32_t& place : order) place = rows.train[place];
    const auto valid = static_cast<std::size_t>(
        std::floor(parts.valid / (parts.train + parts.valid) * static_cast<double>(order.size()) + 1e-9));
    if (valid == 0)
      throw Error(info.source, std::to_string(order.size()) + " training rows leave the valid part empty",
                  "give more rows, a larger valid_split, or data.split_files.valid");
    rows.valid.assign(order.end() - static_cast<std::ptrdiff_t>(valid), order.end());
    rows.train.assign(order.begin(), order.end() - static_cast<std::ptrdiff_t>(valid));
  }
  info.train_rows = std::move(rows.train);
  info.valid_rows = std::move(rows.valid);
  info.test_rows = std::move(rows.test);
  std::vector<std::uint32_t> used = info.train_rows;
  used.insert(used.end(), info.valid_rows.begin(), info.valid_rows.end());
  used.insert(used.end(), info.test_rows.begin(), info.test_rows.end());
  return used;
}

/// Shuffles the usable rows and deals them out. @return all that are used, in the shuffled order
std::vector<std::uint32_t> split_rows(const std::vector<std::uint32_t>& usable, const DatasetOptions& options,
                                      DatasetInfo& info) {
  std::vector<std::uint32_t> order(usable.size());
  random_permutation({.seed = options.seed, .chain = 0, .purpose = Purpose::split}, 0, order);
  for (std::uint32_t& place : order) place = usable[place];
  if (options.max_rows && *options.max_rows < order.size()) order.resize(*options.max_rows);
  const Sizes sizes = split_sizes(order.size(), options, info.source);
  const auto valid_begin = order.begin() + static_cast<std::ptrdiff_t>(sizes.train);
  const auto test_begin = valid_begin + static_cast<std::ptrdiff_t>(sizes.valid);
  info.train_rows.assign(order.begin(), valid_begin);
  info.valid_rows.assign(valid_begin, test_begin);
  info.test_rows.assign(options.split.test > 0 ? test_begin : valid_begin, order.end());
  return order;
}

void measure_columns(const Table& table, const std::vector<std::uint32_t>& used,
                     const DatasetOptions& options, DatasetInfo& info, std::vector<std::string>& warnings) {
  const bool scale = options.normalize;
  const bool all = scale && options.normalize_with == NormalizeWith::all;
  const std::vector<std::uint32_t>& rows = all ? used : info.train_rows;
  const std::string whose = all ? "all" : "the training";
  if (scale && rows.size() < 2)
    throw Error(table.source, "one training row has no standard deviation to scale with",
                "give more rows or set 'data.normalize: false'");
  for (std::size_t column : info.feature_columns) {
    const Moments moments = column_moments(table, column, rows);
    if (moments.sd == 0)
      warnings.push_back("column '" + table.column_names[column] + "' is constant in " + whose + " rows" +
                         (scale ? " and becomes 0" : ""));
    info.normalisation.feature_fill.push_back(moments.mean);
    const auto [lowest, highest] = range_of(table, column, info.train_rows);
    info.feature_lowest.push_back(lowest);
    info.feature_highest.push_back(highest);
    info.normalisation.feature_mean.push_back(scale ? moments.mean : 0);
    info.normalisation.feature_sd.push_back(scale ? moments.sd : 1);
  }
  if (is_classification(info.task)) return;
  const Moments moments = column_moments(table, info.target_position, rows);
  if (moments.sd == 0)
    throw Error(table.source,
                "the target column '" + info.target_name + "' is constant in " + whose + " rows",
                "choose another target_column");
  if (!scale) return;
  info.normalisation.target_mean = moments.mean;
  info.normalisation.target_sd = moments.sd;
}

/// One cell far from all others takes the column's scale away from them: a missing unit, 1e30 for "unknown".
void tell_of_far_cells(const Table& table, const std::vector<std::uint32_t>& used, const DatasetInfo& info,
                       std::vector<std::string>& warnings) {
  constexpr double kFar = 1e4;  // in units of the width that half of the rows take
  std::vector<std::size_t> columns = info.feature_columns;
  if (!is_classification(info.task)) columns.push_back(info.target_position);
  for (const std::size_t column : columns) {
    if (!table.categories[column].empty()) continue;
    std::vector<double> values;
    for (const std::uint32_t i : used)
      if (!std::isnan(table.at(i, column))) values.push_back(table.at(i, column));
    if (values.size() < 4) continue;
    std::sort(values.begin(), values.end());
    const double low = values[values.size() / 4], high = values[3 * values.size() / 4], width = high - low;
    if (!(width > 0)) continue;
    for (const std::uint32_t i : used) {
      const double value = table.at(i, column);
      if (!(value < low - kFar * width || value > high + kFar * width)) continue;
      warnings.push_back(
          "column '" + table.column_names[column] + "' is " + data::shortest(value) + " in line " +
          std::to_string(table.line(i)) + ", while half of its rows lie between " + data::shortest(low) +
          " and " + data::shortest(high) + "; where it stands for a missing value, leave the cell empty");
      break;
    }
  }
}

void name_absent_classes(const DatasetInfo& info, const std::vector<double>& targets,
                         std::vector<std::string>& warnings) {
  std::vector<bool> seen(info.labels.classes(), false);
  for (std::uint32_t i : info.train_rows) seen[static_cast<std::size_t>(targets[i])] = true;
  for (std::size_t c = 0; c < seen.size(); ++c)
    if (!seen[c]) warnings.push_back("class " + shown(info.labels.names[c]) + " has no training row");
}

}  // namespace

double SplitTable::read(std::uint32_t row, std::span<double> features) const {
  for (std::size_t k = 0; k < features.size(); ++k) features[k] = table->at(row, info.feature_columns[k]);
  info.normalisation.scale_features(features);
  return is_classification(info.task) ? targets[row] : info.normalisation.scaled_target(targets[row]);
}

std::vector<double> SplitTable::scaled_targets(std::span<const std::uint32_t> rows) const {
  std::vector<double> scaled;
  scaled.reserve(rows.size());
  for (const std::uint32_t row : rows)
    scaled.push_back(is_classification(info.task) ? targets[row]
                                                  : info.normalisation.scaled_target(targets[row]));
  return scaled;
}

SplitTable split_table(std::shared_ptr<const Table> given, const DatasetOptions& options) {
  check_options(options);
  const Table& table = *given;
  if (table.rows > std::numeric_limits<std::uint32_t>::max())
    throw Error(table.source, "more than 2^32 rows", "give fewer rows");
  SplitTable out;
  out.table = std::move(given);
  DatasetInfo& info = out.info;
  describe_columns(table, options, info);
  out.warnings = table_remarks(table);
  tell_of_equal_names(info, out.warnings);
  out.targets.resize(table.rows);
  const auto usable = usable_rows(table, info, out.targets, out.warnings);
  if (is_classification(info.task)) info.labels = map_labels(table, info.target_position, out.targets);
  const SplitFiles& files = options.split_files;
  const bool by_files = files.test || files.train || files.valid;
  const auto used =
      by_files ? rows_of_files(table, usable, options, info) : split_rows(usable, options, info);
  if (!by_files && options.split.test == 0)
    out.warnings.push_back(
        "there is no test part (test_split 0): the validation rows serve as test rows, and early stopping "
        "has "
        "seen them");
  measure_columns(table, used, options, info, out.warnings);
  tell_of_far_cells(table, used, info, out.warnings);
  if (is_classification(info.task)) name_absent_classes(info, out.targets, out.warnings);
  constexpr std::uint64_t kBasis = 14695981039346656037ull;
  info.checksum = check_and_hash(out, info.train_rows, kBasis);
  info.checksum = check_and_hash(out, info.valid_rows, info.checksum);
  info.checksum = check_and_hash(out, info.test_rows, info.checksum);
  return out;
}

Dataset assemble_dataset(const SplitTable& data) {
  Dataset out;
  out.info = data.info;
  out.warnings = data.warnings;
  out.train = make_part(data, data.info.train_rows);
  out.valid = make_part(data, data.info.valid_rows);
  out.test = make_part(data, data.info.test_rows);
  return out;
}

Dataset assemble_dataset(const Table& table, const DatasetOptions& options) {
  return assemble_dataset(
      split_table(std::shared_ptr<const Table>(std::shared_ptr<void>(), &table), options));
}

Table read_dataset_table(const std::filesystem::path& path, TableOptions table,
                         const DatasetOptions& options) {
  if (path == kMemoryPath)
    throw Error("data.path", "the rows of this run were arrays in memory, which no file holds",
                "give them again: in Python `smile_bnn.load(RUN).evaluate(X, y)`; on the command line as a "
                "table whose last column is the target, `smile evaluate RUN --data FILE`");
  const std::string target = options.target_column.value_or("-1");
  if (is_classification(options.task)) table.labels = target;
  // A name that the configuration has is a name in the file. Numbers may be places.
  const auto know = [&](const std::string& name) {
    if (name.find_first_not_of("-0123456789") != std::string::npos) table.known_names.push_back(name);
  };
  know(target);
  for (const std::string& name : options.features.value_or(std::vector<std::string>{})) know(name);
  for (const std::string& name : table.categorical) know(name);
  // What is neither a feature nor the target may hold anything.
  table.choose_read = [&](const TableHead& head) {
    const auto& names = head.column_names;
    const bool some = options.features && !options.features->empty();
    std::vector<bool> read(names.size(), !some);
    if (some)
      for (const std::string& name : *options.features)
        read[column_index(name, names, "data.features")] = true;
    else if (head.has_index)
      read[0] = false;
    read[column_index(target, names, "data.target_column")] = true;
    return read;
  };
  return read_table(path, table);
}

Dataset load_dataset(const std::filesystem::path& path, TableOptions table, const DatasetOptions& options) {
  return assemble_dataset(read_dataset_table(path, std::move(table), options), options);
}

}  // namespace smile
