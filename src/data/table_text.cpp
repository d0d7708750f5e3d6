// SPDX-License-Identifier: Apache-2.0
// Text tables: .data (runs of blanks and tabs) and .csv (RFC 4180).
#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/field.hpp"
#include "data/header_rule.hpp"
#include "data/table_builder.hpp"
#include "data/text_window.hpp"
#include "smile/data/table_formats.hpp"
#include "smile/error.hpp"

namespace smile {

namespace {

using data::location;
using data::TextWindow;

/// Records of a .csv file, in order.
class CsvReader {
 public:
  CsvReader(TextWindow& window, char delimiter, const std::string& source)
      : window_(window), text_(window.text()), delimiter_(delimiter), source_(source) {}

  /// Reads the next record that is not blank; false at the end.
  bool next(std::vector<std::string>& fields) {
    do {
      record_line_ = line_;
      for (;;) {
        at_ = 0;
        line_ = record_line_;
        if (!text_.empty()) read_record(fields);
        if (at_ < text_.size() || window_.at_end()) break;
        // It may go on behind the window: once more, with more to see.
        window_.extend();
        text_ = window_.text();
      }
      if (text_.empty()) return false;
      window_.drop(at_);
      text_.remove_prefix(at_);
    } while (fields.size() == 1 && fields[0].empty() && !last_quoted_);
    return true;
  }
  std::size_t line() const { return record_line_; }
  /// Whether the record begins with #.
  bool hash() const { return hash_; }
  /// Whether the record's last field is empty and not quoted, so that the record ends with a delimiter.
  bool ends_with_delimiter(const std::vector<std::string>& fields) const {
    return fields.size() > 1 && fields.back().empty() && !last_quoted_;
  }

 private:
  bool at_blank() const {
    return at_ < text_.size() && (text_[at_] == ' ' || (text_[at_] == '\t' && delimiter_ != '\t'));
  }
  bool at_line_end() const { return at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r'); }

  /// Steps over \n, \r\n or \r.
  void take_line_end() {
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    ++at_;
    ++line_;
  }

  void read_record(std::vector<std::string>& fields) {
    fields.clear();
    for (;;) {
      fields.emplace_back();
      read_field(fields.back(), fields.size());
      if (fields.size() == 1) hash_ = !last_quoted_ && fields[0].starts_with('#');
      if (at_ >= text_.size()) return;
      if (text_[at_] == delimiter_) {
        ++at_;
        continue;
      }
      take_line_end();
      return;
    }
  }

  void read_field(std::string& field, std::size_t column) {
    while (at_blank()) ++at_;
    last_quoted_ = at_ < text_.size() && text_[at_] == '"';
    if (!last_quoted_) {
      const std::size_t start = at_;
      while (at_ < text_.size() && text_[at_] != delimiter_ && !at_line_end()) ++at_;
      field = data::trimmed(text_.substr(start, at_ - start));
      return;
    }
    const std::size_t opening_line = line_;
    ++at_;
    for (;;) {
      if (at_ >= text_.size()) {
        if (!window_.at_end()) return;  // the record is read again
        throw Error(location(source_, opening_line, column), "a quoted field does not end",
                    "add the closing quote");
      }
      if (text_[at_] == '"') {
        ++at_;
        if (at_ >= text_.size() || text_[at_] != '"') break;
        field += '"';  // a doubled quote is a quote
        ++at_;
      } else if (at_line_end()) {
        field += '\n';
        take_line_end();
      } else {
        field += text_[at_++];
      }
    }
    while (at_blank()) ++at_;
    if (at_ < text_.size() && text_[at_] != delimiter_ && !at_line_end())
      throw Error(location(source_, line_, column), "text after the closing quote of a field",
                  "double the quotes inside a quoted field");
  }

  TextWindow& window_;
  std::string_view text_;  // from the beginning of a record
  char delimiter_;
  const std::string& source_;
  std::size_t at_ = 0, line_ = 1, record_line_ = 1;
  bool last_quoted_ = false, hash_ = false;
};

/// ',', ';' or tab, from the first line that is neither blank nor a comment; what stands in quotes does not
/// count.
char detect_delimiter(std::string_view text, bool decimal_comma) {
  std::size_t commas = 0, semicolons = 0, tabs = 0;
  bool in_quotes = false, blank = true, comment = false;
  for (const char c : text) {
    if (c == '"' && !comment) in_quotes = !in_quotes;
    if (in_quotes) continue;
    if (c == '\n' || c == '\r') {
      if (!blank && !comment) break;
      blank = true, comment = false;
      continue;
    }
    comment = comment || (blank && c == '#');
    if (comment) continue;
    blank = blank && c == ' ';
    commas += c == ',', semicolons += c == ';', tabs += c == '\t';
  }
  // Between semicolons a field has at most one comma, its decimal comma.
  if (semicolons > 0 && commas <= semicolons + 1) return ';';
  if (tabs > 0 && (commas == 0 || decimal_comma)) return '\t';
  return decimal_comma ? ';' : ',';
}

/// The separator that a first line "sep=;" names, as Excel writes and reads it; 0: there is none.
char announced_delimiter(std::string_view text) {
  if (text.size() < 6 || (text[5] != '\n' && text[5] != '\r')) return '\0';
  return text.starts_with("sep=") || text.starts_with("SEP=") ? text[4] : '\0';
}

/// Hands the records of a file to a TableBuilder until there are rows enough. The first of them are read
/// ahead, for the rule of headers.
class TextSource : public TableBlocks::Source {
 public:
  TextSource(const std::filesystem::path& path, const TableOptions& options)
      : source_(path.string()), window_(path), options_(options), builder_(source_, options) {}

