// SPDX-License-Identifier: Apache-2.0
#include "smile/data/table_survey.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "data/field.hpp"
#include "data/table_advice.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

using data::FieldKind;
using data::ParsedField;

Table read_as_text(const std::filesystem::path& path, Delimiter delimiter) {
  TableOptions options;
  options.as_text = true;
  options.missing = MissingPolicy::mean;
  options.delimiter = delimiter;
  return read_table(path, options);
}

/// Whether fields of the table hold separators, so that it was cut at the wrong ones.
bool holds_separators(const Table& table) {
  std::size_t cut = 0, words = 0;
  for (std::size_t j = 0; j < table.columns; ++j)
    for (const std::string& word : table.categories[j]) {
      ++words;
      const bool ends = word.ends_with(',') || word.ends_with(';');
      cut += ends || (table.columns == 1 && word.find_first_of(",;\t") != std::string::npos);
    }
  return words > 0 && 2 * cut > words;
}

/// Numbers may come as they are (a matrix of NumPy) or as words.
std::string cell(const Table& table, std::size_t i, std::size_t j) {
  const double value = table.at(i, j);
  return table.categories[j].empty() ? data::shortest(value) : table.categories[j][std::size_t(value)];
}

bool has_leading_zero(const std::string& text) {
  return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

/// What every distinct cell of a column is; cells are looked up here.
struct Seen {
  ParsedField parsed;
  bool code = false, date = false;
};

Seen look_at(const std::string& text, bool decimal_comma) {
  return {data::parse_field(text, decimal_comma), has_leading_zero(text), data::is_date_or_time(text)};
}

ColumnSurvey survey_column(const Table& table, std::size_t j, bool decimal_comma,
                           std::vector<bool>& missing) {
  ColumnSurvey out;
  out.name = table.column_names[j];
  out.whole = out.counts_up = true;
  const std::vector<std::string>& words = table.categories[j];
  std::vector<Seen> seen;
  for (const std::string& word : words) seen.push_back(look_at(word, decimal_comma));
  std::optional<double> last;
  std::size_t dates = 0;
  for (std::size_t i = 0; i < table.rows; ++i) {
    const double value = table.at(i, j);
    const Seen one = std::isnan(value) ? Seen{{FieldKind::missing, 0}}
                     : words.empty()   ? Seen{{FieldKind::number, value}}
                                       : seen[std::size_t(value)];
    switch (one.parsed.kind) {
      case FieldKind::missing:
        ++out.missing;
        missing[i] = true;
        break;
      case FieldKind::number:
        ++out.numbers;
        out.codes = out.codes || one.code;
        out.whole = out.whole && std::trunc(one.parsed.value) == one.parsed.value;
        out.counts_up = out.counts_up && (!last || one.parsed.value == *last + 1);
        last = one.parsed.value;
        break;
      case FieldKind::decimal_comma:
        ++out.decimal_commas;
        break;
      default:
        ++out.words;
        dates += one.date;
        if (out.odd_cell.empty()) {
          out.odd_cell = cell(table, i, j);
          out.odd_line = table.lines[i];
        }
    }
  }
  out.distinct = words.size();
  if (words.empty()) {  // numbers as they are: as many as differ from one another
    std::vector<double> values;
    for (std::size_t i = 0; i < table.rows; ++i)
      if (!std::isnan(table.at(i, j))) values.push_back(table.at(i, j));
    std::sort(values.begin(), values.end());
    out.distinct = std::size_t(std::unique(values.begin(), values.end()) - values.begin());
  }
  out.dates = 2 * dates > out.words;
  out.whole = out.whole && out.numbers > 0;
  out.counts_up = out.counts_up && out.numbers > 1;
  if (2 * out.words > out.cells()) out.odd_cell.clear();
  return out;
}

}  // namespace

TableSurvey survey_table(const std::filesystem::path& path) {
  TableSurvey survey;
  std::optional<Table> table;
  std::optional<Error> refusal;
  try {
    table = read_as_text(path, Delimiter::detect);
  } catch (const Error& error) {
    refusal = error;
  }
  // Other separators may fit, too, such as commas between decimals: the most columns are the right ones.
  if (!table || holds_separators(*table))
    for (const Delimiter delimiter : {Delimiter::comma, Delimiter::semicolon, Delimiter::tab}) {
      try {
        Table other = read_as_text(path, delimiter);
        if (other.columns < 2 || (table && other.columns < table->columns)) continue;
        if (survey.delimiter != Delimiter::detect && other.columns == table->columns) continue;
        table = std::move(other);
        survey.delimiter = delimiter;
      } catch (const Error&) {  // what the file's own ending led to is told
      }
    }
  if (!table) throw *refusal;
  survey.head = *table;
  survey.rows = table->rows;
  survey.remarks = table_remarks(*table);
  for (const bool decimal_comma : {false, true}) {
    survey.columns.clear();
    survey.missing.assign(table->columns, std::vector<bool>(table->rows, false));
    std::size_t commas = 0, points = 0;
    for (std::size_t j = 0; j < table->columns; ++j) {
      survey.columns.push_back(survey_column(*table, j, decimal_comma, survey.missing[j]));
      commas += survey.columns.back().decimal_commas;
      points += survey.columns.back().numbers * !survey.columns.back().whole;
    }
    survey.decimal_comma = decimal_comma;
    // Decimal commas, and no decimal points: once more, with commas.
    if (decimal_comma || commas == 0 || points > 0) break;
  }
  return survey;
}

}  // namespace smile
