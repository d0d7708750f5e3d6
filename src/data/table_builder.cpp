// SPDX-License-Identifier: Apache-2.0
#include "data/table_builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "data/table_advice.hpp"
#include "smile/error.hpp"

namespace smile::data {

TableBuilder::TableBuilder(std::string source, const TableOptions& options) : options_(options) {
  table_.source = std::move(source);
}

void TableBuilder::start(const HeaderDecision& header, const Record& first) {
  header_line_ = header.line;
  name_columns(header, header.names.empty() ? first.fields.size()
                                            : header.names.size() + (header.rows_have_one_more ? 1 : 0));
  choose_columns();
  if (!options_.of_run) tell(header);
}

void TableBuilder::name_columns(const HeaderDecision& header, std::size_t columns) {
  table_.columns = columns;
  table_.has_header = !header.names.empty();
  std::vector<std::string> names = header.names;
  if (header.rows_have_one_more) names.insert(names.begin(), "");
  names.resize(columns);
  for (std::size_t j = 0; j < columns; ++j) {
    const std::string name(trimmed(names[j]));
    table_.column_names.push_back(name.empty() ? "column" + std::to_string(j + 1) : name);
  }
  if (table_.has_header && columns > 1) {
    const std::string_view name = trimmed(names[0]);
    table_.has_index = name.empty() || name == "Unnamed: 0";
  }
}

void TableBuilder::choose_columns() {
  const std::size_t columns = table_.columns;
  categorical_.assign(columns, false);
  labels_.assign(columns, false);
  words_.resize(columns);
  table_.categories.resize(columns);
  const auto place = [&](const std::string& name, const char* key) {
    return column_index(name, table_.column_names, table_.source + ": " + key);
  };
  if (options_.labels) {
    labels_[place(*options_.labels, "target_column")] = true;
    categorical_ = labels_;
  }
  for (const std::string& name : options_.categorical) {
    const std::size_t column = place(name, "categorical");
    categorical_[column] = true;
    labels_[column] = false;  // declared words compare as text
  }
  if (options_.as_text) categorical_.assign(columns, true);
  const auto chosen = [&](const TableOptions::Choice& choice, bool otherwise) {
    return choice ? choice(table_) : std::vector<bool>(columns, otherwise);
  };
  if (options_.choose_categorical) categorical_ = options_.choose_categorical(table_);
  read_ = chosen(options_.choose_read, true);
  optional_ = chosen(options_.choose_optional, false);
}

/// What was decided about the form of the file, where somebody may have meant another.
void TableBuilder::tell(const HeaderDecision& header) {
  const std::string line = "line " + std::to_string(header.line);
  if (header.behind_hash)
    table_.remarks.push_back("the columns have their names from " + line + ", which begins with #");
  else if (header.in_doubt && table_.has_header)
    table_.remarks.push_back(
        line +
        " is taken for the names of the columns, as none of its words occurs again below; "
        "where it is a row, set 'data.header: false'");
  if (header.in_doubt && !table_.has_header)
    table_.remarks.push_back(
        "the first line is taken for a row, as its word " + shown(header.recurring) +
        " occurs again in its column; where it names the columns, set 'data.header: true'");
  if (table_.has_index)
    table_.remarks.push_back(
        "the first column has no name and is left out, as it only numbers or names the rows; "
        "where it is a feature, name all features in 'data.features'");
}

void TableBuilder::add(const Record& record) {
  // Where the first column holds words, # is the beginning of one.
  const bool comment = record.hash && (options_.as_text || !categorical_[0]) && read_[0] &&
                       !is_missing(record.fields[0], false) && !is_spreadsheet_error(record.fields[0]);
  if (comment) return add_comment(record.line);
  const auto& fields = record.fields;
  if (fields.size() > 1 &&
      std::all_of(fields.begin(), fields.end(), [](const auto& f) { return trimmed(f).empty(); })) {
    table_.blank_lines.push_back(record.line);
    return;
  }
  if (fields.size() != table_.columns) {
    // Read on, so that the message can name more than the first; nothing is kept of such a record.
    constexpr std::size_t kNamed = 4;
    if (odd_records_.size() < kNamed) odd_records_.push_back({record.line, fields.size()});
    return;
  }
  if (odd_records_.empty()) add_row(record.line, fields);
}

void TableBuilder::refuse(std::size_t line, std::size_t column, const std::vector<std::string>& fields,
                          FieldKind kind) const {
  const std::string where = location(table_.source, line, column + 1);
  const std::string& name = table_.column_names[column];
  const std::string_view field = trimmed(fields[column]);
  if (table_.has_header && kind == FieldKind::text && field == name &&
      std::equal(fields.begin(), fields.end(), table_.column_names.begin(),
                 [](const std::string& f, const std::string& n) { return trimmed(f) == n; }))
    throw Error(where, shown(field) + " is not a number: the line repeats the names of the columns",
                "remove the line");
  if (const NearNumber near = near_number(field, name, options_, delimiter_);
      !near.what.empty() && (kind == FieldKind::text || kind == FieldKind::decimal_comma))
    throw Error(where, shown(field) + near.what, near.mend);
  switch (kind) {
    case FieldKind::missing:
      throw Error(
          where,
          (field.empty() ? "missing value" : "missing value " + shown(field)) + " in column '" + name + "'",
          against_missing(options_));
    case FieldKind::infinite:
      throw Error(where, shown(field) + " is not a finite number", "correct the field or remove the row");
    case FieldKind::out_of_range:
      throw Error(where, shown(field) + " is beyond the range of double precision",
                  "correct the field or change the column's unit");
    case FieldKind::decimal_comma:
      throw Error(where, shown(field) + " has a decimal comma", against_decimal_comma(options_, delimiter_));
    case FieldKind::decimal_point:
      throw Error(where, shown(field) + " has a decimal point where decimal commas were announced",
                  against_decimal_point(options_));
    default:
      break;
  }
  std::string mend = against_word(options_, name);
  if (first_row_ && !table_.has_header && !options_.of_run)
    mend += "; if line " + std::to_string(line) + " names the columns, set 'data.header: true'";
  if (table_.columns == 1 && field.find_first_of(",;") != std::string_view::npos)
    mend = "separate the fields by blanks, or name the file .csv";
  throw Error(where, shown(field) + " is not a number", mend);
}

void TableBuilder::add_row(std::size_t line, const std::vector<std::string>& fields) {
  const std::size_t first = table_.values.size();
  std::size_t missing_fields = 0;
  for (std::size_t j = 0; j < fields.size(); ++j) {
    ParsedField parsed{FieldKind::number, 0};  // a word's code follows when the row is known to stay
    if (!read_[j]) {
      parsed.value = std::numeric_limits<double>::quiet_NaN();
    } else if (categorical_[j]) {
      if (is_missing(trimmed(fields[j]), true)) parsed.kind = FieldKind::missing;
    } else {
      parsed = parse_field(fields[j], options_.decimal_comma);
    }
    if (parsed.kind == FieldKind::missing && (optional_[j] || options_.missing != MissingPolicy::error)) {
      missing_fields += !optional_[j];
      parsed.value = std::numeric_limits<double>::quiet_NaN();
    } else if (parsed.kind != FieldKind::number) {
      refuse(line, j, fields, parsed.kind);
    }
    table_.values.push_back(parsed.value);
  }
  first_row_ = false;
  if (missing_fields > 0 && options_.missing == MissingPolicy::drop) {
    table_.values.resize(first);
    table_.dropped_lines.push_back(line);
    ++dropped_;
    return;
  }
  table_.missing_values += missing_fields;
  for (std::size_t j = 0; j < fields.size(); ++j)
    if (categorical_[j] && !std::isnan(table_.values[first + j])) {
      const auto next = static_cast<double>(words_[j].size());
      const std::string word =
          labels_[j] ? label_name(fields[j], options_.decimal_comma) : std::string(trimmed(fields[j]));
      table_.values[first + j] = words_[j].try_emplace(word, next).first->second;
    }
  table_.lines.push_back(line);
  ++table_.rows;
}

void TableBuilder::order_words(std::size_t column) {
  std::vector<std::string>& ordered = table_.categories[column];
  std::vector<std::pair<double, std::string>> numbers;
  for (const auto& [word, code] : words_[column]) {
    ordered.push_back(word);
    const ParsedField parsed = parse_field(word, false);
    if (parsed.kind == FieldKind::number) numbers.emplace_back(parsed.value, word);
  }
  // Words are sorted by the map; numbers go by value, not by their digits.
  if (numbers.size() == ordered.size()) {
    std::sort(numbers.begin(), numbers.end());
    for (std::size_t k = 0; k < numbers.size(); ++k) ordered[k] = numbers[k].second;
  }
  std::vector<double> place(ordered.size());
  for (std::size_t k = 0; k < ordered.size(); ++k)
    place[static_cast<std::size_t>(words_[column].at(ordered[k]))] = static_cast<double>(k);
  for (std::size_t i = 0; i < table_.rows; ++i) {
    double& value = table_.values[i * table_.columns + column];
    if (!std::isnan(value)) value = place[static_cast<std::size_t>(value)];
  }
}

Table TableBuilder::take() {
  if (!odd_records_.empty()) {
    const OddRecord first = odd_records_.front();
    std::string what =
        "expected " + std::to_string(table_.columns) + " fields, found " + std::to_string(first.fields);
    for (std::size_t k = 1; k < odd_records_.size(); ++k)
      what += (k == 1 ? " (likewise line " : ", line ") + std::to_string(odd_records_[k].line) + ": found " +
              std::to_string(odd_records_[k].fields);
    if (odd_records_.size() > 1) what += ")";
    throw Error(location(table_.source, first.line, std::min(first.fields, table_.columns) + 1), what,
                "give every row the same number of fields");
  }
  for (std::size_t j = 0; j < table_.columns; ++j)
    if (categorical_[j]) order_words(j);
  Table next;
  static_cast<TableHead&>(next) = table_;
  next.source = table_.source;
  next.columns = table_.columns;
  next.categories.resize(table_.columns);
  for (auto& words : words_) words.clear();
  taken_ += table_.rows;
  comments_ += table_.comment_lines.size();
  return std::exchange(table_, std::move(next));
}

void TableBuilder::check_any() const {
  if (taken_ + table_.rows > 0) return;
  if (dropped_ > 0)
    throw Error(table_.source, "no data: every row has a missing value", against_all_missing(options_));
  if (comments_ + table_.comment_lines.size() > 0 && !table_.has_header)
    throw Error(table_.source, "no data: all lines begin with #, as comments do",
                "give a file with at least one row");
  throw Error(table_.source, table_.has_header ? "no data after the header" : "no data",
              "give a file with at least one row");
}

}  // namespace smile::data
