// SPDX-License-Identifier: Apache-2.0
/// Text as tokens, and windows of it for language models (spec 2.1, 2.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smile/data/dataset.hpp"
#include "smile/random/stream.hpp"

namespace smile {

/// Tokenizer `SingleChar`: the distinct characters (Unicode code points, not bytes) of a text, in the order
/// of their code points; a character's token is its place.
class Vocabulary {
 public:
  Vocabulary() = default;
  /// @param symbols  distinct, in ascending order, each one character as UTF-8. @throws Error otherwise
  explicit Vocabulary(std::vector<std::string> symbols);
  /// The distinct characters of a text. @param where  names the text in errors
  /// @throws Error with line and column for what is no UTF-8
  static Vocabulary of(std::string_view text, const std::string& where);

  std::size_t size() const { return symbols_.size(); }
  /// Characters by token, as UTF-8.
  const std::vector<std::string>& symbols() const { return symbols_; }
  /// @throws Error "where:line:column: the character … is not in the vocabulary" or "… is no UTF-8"
  std::vector<std::uint32_t> encode(std::string_view text, const std::string& where) const;
  /// @pre every token < size()
  std::string decode(std::span<const std::uint32_t> tokens) const;
  bool operator==(const Vocabulary& other) const { return symbols_ == other.symbols_; }

 private:
  std::vector<std::string> symbols_;
  std::vector<char32_t> points_;
};

/// A stretch of tokens seen as windows of T tokens, each with the token that follows as the last target.
/// Cheap to copy; may be used from several threads at once.
class TokenWindows {
 public:
  TokenWindows() = default;
  /// Tokens [begin, end) of `tokens`. @param context  T ≥ 1
  TokenWindows(std::shared_ptr<const std::vector<std::uint32_t>> tokens, std::size_t begin, std::size_t end,
               std::size_t context);

  std::size_t tokens() const { return end_ - begin_; }
  std::size_t context() const { return context_; }
  std::size_t begin() const { return begin_; }
  std::size_t end() const { return end_; }

  /// N of the scale factor: tokens/T, so that an epoch counts every token once (spec 2.1).
  double observations() const { return double(tokens()) / double(context_); }

  /// Start of each of the B training windows of (key, step): uniform on [0, tokens − T − 1], independent.
  /// @throws Error where there are fewer than T + 1 tokens
  void random_offsets(StreamKey key, std::uint64_t step, std::span<std::uint32_t> offsets) const;

  /// Evaluation: windows in order that do not overlap and together have every token but the first as a
  /// target exactly once. All have T tokens but the last, which may have fewer.
  struct Window {
    std::size_t offset = 0, length = 0;
  };
  std::size_t windows() const;
  Window window(std::size_t i) const;

  /// Tokens of the windows of `length` that start at `offsets`, and their successors.
  /// @param inputs @shape [B, length], overwritten   @param targets @shape [B, length], overwritten
  /// @pre offset + length < tokens() for every window
  void assemble(std::span<const std::uint32_t> offsets, std::size_t length, std::span<std::int64_t> inputs,
                std::span<std::int64_t> targets) const;

 private:
  std::shared_ptr<const std::vector<std::uint32_t>> tokens_;
  std::size_t begin_ = 0, end_ = 0, context_ = 1;
};

struct TextOptions {
  std::filesystem::path path;
  std::size_t context = 256;  ///< T
  SplitFractions split = {};
  std::optional<std::size_t> max_characters =
      {};  ///< only so many from the start; the vocabulary is the file's
};

struct TextDataset {
  DatasetInfo info;  ///< task, `text` with vocabulary and parts, checksum
  Vocabulary vocabulary;
  std::shared_ptr<const std::vector<std::uint32_t>> tokens;
  TokenWindows train, valid, test;
  std::vector<std::string> warnings;
};

/// Reads, tokenizes and splits into three contiguous parts: floor(f_train n), floor(f_valid n) and the rest.
/// @throws Error for a missing or empty file, bytes that are no UTF-8 (line and column), a part that is
/// shorter
///         than a window and its successor
TextDataset load_text_dataset(const TextOptions& options);

}  // namespace smile
