// SPDX-License-Identifier: Apache-2.0
/// When a member of the ensemble has been trained enough.
/// @source spec 2.5
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace smile {

/// Watches the validation loss. The reference is the best loss so far; only a smaller one improves on it.
class EarlyStopping {
 public:
  /// @param patience  epochs without improvement after which to stop, ≥ 1; none: never. Throws Error for 0.
  explicit EarlyStopping(std::optional<std::uint64_t> patience);

  /// Takes the loss of the next epoch (the first is epoch 0); returns whether it is the best so far.
  /// A NaN never is.
  bool observe(double loss);
  /// Whether the last `patience` epochs brought no improvement.
  bool exhausted() const;
  /// Epoch of the smallest loss, 0 before any. @see best_loss
  std::uint64_t best_epoch() const { return best_epoch_; }
  /// Infinity as long as no epoch had a loss below it.
  double best_loss() const { return best_loss_; }

 private:
  std::optional<std::uint64_t> patience_;
  std::uint64_t epochs_ = 0, best_epoch_ = 0, without_improvement_ = 0;
  double best_loss_ = std::numeric_limits<double>::infinity();
};

}  // namespace smile
