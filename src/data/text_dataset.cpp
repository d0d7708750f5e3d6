// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "files/file_error.hpp"
#include "smile/data/text.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

std::uint64_t checksum_of(const std::vector<std::uint32_t>& tokens, const Vocabulary& vocabulary) {
  std::uint64_t hash = 14695981039346656037ULL;
  const auto add = [&](std::uint64_t value) {
    hash = (hash ^ value) * 1099511628211ULL;
    hash ^= hash >> 32;
  };
  for (const std::uint32_t token : tokens) add(token);
  for (const std::string& symbol : vocabulary.symbols())
    for (const char byte : symbol) add(static_cast<unsigned char>(byte));
  return hash == 0 ? 1 : hash;
}

}  // namespace

TextDataset load_text_dataset(const TextOptions& options) {
  const std::string where = options.path.string();
  const std::string content = data::read_whole_file(options.path);
  std::string_view text = content;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a mark of the encoding, no character
  if (text.empty()) throw Error(where, "no data", "give a file with text");
  TextDataset out;
  out.vocabulary = Vocabulary::of(text, where);
  if (out.vocabulary.size() < 2)
    throw Error(where, "all its characters are the same, and there is nothing to predict",
                "give a text of at least two different characters");
  auto tokens = out.vocabulary.encode(text, where);
  if (options.max_characters) tokens.resize(std::min(tokens.size(), *options.max_characters));
  const std::size_t n = tokens.size(), context = options.context;
  if (n > std::numeric_limits<std::uint32_t>::max())
    throw Error(where, "more than 2^32 characters", "give a shorter text");
  const auto part = [&](double fraction) {
    return static_cast<std::size_t>(std::floor(fraction * double(n) + 1e-9));
  };
  const std::size_t train_end = std::min(n, part(options.split.train));
  const std::size_t valid_end = std::min(n, train_end + part(options.split.valid));
  const auto check = [&](const char* name, std::size_t size) {
    if (size > context) return;
    throw Error(where,
                "a context of " + std::to_string(context) +
                    " characters and the one that follows are longer than "
                    "the " +
                    name + " part of the text, which has " + std::to_string(size),
                "lower model.context_len, change the fractions, or give a longer text");
  };
  check("training", train_end);
  check("validation", valid_end - train_end);
  check("test", n - valid_end);

  DatasetInfo& info = out.info;
  info.source = where;
  info.task = Task::multilabel;
  info.target_name = "next character";
  info.text = TextInfo{out.vocabulary.symbols(), context, 0, train_end, train_end, valid_end, valid_end, n};
  info.checksum = checksum_of(tokens, out.vocabulary);
  out.tokens = std::make_shared<const std::vector<std::uint32_t>>(std::move(tokens));
  out.train = TokenWindows(out.tokens, 0, train_end, context);
  out.valid = TokenWindows(out.tokens, train_end, valid_end, context);
  out.test = TokenWindows(out.tokens, valid_end, n, context);
  return out;
}

}  // namespace smile
