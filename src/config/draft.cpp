// SPDX-License-Identifier: Apache-2.0
#include "smile/config/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

#include "files/yaml_text.hpp"
#include "smile/data/table_survey.hpp"
#include "smile/error.hpp"
#include "smile/targets/likelihood.hpp"

namespace smile {
namespace {

using data::yaml_text;

/// Words with more values than that say nothing that could be learned from their codes.
constexpr std::size_t kMostWords = 50;
/// Whole numbers of at most so many values are labels.
constexpr std::size_t kMostLabels = 10;
/// From here a spread for each row can be learned.
constexpr std::size_t kRowsForSpread = 1000;
constexpr std::size_t kFewestRows = 5;

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = char(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_target_name(const std::string& name) {
  for (const char* usual : {"y", "target", "label", "class", "outcome", "response", "output"})
    if (lowered(name) == usual) return true;
  return false;
}

bool is_identifier_name(const std::string& name) {
  const std::string lower = lowered(name);
  for (const char* usual : {"id", "index", "idx", "row", "no", "nr", "key", "uuid", "guid", "rowid"})
    if (lower == usual) return true;
  return lower.ends_with("_id") || lower.ends_with(" id") || (name.size() > 2 && name.ends_with("Id")) ||
         (name.size() > 2 && name.ends_with("ID"));
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

class Draft {
 public:
  Draft(const std::filesystem::path& data, const DraftOptions& options)
      : path_(data), survey_(survey_table(data)), columns_(survey_.columns) {
    assumptions_ = survey_.remarks;
    if (survey_.head.has_index)
      std::erase_if(assumptions_,
                    [](const auto& line) { return line.starts_with("the first column has no name"); });
    if (survey_.rows < kFewestRows)
      throw Error(path_.string(), "has " + counted(survey_.rows, "row", "rows") + ", too few to learn from",
                  fmt::format("give at least {}, better some hundred", kFewestRows));
    choose_target(options);
    choose_task();
    choose_features();
    choose_missing();
    choose_splits();
  }

  ConfigDraft result() const { return {text(), assumptions_}; }

 private:
  /// How a column is named where it cannot be mistaken: by its name, else by its place.
  std::string reference(std::size_t j) const {
    const auto same = [&](const ColumnSurvey& c) { return c.name == columns_[j].name; };
    const bool unique = std::count_if(columns_.begin(), columns_.end(), same) == 1;
    return survey_.head.has_header && unique ? yaml_text(columns_[j].name) : fmt::format("\"{}\"", j);
  }
  std::string shown(std::size_t j) const { return "'" + columns_[j].name + "'"; }

  bool is_number(const ColumnSurvey& c) const {
    return c.words == 0 && c.decimal_commas == 0 && c.numbers > 0;
  }

  /// Why a column cannot be predicted or used; empty where it can be.
  std::string flaw(std::size_t j) const {
    const ColumnSurvey& c = columns_[j];
    if (c.cells() == 0) return "is empty";
    if (c.distinct < 2) return "has one value only";
    if (c.dates) return "holds dates or times";
    if (!is_number(c) && c.words < c.cells() && 2 * c.words < c.cells())
      return fmt::format("holds numbers, but for {} such as '{}' in line {}",
                         counted(c.words + c.decimal_commas, "cell", "cells"), c.odd_cell, c.odd_line);
    return {};
  }

  bool names_rows(std::size_t j) const {
    const ColumnSurvey& c = columns_[j];
    if (survey_.head.has_index && j == 0) return true;
    if (!is_number(c) || !c.whole || c.missing > 0 || c.distinct < survey_.rows) return false;
    return is_identifier_name(c.name) || (j == 0 && c.counts_up && columns_.size() > 2);
  }

  void choose_target(const DraftOptions& options) {
    if (options.target) {
      std::vector<std::string> names;
      for (const ColumnSurvey& c : columns_) names.push_back(c.name);
      target_ = column_index(*options.target, names, "--target");
      const std::string why = flaw(target_);
      if (!why.empty())
        throw Error("--target", "the column " + shown(target_) + " " + why,
                    "correct the table or choose another column");
      if (!is_number(columns_[target_]) && too_many_words(target_))
        throw Error("--target",
                    fmt::format("the column {} holds {} different words in {} rows, too many to be classes",
                                shown(target_), columns_[target_].distinct, survey_.rows),
                    "choose another column");
      return;
    }
    std::vector<std::size_t> usual, possible;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (!flaw(j).empty() || names_rows(j) || (!is_number(columns_[j]) && too_many_words(j))) continue;
      possible.push_back(j);
      if (survey_.head.has_header && is_target_name(columns_[j].name)) usual.push_back(j);
    }
    if (possible.empty())
      throw Error(path_.string(), "has no column that could be predicted",
                  "give a table with a column of numbers or of a few words, and two or more values in it");
    target_ = usual.size() == 1 ? usual[0] : possible.back();
    assume(usual.size() == 1 ? fmt::format("the target is {}, by its name", shown(target_))
           : target_ + 1 == columns_.size()
               ? fmt::format("the target is the last column, {}", shown(target_))
               : fmt::format("the target is {}, the last column that can be predicted", shown(target_)));
  }

  bool too_many_words(std::size_t j) const {
    return columns_[j].distinct > kMostWords || 2 * columns_[j].distinct > columns_[j].cells();
  }

  void choose_task() {
    const ColumnSurvey& c = columns_[target_];
    if (!is_number(c)) {
      task_ = Task::classification;
      assume(fmt::format("task class: {} holds words, {}", shown(target_),
                         counted(c.distinct, "class", "classes")));
    } else if (c.whole && c.distinct <= kMostLabels && 2 * c.distinct <= survey_.rows) {
      task_ = Task::classification;
      assume(fmt::format(
          "task class: {} holds whole numbers of {} different values; where they are amounts, write "
          "task: mean_regr",
          shown(target_), c.distinct));
    } else {
      task_ = survey_.rows < kRowsForSpread ? Task::mean_regression : Task::regression;
      assume(task_ == Task::regression
                 ? fmt::format("task regr: {} holds numbers; a mean and a spread are learned for each row",
                               shown(target_))
                 : fmt::format(
                       "task mean_regr: {} holds numbers; one spread for all rows, as they are fewer than {}",
                       shown(target_), kRowsForSpread));
    }
  }

  void leave_out(std::size_t j, const std::string& why) {
    assume(fmt::format("{} is left out: it {}", shown(j), why));
  }

  void choose_features() {
    used_.assign(columns_.size(), false);
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (j == target_) continue;
      const ColumnSurvey& c = columns_[j];
      if (names_rows(j))
        leave_out(j, "numbers or names the rows");
      else if (const std::string why = flaw(j); !why.empty())
        leave_out(j, why);
      else if (2 * c.missing > survey_.rows)
        leave_out(j, fmt::format("is empty in {} of {} rows", c.missing, survey_.rows));
      else if (!is_number(c) && too_many_words(j))
        leave_out(j, fmt::format("holds {} different words in {} rows, as names and remarks do", c.distinct,
                                 survey_.rows));
      else
        used_[j] = true;
    }
    // Numbers that count up may be a time, where there is nothing else.
    for (std::size_t j = 0; j < columns_.size() && features() == 0; ++j)
      if (j != target_ && names_rows(j) && is_number(columns_[j])) {
        used_[j] = true;
        std::erase_if(assumptions_,
                      [&](const auto& line) { return line.starts_with(shown(j) + " is left out"); });
        assume(fmt::format("the only feature is {}, which counts up with the rows", shown(j)));
      }
    if (features() == 0)
      throw Error(path_.string(), "has no column beside " + shown(target_) + " to predict it from",
                  "give a table with a feature, or choose another --target");
  }

  bool is_categorical(std::size_t j) const { return j != target_ && used_[j] && !is_number(columns_[j]); }

  /// Rows with a missing cell in a column that is used.
  std::size_t rows_with_missing(bool words_only) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < survey_.rows; ++i) {
      bool any = false;
      for (std::size_t j = 0; j < columns_.size(); ++j)
        any = any || (used_[j] && survey_.missing[j][i] && (!words_only || is_categorical(j)));
      count += any;
    }
    return count;
  }

