// SPDX-License-Identifier: Apache-2.0
/// Which rows belong to mini-batch number t: a function of (seed, chain, t) alone (spec 1.1, 5.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "smile/named.hpp"
#include "smile/random/stream.hpp"

namespace smile {

enum class BatchMode {
  even,      ///< R = max(1, round(N/B)) batches an epoch, sizes differ by at most one (default)
  keep,      ///< batches of B and a short last one
  drop,      ///< as keep, without the short one
  reversed,  ///< as even, but every second epoch has the batches of the one before in reverse order, so that
             ///< what an epoch's order pushes the chain to, the next takes back (spec 06, 6.3)
};
template <>
struct Named<BatchMode> {
  static constexpr Alternative<BatchMode> all[] = {{BatchMode::even, "even"},
                                                   {BatchMode::keep, "keep"},
                                                   {BatchMode::drop, "drop"},
                                                   {BatchMode::reversed, "reversed"}};
};

/// Batches without replacement within an epoch, reshuffled every epoch. An epoch's permutation is kept, so
/// steps in order cost one shuffle an epoch; any order of steps gives the same batches. One object a chain.
///
/// Which average over an epoch is exact: with L_t scaled by N/B_t, every single L_t is the sum over all rows
/// in expectation over the shuffles, whatever its B_t. Within one epoch the mean with weights B_t/N gives the
/// sum over all rows exactly; the plain mean over t does so only where all sizes are equal (N = 537, B = 256:
/// batches of 268 and 269, and a plain mean that is off by some 1e−4, on average over the epochs by 0).
class BatchOrder {
 public:
  /// All rows in every step.
  explicit BatchOrder(std::size_t rows);
  /// @param batch_size  B ≥ 1; B ≥ N gives one batch of all rows. Throws Error for B = 0 and N = 0.
  /// @param key  its purpose is Purpose::batches or Purpose::warmstart_batches
  BatchOrder(std::size_t rows, std::size_t batch_size, BatchMode mode, StreamKey key);

  /// Windows of a text: every batch is `batch_size` places drawn independently and uniformly from
  /// [0, places), so that its "rows" are offsets; an epoch is max(1, round(N/B)) batches (spec 2.4).
  /// @param observations  N of the scale factor: tokens/context, rounded   @param places ≥ 1
  static BatchOrder windows(std::size_t observations, std::size_t places, std::size_t batch_size,
                            StreamKey key);

  /// R of an order of rows, ≥ 1: 1 where the batch holds all rows. @param batch_size ≥ 1
  static std::size_t batches_in_epoch(std::size_t rows, std::size_t batch_size, BatchMode mode);

  /// Rows of batch t; empty where the batch is all rows (Likelihood's convention). Valid until the next call.
  std::span<const std::uint32_t> rows(std::uint64_t t);
  /// Number of rows in batch t, N where it is all rows.
  std::size_t size(std::uint64_t t) const;
  /// R, batches an epoch.
  std::size_t batches_per_epoch() const { return batches_; }
  std::size_t observations() const { return rows_; }
  /// B as it was asked for, N for the full batch.
  std::size_t batch_size() const { return batch_size_; }
  bool full() const { return full_; }

 private:
  struct Range {
    std::size_t begin, end;
  };
  Range range(std::uint64_t t) const;
  bool evenly() const { return mode_ == BatchMode::even || mode_ == BatchMode::reversed; }
  std::size_t rows_, batch_size_, batches_ = 1;
  BatchMode mode_ = BatchMode::even;
  StreamKey key_{};
  bool full_ = true;
  std::uint64_t shuffle_ = 0;
  std::vector<std::uint32_t> permutation_;  ///< of shuffle_; empty before the first use; with places: batch
  std::size_t places_ = 0;                  ///< of windows; 0: an order of rows
};

}  // namespace smile