  bool next(std::size_t rows, Table& block) final {
    if (!started_) start();
    for (; builder_.rows() < rows && !ahead_.empty(); ahead_.pop_front()) builder_.add(ahead_.front());
    while (builder_.rows() < rows && !ended_) {
      ended_ = !next_record(record_);
      if (!ended_) builder_.add(record_);
    }
    block = builder_.take();
    if (block.rows > 0 || !block.dropped_lines.empty()) return true;
    builder_.check_any();
    return false;
  }

 protected:
  /// Reads the next record that is not blank; false at the end.
  virtual bool next_record(data::Record& record) = 0;

  /// @param delimiter  between the fields; 0: blanks
  void set_delimiter(char delimiter) {
    blanks_ = delimiter == '\0';
    builder_.set_delimiter(delimiter);
  }

  const std::string source_;
  TextWindow window_;

 private:
  /// The rule of headers looks at so many rows, fewer where they are wide.
  static constexpr std::size_t kAhead = 1000, kCellsAhead = 1000000;

  void look_ahead(std::size_t records) {
    for (std::size_t cells = 0; records > 0 && cells < kCellsAhead && !ended_; --records) {
      data::Record record;
      ended_ = !next_record(record);
      if (ended_) return;
      cells += record.fields.size();
      ahead_.push_back(std::move(record));
    }
  }

  void start() {
    started_ = true;
    look_ahead(kAhead);
    // Comments may be longer than that.
    while (!ended_ && ahead_.back().hash) look_ahead(kAhead);
    const std::vector<data::Record> first(ahead_.begin(), ahead_.end());
    const data::HeaderDecision header = data::decide_header(first, options_, blanks_);
    while (!ahead_.empty() && ahead_.front().hash) {
      if (ahead_.front().line != header.line || header.names.empty())
        builder_.add_comment(ahead_.front().line);
      ahead_.pop_front();
    }
    if (ahead_.empty()) return;
    const data::Record row = ahead_.front();
    if (!header.names.empty() && row.line == header.line) ahead_.pop_front();
    builder_.start(header, row);
  }

