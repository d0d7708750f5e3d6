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

bool TableBuilder::looks_like_header(const std::vector<std::string>& fields) const {
  if (options_.header) return *options_.header;
  // Either decimal sign counts: whether commas are allowed is for the rows to say.
  return std::none_of(fields.begin(), fields.end(), [](const std::string& field) {
    // Nor is "1,2,3" a name: digits and punctuation alone are spoilt numbers.
    return parse_field(field, false).kind != FieldKind::text ||
           trimmed(field).find_first_not_of("0123456789.,;+-") == std::string_view::npos;
  });
}

void TableBuilder::start(const std::vector<std::string>& fields) {
  started_ = true;
  table_.columns = fields.size();
  table_.has_header = looks_like_header(fields);
  for (std::size_t j = 0; j < fields.size(); ++j) {
    std::string name = table_.has_header ? std::string(trimmed(fields[j])) : std::string();
    table_.column_names.push_back(name.empty() ? "column" + std::to_string(j + 1) : name);
  }
  categorical_.assign(table_.columns, false);
  words_.resize(table_.columns);
  table_.categories.resize(table_.columns);
  for (const std::string& name : options_.categorical)
    categorical_[column_index(name, table_.column_names, table_.source + ": categorical")] = true;
  if (options_.choose_categorical)
    categorical_ = options_.choose_categorical(table_.column_names, table_.has_header);
  read_.assign(table_.columns, true);
  if (options_.choose_read) read_ = options_.choose_read(table_.column_names, table_.has_header);
}

void TableBuilder::add(std::size_t line, const std::vector<std::string>& fields) {
  if (!started_) {
    start(fields);
    if (table_.has_header) return;
  }
  if (fields.size() != table_.columns) {
    // Read on, so that the message can name more than the first; nothing is kept of such a record.
    constexpr std::size_t kNamed = 4;
    if (odd_records_.size() < kNamed) odd_records_.push_back({line, fields.size()});
    return;
  }
  if (odd_records_.empty()) add_row(line, fields);
}

void TableBuilder::refuse(std::size_t line, std::size_t column, const std::string& text,
                          FieldKind kind) const {
  const std::string where = location(table_.source, line, column + 1);
  const std::string& name = table_.column_names[column];
  const std::string_view field = trimmed(text);
  if (const NearNumber near = near_number(field, options_, delimiter_);
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
    if (parsed.kind == FieldKind::missing && options_.missing != MissingPolicy::error) {
      ++missing_fields;
      parsed.value = std::numeric_limits<double>::quiet_NaN();
    } else if (parsed.kind != FieldKind::number) {
      refuse(line, j, fields[j], parsed.kind);
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
      table_.values[first + j] =
          words_[j].try_emplace(canonical_word(fields[j], options_.decimal_comma), next).first->second;
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
  next.source = table_.source;
  next.column_names = table_.column_names;
  next.has_header = table_.has_header;
  next.columns = table_.columns;
  next.categories.resize(table_.columns);
  for (auto& words : words_) words.clear();
  taken_ += table_.rows;
  return std::exchange(table_, std::move(next));
}

void TableBuilder::check_any() const {
  if (taken_ + table_.rows > 0) return;
  if (dropped_ > 0)
    throw Error(table_.source, "no data: every row has a missing value", against_all_missing(options_));
  throw Error(table_.source, table_.has_header ? "no data after the header" : "no data",
              "give a file with at least one row");
}

}  // namespace smile::data
