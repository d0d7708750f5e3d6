// Text tables: .data (runs of blanks and tabs) and .csv (RFC 4180).
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "data/field.hpp"
#include "data/file_error.hpp"
#include "data/table_builder.hpp"
#include "smile/data/table.hpp"
#include "smile/error.hpp"

namespace smile {

namespace {

using data::location;

/// The file without its byte-order mark. @throws Error for no content and for what is no text
std::string read_text(const std::filesystem::path& path) {
  std::string content = data::read_whole_file(path);
  const std::string source = path.string();
  if (content.empty()) throw Error(source, "no data", "the file is empty; give one with at least one row");
  if (content.starts_with("\x1f\x8b"))
    throw Error(location(source, 1, 1), "compressed by gzip", "unpack it first");
  if (content.starts_with("\xff\xfe") || content.starts_with("\xfe\xff"))
    throw Error(location(source, 1, 1), "text in UTF-16", "save it as UTF-8");
  if (content.starts_with("\xef\xbb\xbf")) content.erase(0, 3);

  std::size_t line = 1, column = 1;
  for (const char c : content) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      ++line, column = 1;
    } else if (c == ',' || c == ';' || c == '\t') {
      ++column;
    } else if ((byte < 0x20 && c != '\r') || byte == 0x7f) {
      throw Error(location(source, line, column), "binary content (byte " + std::to_string(int{byte}) + ")",
                  "give a text table, or name a NumPy file .npy");
    }
  }
  return content;
}

/// Records of a .csv file, in order.
class CsvReader {
 public:
  CsvReader(std::string_view text, char delimiter, const std::string& source)
      : text_(text), delimiter_(delimiter), source_(source) {}

  /// Reads the next record that is not blank; false at the end.
  bool next(std::vector<std::string>& fields) {
    do {
      if (at_ >= text_.size()) return false;
      record_line_ = line_;
      read_record(fields);
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
      if (at_ >= text_.size())
        throw Error(location(source_, opening_line, column), "a quoted field does not end",
                    "add the closing quote");
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

  std::string_view text_;
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

}  // namespace

Table read_csv_table(const std::filesystem::path& path, const TableOptions& options) {
  const std::string source = path.string();
  const std::string text = read_text(path);
  const char delimiter =
      options.delimiter ? options.delimiter : detect_delimiter(text, options.decimal_comma);
  if (options.decimal_comma && delimiter == ',')
    throw Error(source, "decimal commas cannot be told from commas between fields",
                "separate the fields by ';' or tab, or set 'decimal_comma: false'");

  std::vector<std::string> fields;
  // A delimiter at the end of every line is punctuation; on some lines only, it is a missing value.
  bool trailing = true, any = false;
  for (CsvReader survey(text, delimiter, source); trailing && survey.next(fields); any = true)
    trailing = survey.ends_with_delimiter(fields);

  data::TableBuilder builder(source, options);
  for (CsvReader reader(text, delimiter, source); reader.next(fields);) {
    if (trailing && any) fields.pop_back();
    builder.add(reader.line(), fields);
  }
  return builder.finish();
}

Table read_data_table(const std::filesystem::path& path, const TableOptions& options) {
  const std::string text = read_text(path);
  data::TableBuilder builder(path.string(), options);
  std::vector<std::string> fields;
  std::size_t line = 1;
  for (std::size_t at = 0; at < text.size(); ++line) {
    std::size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    std::string_view rest = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (rest.ends_with('\r')) rest.remove_suffix(1);
    fields.clear();
    for (rest = data::trimmed(rest); !rest.empty(); rest = data::trimmed(rest)) {
      const std::size_t length = std::min(rest.find_first_of(" \t"), rest.size());
      fields.emplace_back(rest.substr(0, length));
      rest.remove_prefix(length);
    }
    if (!fields.empty()) builder.add(line, fields);
  }
  return builder.finish();
}

}  // namespace smile
