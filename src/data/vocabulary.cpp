// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "data/field.hpp"
#include "files/utf8.hpp"
#include "smile/data/text.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

/// Calls take(point, line, column) for every character, both from 1. @throws Error for what is no UTF-8
template <class Take>
void for_each_character(std::string_view text, const std::string& where, const Take& take) {
  std::size_t line = 1, column = 1;
  while (!text.empty()) {
    const data::CodePoint next = data::next_code_point(text);
    if (next.length == 0)
      throw Error(data::location(where, line, column), "the bytes there are no UTF-8",
                  "convert the text to UTF-8");
    take(next.value, line, column);
    text.remove_prefix(next.length);
    if (next.value == U'\n')
      ++line, column = 1;
    else
      ++column;
  }
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> symbols) : symbols_(std::move(symbols)) {
  for (const std::string& symbol : symbols_) {
    const data::CodePoint point = symbol.empty() ? data::CodePoint{} : data::next_code_point(symbol);
    if (point.length == 0 || point.length != symbol.size() ||
        (!points_.empty() && point.value <= points_.back()))
      throw Error("vocabulary", "the symbols are not single characters in ascending order",
                  "restore the file or run again");
    points_.push_back(point.value);
  }
}

Vocabulary Vocabulary::of(std::string_view text, const std::string& where) {
  std::vector<bool> present(0x110000);
  for_each_character(text, where, [&](char32_t point, std::size_t line, std::size_t column) {
    if (point == 0)
      throw Error(data::location(where, line, column), "the file holds a zero byte: it is no text",
                  "give a text file");
    present[point] = true;
  });
  std::vector<std::string> symbols;
  for (char32_t point = 0; point < present.size(); ++point)
    if (present[point]) data::append_utf8(symbols.emplace_back(), point);
  return Vocabulary(std::move(symbols));
}

std::vector<std::uint32_t> Vocabulary::encode(std::string_view text, const std::string& where) const {
  std::vector<std::uint32_t> tokens;
  tokens.reserve(text.size());
  for_each_character(text, where, [&](char32_t point, std::size_t line, std::size_t column) {
    const auto found = std::lower_bound(points_.begin(), points_.end(), point);
    if (found == points_.end() || *found != point) {
      std::string symbol;
      data::append_utf8(symbol, point);
      throw Error(data::location(where, line, column),
                  "the character " + data::shown(symbol) + " is not one of the " + std::to_string(size()) +
                      " of the vocabulary",
                  "leave it out, or train on a text that has it");
    }
    tokens.push_back(static_cast<std::uint32_t>(found - points_.begin()));
  });
  return tokens;
}

std::string Vocabulary::decode(std::span<const std::uint32_t> tokens) const {
  std::string text;
  for (const std::uint32_t token : tokens) text += symbols_[token];
  return text;
}

}  // namespace smile
