// SPDX-License-Identifier: Apache-2.0
#include "data/header_rule.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "data/field.hpp"
#include "data/table_advice.hpp"

namespace smile::data {
namespace {

bool is_missing_cell(const std::string& field) {
  return parse_field(field, false).kind == FieldKind::missing;
}

/// A number, or what can only be a spoilt one: digits and punctuation alone are no name. Either decimal sign
/// counts: whether commas are allowed is for the rows to say.
bool is_numeric(const std::string& field) {
  const FieldKind kind = parse_field(field, false).kind;
  if (kind == FieldKind::missing) return false;
  return kind != FieldKind::text || is_spoilt_number(trimmed(field));
}

bool is_word(const std::string& field) {
  return !is_missing_cell(field) && !is_numeric(field);
}

/// Most of the cells below, those that are missing apart, are numbers.
bool numbers_below(std::span<const Record> rows, std::size_t column, std::size_t shift) {
  std::size_t numbers = 0, others = 0;
  for (const Record& row : rows) {
    if (row.hash || column + shift >= row.fields.size()) continue;
    const std::string& cell = row.fields[column + shift];
    if (!is_missing_cell(cell)) ++(is_numeric(cell) ? numbers : others);
  }
  return numbers > others;
}

/// A word of `names` that occurs again in its column; empty where there is none.
std::string recurring_word(const std::vector<std::string>& names, std::span<const Record> rows) {
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (!is_word(names[j])) continue;
    for (const Record& row : rows)
      // A line that repeats all of them is a second header, as files have that were put one after the other.
      if (!row.hash && j < row.fields.size() && trimmed(row.fields[j]) == trimmed(names[j]) &&
          row.fields != names)
        return std::string(trimmed(names[j]));
  }
  return {};
}

enum class Verdict { names, row, unclear };

/// Points 2 and 3 of the rule.
Verdict look_at(const std::vector<std::string>& fields, std::span<const Record> rows, std::size_t shift) {
  if (std::any_of(fields.begin(), fields.end(), is_numeric)) return Verdict::row;
  bool any_word = false;
  for (std::size_t j = 0; j < fields.size(); ++j) {
    if (!is_word(fields[j])) continue;
    any_word = true;
    if (numbers_below(rows, j, shift)) return Verdict::names;
  }
  return any_word ? Verdict::unclear : Verdict::row;
}

bool has_known_name(const std::vector<std::string>& fields, const TableOptions& options) {
  return std::any_of(fields.begin(), fields.end(), [&](const std::string& field) {
    return std::find(options.known_names.begin(), options.known_names.end(), trimmed(field)) !=
           options.known_names.end();
  });
}

/// Words, each but once, or numbers that count up: what names rows, not what is measured.
bool name_rows(std::span<const Record> rows) {
  std::set<std::string_view> words;
  std::optional<double> last;
  std::size_t seen = 0;
  for (const Record& row : rows) {
    if (row.hash) continue;
    ++seen;
    const ParsedField cell = parse_field(row.fields[0], false);
    if (cell.kind == FieldKind::text) words.insert(row.fields[0]);
    if (cell.kind == FieldKind::number && last && cell.value != *last + 1) return false;
    if (cell.kind == FieldKind::number) last = cell.value;
  }
  return seen > 1 && (words.size() == seen || (words.empty() && last));
}

/// As R's write.table has it: the rows begin with a name, and line 1 has none above it.
bool has_unnamed_rows(const Record& first, std::span<const Record> rows) {
  bool all_empty_at_end = true;
  for (const Record& row : rows) {
    if (row.hash) continue;
    if (row.fields.size() != first.fields.size() + 1) return false;
    all_empty_at_end = all_empty_at_end && trimmed(row.fields.back()).empty();
  }
  return !all_empty_at_end && name_rows(rows);
}

}  // namespace

std::vector<std::string> without_hash(std::vector<std::string> fields, bool blanks) {
  if (fields.empty() || !fields[0].starts_with('#')) return fields;
  std::string_view name = fields[0];
  while (name.starts_with('#')) name.remove_prefix(1);
  fields[0] = std::string(trimmed(name));
  if (blanks && fields[0].empty()) fields.erase(fields.begin());
  return fields;
}

HeaderDecision decide_header(std::span<const Record> first, const TableOptions& options, bool blanks) {
  HeaderDecision decision;
  const auto row = std::find_if(first.begin(), first.end(), [](const Record& r) { return !r.hash; });
  const std::span<const Record> from_row(row, first.end());
  if (row == first.end() || (options.header && !*options.header)) return decision;
  const std::span<const Record> below(row + 1, first.end());
  const bool one_more = has_unnamed_rows(*row, below);
  const auto take_row = [&] {
    decision.names = row->fields;
    decision.line = row->line;
    decision.rows_have_one_more = one_more;
    return decision;
  };
  std::vector<std::string> above;  // the names behind #, where there can be some
  if (row != first.begin()) above = without_hash((row - 1)->fields, blanks);
  if (above.size() != row->fields.size() || std::any_of(above.begin(), above.end(), is_numeric))
    above.clear();
  const auto take_above = [&] {
    decision.names = above;
    decision.line = (row - 1)->line;
    decision.behind_hash = true;
    return decision;
  };

  const Verdict verdict = look_at(row->fields, below, one_more ? 1 : 0);
  if (options.header) return !above.empty() && verdict == Verdict::row ? take_above() : take_row();
  if (has_known_name(row->fields, options) || verdict == Verdict::names) return take_row();
  if (!above.empty() && (verdict == Verdict::row || has_known_name(above, options))) return take_above();
  if (verdict == Verdict::row) return decision;
  decision.in_doubt = true;
  decision.recurring = recurring_word(row->fields, below);
  if (!above.empty()) return take_above();
  return decision.recurring.empty() ? take_row() : decision;
}

}  // namespace smile::data