  void choose_missing() {
    // Words have no mean: columns of words with too many holes go first.
    for (std::size_t j = 0; j < columns_.size(); ++j)
      if (is_categorical(j) && 10 * columns_[j].missing > survey_.rows && features() > 1) {
        used_[j] = false;
        leave_out(
            j, fmt::format("holds words and is empty in {} of {} rows", columns_[j].missing, survey_.rows));
      }
    const std::size_t concerned = rows_with_missing(false), without_target = columns_[target_].missing;
    if (concerned + without_target == 0) return;
    if (rows_with_missing(true) > 0 || 20 * concerned <= survey_.rows) {
      missing_ = MissingPolicy::drop;
      assume(fmt::format("missing: drop: {} with an empty cell left out",
                         counted(concerned + without_target, "row", "rows")));
    } else {
      missing_ = MissingPolicy::mean;
      assume(fmt::format("missing: mean: empty cells in {} become the training mean",
                         counted(concerned, "row", "rows")));
    }
    if (missing_ == MissingPolicy::drop)
      kept_ = survey_.rows - std::min(survey_.rows, concerned + without_target);
    if (missing_ == MissingPolicy::mean) kept_ = survey_.rows - without_target;
    if (kept_ < kFewestRows)
      throw Error(path_.string(), fmt::format("only {} rows have no empty cell", kept_), "fill the cells in");
  }