  const TableOptions options_;
  data::TableBuilder builder_;
  std::deque<data::Record> ahead_;
  data::Record record_;
  bool started_ = false, ended_ = false, blanks_ = true;
};

class CsvSource final : public TextSource {
 public:
  CsvSource(const std::filesystem::path& path, const TableOptions& options) : TextSource(path, options) {
    while (!window_.at_end() && window_.text().find_first_of("\r\n") == std::string_view::npos)
      window_.extend();
    const char announced = announced_delimiter(window_.text());
    announced_ = announced != '\0';
    delimiter_ = options.delimiter != Delimiter::detect ? char(options.delimiter)
                 : announced_                           ? announced
                              : detect_delimiter(window_.text(), options.decimal_comma);
    if (options.decimal_comma && delimiter_ == ',')
      throw Error(source_, "decimal commas cannot be told from commas between fields",
                  options.of_run ? "separate the fields by ';' or tab, as in the training file"
                                 : "separate the fields by ';' or tab, or set 'data.decimal: point'");
    // A delimiter at the end of every line is punctuation; on some lines only, it is a missing value.
    bool any = false;
    std::vector<std::string> fields;
    for (CsvReader survey(window_, delimiter_, source_); trailing_ && survey.next(fields); any = true)
      trailing_ = survey.ends_with_delimiter(fields) || survey.hash() || (announced_ && survey.line() == 1);
    trailing_ = trailing_ && any;
    window_.rewind();
    reader_.emplace(window_, delimiter_, source_);
    set_delimiter(delimiter_);
  }

 private:
  bool next_record(data::Record& record) override {
    do
      if (!reader_->next(record.fields)) return false;
    while (announced_ && reader_->line() == 1);
    record.line = reader_->line();
    record.hash = reader_->hash();
    if (trailing_ && record.fields.back().empty()) record.fields.pop_back();
    return true;
  }

  char delimiter_ = ',';
  bool trailing_ = true, announced_ = false;
  std::optional<CsvReader> reader_;
};

class DataSource final : public TextSource {
 public:
  using TextSource::TextSource;

 private:
  bool next_record(data::Record& record) override {
    for (record.fields.clear(); record.fields.empty(); ++line_) {
      std::size_t end = window_.text().find_first_of("\r\n");
      // Neither a line nor \r\n is to be cut in two.
      while ((end == std::string_view::npos || end + 1 == window_.text().size()) && !window_.at_end()) {
        const std::size_t seen = std::min(end, window_.text().size());
        window_.extend();
        end = window_.text().find_first_of("\r\n", seen);
      }
      const std::string_view text = window_.text();
      if (text.empty()) return false;
      const std::string_view line = text.substr(0, end);
      split(line, record.fields);
      record.hash = data::trimmed(line).starts_with('#');
      record.line = line_;
      const bool pair = end != std::string_view::npos && text.substr(end).starts_with("\r\n");
      window_.drop(end == std::string_view::npos ? text.size() : end + (pair ? 2 : 1));
    }
    return true;
  }

  /// Fields between blanks; a field in double quotes may hold some.
  void split(std::string_view rest, std::vector<std::string>& fields) const {
    for (rest = data::trimmed(rest); !rest.empty(); rest = data::trimmed(rest)) {
      std::size_t length = rest.find_first_of(" \t");
      if (rest[0] == '"') {
        const std::size_t closing = rest.find('"', 1);
        if (closing != std::string_view::npos &&
            (closing + 1 == rest.size() || rest.find_first_of(" \t", closing) == closing + 1)) {
          fields.emplace_back(rest.substr(1, closing - 1));
          rest.remove_prefix(closing + 1);
          continue;
        }
      }
      length = std::min(length, rest.size());
      fields.emplace_back(rest.substr(0, length));
      rest.remove_prefix(length);
    }
  }

  std::size_t line_ = 1;
};

}  // namespace

std::unique_ptr<TableBlocks::Source> open_csv_table(const std::filesystem::path& path,
                                                    const TableOptions& options) {
  return std::make_unique<CsvSource>(path, options);
}

std::unique_ptr<TableBlocks::Source> open_data_table(const std::filesystem::path& path,
                                                     const TableOptions& options) {
  return std::make_unique<DataSource>(path, options);
}

}  // namespace smile
