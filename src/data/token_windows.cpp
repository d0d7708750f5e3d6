// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "smile/data/text.hpp"
#include "smile/error.hpp"

namespace smile {

TokenWindows::TokenWindows(std::shared_ptr<const std::vector<std::uint32_t>> tokens, std::size_t begin,
                           std::size_t end, std::size_t context)
    : tokens_(std::move(tokens)), begin_(begin), end_(end), context_(context) {
  if (begin_ > end_ || end_ > tokens_->size() || context_ == 0)
    throw Error("token windows",
                "tokens " + std::to_string(begin_) + " to " + std::to_string(end_) + " of " +
                    std::to_string(tokens_->size()) + " in windows of " + std::to_string(context_),
                "give a stretch of the text and windows of a token or more");
}

void TokenWindows::random_offsets(StreamKey key, std::uint64_t step, std::span<std::uint32_t> offsets) const {
  if (tokens() < context_ + 1)
    throw Error("token windows",
                std::to_string(tokens()) + " tokens have no window of " + std::to_string(context_) +
                    " with a successor",
                "give a longer text or a shorter context");
  Stream stream(key, step);
  const auto places = static_cast<std::uint32_t>(tokens() - context_);
  for (std::uint32_t& offset : offsets) offset = stream.below(places);
}

std::size_t TokenWindows::windows() const {
  return tokens() < 2 ? 0 : (tokens() - 1 + context_ - 1) / context_;
}

TokenWindows::Window TokenWindows::window(std::size_t i) const {
  const std::size_t offset = i * context_;
  return {offset, std::min(context_, tokens() - 1 - offset)};
}

void TokenWindows::assemble(std::span<const std::uint32_t> offsets, std::size_t length,
                            std::span<std::int64_t> inputs, std::span<std::int64_t> targets) const {
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    const auto first = tokens_->begin() + static_cast<std::ptrdiff_t>(begin_ + offsets[k]);
    const auto last = first + static_cast<std::ptrdiff_t>(length);
    const auto place = static_cast<std::ptrdiff_t>(k * length);
    std::copy(first, last, inputs.begin() + place);
    std::copy(first + 1, last + 1, targets.begin() + place);
  }
}

}  // namespace smile