  std::size_t features() const { return std::size_t(std::count(used_.begin(), used_.end(), true)); }

  void choose_splits() {
    if (kept_ == 0) kept_ = survey_.rows;
    if (kept_ < 10) splits_ = "train_split: 0.6\n  valid_split: 0.2\n  test_split: 0.2\n";
    if (kept_ < 50)
      assume(fmt::format("{} are very few: expect wide intervals, and scores that depend on the split",
                         counted(kept_, "row", "rows")));
  }

  void assume(std::string line) { assumptions_.push_back(std::move(line)); }

  std::string list(bool (Draft::*chosen)(std::size_t) const) const {
    std::string names;
    for (std::size_t j = 0; j < columns_.size(); ++j)
      if ((this->*chosen)(j)) names += (names.empty() ? "" : ", ") + reference(j);
    return "[" + names + "]";
  }
  bool is_feature(std::size_t j) const { return used_[j]; }

  std::string text() const {
    std::string out = fmt::format("# Written by `smile init` for {}: {} rows, {} columns. What it assumed:\n",
                                  one_line(path_.filename().string()), survey_.rows, columns_.size());
    for (const std::string& line : assumptions_) out += "#   " + one_line(line) + "\n";
    out += "# All keys: `smile list keys`. What follows from this file: `smile check`.\n\n";
    out += "data:\n  path: " + yaml_text(path_.string()) + "\n";
    out +=
        fmt::format("  task: {}  # class: labels; regr: mean and spread of each row; mean_regr: one spread\n",
                    name_of(task_));
    out += "  target_column: " + reference(target_) + "\n";
    const bool all = features() + 1 == columns_.size() - (survey_.head.has_index && target_ != 0 ? 1 : 0) &&
                     !(survey_.head.has_index && used_[0]);
    out += (all ? "  # features: " : "  features: ") + list(&Draft::is_feature) +
           (all ? "  # all columns but the target\n" : "\n");
    if (const std::string words = list(&Draft::is_categorical); words != "[]")
      out += "  categorical: " + words + "  # columns of words\n";
    out += fmt::format("  header: {}  # whether the first line names the columns\n",
                       survey_.head.has_header ? "true" : "false");
    if (survey_.delimiter != Delimiter::detect)
      out += fmt::format("  delimiter: {}\n", name_of(survey_.delimiter));
    if (survey_.decimal_comma) out += "  decimal: comma\n";
    out += fmt::format("  {}missing: {}  # empty cells: refuse, drop the row, or mean of the training rows\n",
                       missing_ == MissingPolicy::error ? "# " : "", name_of(missing_));
    if (!splits_.empty()) out += "  " + splits_;
    out += R"(
# The network: layers of these widths; the last one follows from the task.
# model:
#   hidden_structure: [16, 16, 16, …]

training:
  sampler:
    name: psmile-auto   # finds its step size; others: `smile list samplers`
    n_chains: 8         # members of the ensemble, each of which becomes a chain
    warmup_steps: 10000
    n_samples: 10000    # steps of each chain
    n_thinning: 10      # every so many steps a draw is stored
)";
    out += fmt::format("    batch_size: {}      # rows a step\n", batch_size());
    return out;
  }

  static std::string one_line(std::string text) {
    for (char& c : text)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return text;
  }

  /// As the default: at least about four batches an epoch.
  std::size_t batch_size() const {
    const auto train = std::size_t(double(kept_) * (splits_.empty() ? 0.7 : 0.6));
    return std::clamp<std::size_t>(train / 4, 1, 256);
  }

  const std::filesystem::path path_;
  const TableSurvey survey_;
  const std::vector<ColumnSurvey>& columns_;
  std::vector<std::string> assumptions_;
  std::size_t target_ = 0, kept_ = 0;
  Task task_ = Task::mean_regression;
  std::vector<bool> used_;
  MissingPolicy missing_ = MissingPolicy::error;
  std::string splits_;
};

}  // namespace

ConfigDraft draft_config(const std::filesystem::path& data, const DraftOptions& options) {
  return Draft(data, options).result();
}

}  // namespace smile
