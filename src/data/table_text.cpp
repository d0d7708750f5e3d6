// Text tables: .data (runs of blanks and tabs) and .csv (RFC 4180).
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/field.hpp"
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
  bool last_quoted_ = false;
};

/// ',', ';' or tab, from the first line that is not blank; what stands in quotes does not count.
char detect_delimiter(std::string_view text, bool decimal_comma) {
  std::size_t commas = 0, semicolons = 0, tabs = 0;
  bool in_quotes = false, blank = true;
  for (const char c : text) {
    if (c == '"') in_quotes = !in_quotes;
    if (in_quotes) continue;
    if ((c == '\n' || c == '\r') && !blank) break;
    blank = blank && (c == ' ' || c == '\n' || c == '\r');
    commas += c == ',', semicolons += c == ';', tabs += c == '\t';
  }
  // Between semicolons a field has at most one comma, its decimal comma.
  if (semicolons > 0 && commas <= semicolons + 1) return ';';
  if (tabs > 0 && (commas == 0 || decimal_comma)) return '\t';
  return decimal_comma ? ';' : ',';
}

/// Hands the records of a file to a TableBuilder until there are rows enough.
class TextSource : public TableBlocks::Source {
 public:
  TextSource(const std::filesystem::path& path, const TableOptions& options)
      : source_(path.string()), window_(path), builder_(source_, options) {}

  bool next(std::size_t rows, Table& block) final {
    while (!ended_ && builder_.rows() < rows) ended_ = !add_record(builder_);
    block = builder_.take();
    if (block.rows > 0 || !block.dropped_lines.empty()) return true;
    builder_.check_any();
    return false;
  }

 protected:
  /// Adds the next record; false at the end.
  virtual bool add_record(data::TableBuilder& builder) = 0;

  void set_delimiter(char delimiter) { builder_.set_delimiter(delimiter); }

  const std::string source_;
  TextWindow window_;
  std::vector<std::string> fields_;

 private:
  data::TableBuilder builder_;
  bool ended_ = false;
};

class CsvSource final : public TextSource {
 public:
  CsvSource(const std::filesystem::path& path, const TableOptions& options) : TextSource(path, options) {
    while (!window_.at_end() && window_.text().find_first_of("\r\n") == std::string_view::npos)
      window_.extend();
    delimiter_ = options.delimiter == Delimiter::detect
                     ? detect_delimiter(window_.text(), options.decimal_comma)
                     : char(options.delimiter);
    if (options.decimal_comma && delimiter_ == ',')
      throw Error(source_, "decimal commas cannot be told from commas between fields",
                  options.of_run ? "separate the fields by ';' or tab, as in the training file"
                                 : "separate the fields by ';' or tab, or set 'data.decimal: point'");
    // A delimiter at the end of every line is punctuation; on some lines only, it is a missing value.
    bool any = false;
    for (CsvReader survey(window_, delimiter_, source_); trailing_ && survey.next(fields_); any = true)
      trailing_ = survey.ends_with_delimiter(fields_);
    trailing_ = trailing_ && any;
    window_.rewind();
    reader_.emplace(window_, delimiter_, source_);
    set_delimiter(delimiter_);
  }

 private:
  bool add_record(data::TableBuilder& builder) override {
    if (!reader_->next(fields_)) return false;
    if (trailing_) fields_.pop_back();
    builder.add(reader_->line(), fields_);
    return true;
  }

  char delimiter_ = ',';
  bool trailing_ = true;
  std::optional<CsvReader> reader_;
};

class DataSource final : public TextSource {
 public:
  using TextSource::TextSource;

 private:
  bool add_record(data::TableBuilder& builder) override {
    std::size_t end = window_.text().find('\n');
    while (end == std::string_view::npos && !window_.at_end()) {
      const std::size_t seen = window_.text().size();
      window_.extend();
      end = window_.text().find('\n', seen);
    }
    const std::string_view text = window_.text();
    if (text.empty()) return false;
    std::string_view rest = text.substr(0, end);
    if (rest.ends_with('\r')) rest.remove_suffix(1);
    fields_.clear();
    for (rest = data::trimmed(rest); !rest.empty(); rest = data::trimmed(rest)) {
      const std::size_t length = std::min(rest.find_first_of(" \t"), rest.size());
      fields_.emplace_back(rest.substr(0, length));
      rest.remove_prefix(length);
    }
    window_.drop(end == std::string_view::npos ? text.size() : end + 1);
    if (!fields_.empty()) builder.add(line_, fields_);
    ++line_;
    return true;
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
