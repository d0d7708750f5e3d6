// SPDX-License-Identifier: Apache-2.0
#include "data/field.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace smile::data {

namespace {

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// Kind number, infinite, out_of_range or text; no blanks, decimal point.
ParsedField parse_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && (text.front() == '-' || text.front() == '+')) return {};
  }
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc::invalid_argument || end != text.data() + text.size()) return {};
  if (status == std::errc::result_out_of_range) {
    // Too small for double precision is nothing, too large is no number.
    const bool tiny = std::strtod(std::string(text).c_str(), nullptr) == 0;
    return {tiny ? FieldKind::number : FieldKind::out_of_range, 0};
  }
  if (std::isnan(value)) return {};  // "nan(…)"; the plain forms are missing values
  if (std::isinf(value)) return {FieldKind::infinite, 0};
  return {FieldKind::number, value};
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_missing(std::string_view text, bool categorical) {
  if (text.empty() || text == "?") return true;
  if (text.size() > 4) return false;
  const std::string word = lowered(text);
  if (word == "na" || word == "n/a" || word == "nan" || word == "#n/a" || word == "<na>") return true;
  return !categorical && (word == "null" || word == "none");
}

ParsedField parse_field(std::string_view text, bool decimal_comma) {
  text = trimmed(text);
  if (is_missing(text, false) || text == "+nan" || text == "-nan") return {FieldKind::missing, 0};
  if (text.find(',') == std::string_view::npos) {
    const ParsedField parsed = parse_number(text);
    // In a file with decimal commas "1.234" may mean 1234: refused rather than guessed.
    if (decimal_comma && parsed.kind == FieldKind::number && text.find('.') != std::string_view::npos)
      return {FieldKind::decimal_point, 0};
    return parsed;
  }
  if (text.find('.') != std::string_view::npos) return {};
  std::string with_point(text);
  std::replace(with_point.begin(), with_point.end(), ',', '.');
  const ParsedField parsed = parse_number(with_point);
  if (parsed.kind == FieldKind::number && !decimal_comma) return {FieldKind::decimal_comma, 0};
  return parsed;
}

std::string shortest(double value) {
  std::array<char, 32> buffer{};
  const double positive_zero = value == 0 ? 0.0 : value;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), positive_zero);
  return std::string(buffer.data(), result.ptr);
}

std::string label_name(std::string_view text, bool decimal_comma) {
  const std::string_view word = trimmed(text);
  const std::string_view digits = word.starts_with('-') ? word.substr(1) : word;
  const bool code = digits.starts_with('+') ||
                    (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9');
  const ParsedField parsed = parse_field(word, decimal_comma);
  return parsed.kind == FieldKind::number && !code ? shortest(parsed.value) : std::string(word);
}

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string out = "'";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // Cut between characters, not inside one of several bytes.
    if (i >= kLongest && (byte & 0xc0) != 0x80) return out + "…'";
    if (byte < 0x20 || byte == 0x7f) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 15];
    } else {
      out += text[i];
    }
  }
  return out + "'";
}

std::string location(const std::string& file, std::size_t line, std::size_t column) {
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

std::string joined_lines(const std::vector<std::size_t>& lines) {
  constexpr std::size_t kNamed = 5;
  std::string out;
  for (std::size_t k = 0; k < std::min(kNamed, lines.size()); ++k)
    out += (k ? ", " : "") + std::to_string(lines[k]);
  return lines.size() > kNamed ? out + ", …" : out;
}

}  // namespace smile::data
