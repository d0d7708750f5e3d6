// SPDX-License-Identifier: Apache-2.0
#include "smile/targets/batch_order.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "smile/error.hpp"

namespace smile {

BatchOrder::BatchOrder(std::size_t rows) : rows_(rows), batch_size_(rows) {
  if (rows == 0)
    throw Error("batches", "there are no training rows", "give data with at least one training row");
}

BatchOrder::BatchOrder(std::size_t rows, std::size_t batch_size, BatchMode mode, StreamKey key)
    : rows_(rows), batch_size_(batch_size), mode_(mode), key_(key) {
  if (rows == 0)
    throw Error("batches", "there are no training rows", "give data with at least one training row");
  if (rows > std::numeric_limits<std::uint32_t>::max())
    throw Error("batches", std::to_string(rows) + " rows are too many", "use fewer than 2^32 rows");
  if (batch_size == 0) throw Error("batch_size", "0 rows make no batch", "set it to 1 or more");
  batches_ = batches_in_epoch(rows, batch_size, mode);
  // One batch of an epoch is all rows, unless it is a full one with a short one dropped.
  full_ = batch_size >= rows || (evenly() && batches_ == 1);
}

std::size_t BatchOrder::batches_in_epoch(std::size_t rows, std::size_t batch_size, BatchMode mode) {
  if (batch_size >= rows) return 1;
  switch (mode) {
    case BatchMode::keep:
      return (rows + batch_size - 1) / batch_size;
    case BatchMode::drop:
      return rows / batch_size;
    case BatchMode::even:
    case BatchMode::reversed:
      break;
  }
  return (2 * rows + batch_size) / (2 * batch_size);  // round(N/B), at least 1 as N ≥ B
}

BatchOrder BatchOrder::windows(std::size_t observations, std::size_t places, std::size_t batch_size,
                               StreamKey key) {
  if (places == 0 || places > std::numeric_limits<std::uint32_t>::max())
    throw Error("batches", std::to_string(places) + " places for a window",
                "give a text that is longer than the context and shorter than 2^32 tokens");
  BatchOrder order(std::max<std::size_t>(1, observations), batch_size, BatchMode::even, key);
  order.places_ = places;
  order.full_ = false;
  return order;
}

BatchOrder::Range BatchOrder::range(std::uint64_t t) const {
  auto k = static_cast<std::size_t>(t % batches_);
  if (mode_ == BatchMode::reversed && (t / batches_) % 2 == 1) k = batches_ - 1 - k;
  if (evenly()) return {rows_ * k / batches_, rows_ * (k + 1) / batches_};
  return {batch_size_ * k, std::min(batch_size_ * (k + 1), rows_)};
}

std::size_t BatchOrder::size(std::uint64_t t) const {
  if (full_) return rows_;
  if (places_ > 0) return batch_size_;
  const Range r = range(t);
  return r.end - r.begin;
}

std::span<const std::uint32_t> BatchOrder::rows(std::uint64_t t) {
  if (full_) return {};
  if (places_ > 0) {
    permutation_.resize(batch_size_);
    Stream stream(key_, t);
    for (std::uint32_t& place : permutation_) place = stream.below(static_cast<std::uint32_t>(places_));
    return permutation_;
  }
  std::uint64_t shuffle = t / batches_;
  if (mode_ == BatchMode::reversed) shuffle /= 2;
  if (permutation_.empty() || shuffle != shuffle_) {
    permutation_.resize(rows_);
    random_permutation(key_, shuffle, permutation_);
    shuffle_ = shuffle;
  }
  const Range r = range(t);
  return std::span<const std::uint32_t>(permutation_).subspan(r.begin, r.end - r.begin);
}

}  // namespace smile
