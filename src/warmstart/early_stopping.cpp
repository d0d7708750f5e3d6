// SPDX-License-Identifier: Apache-2.0
#include "smile/warmstart/early_stopping.hpp"

#include "smile/error.hpp"

namespace smile {

EarlyStopping::EarlyStopping(std::optional<std::uint64_t> patience) : patience_(patience) {
  if (patience == 0)
    throw Error("warmstart.patience", "a patience of 0 epochs stops before the first one",
                "give at least 1, or null for no early stopping");
}

bool EarlyStopping::observe(double loss) {
  const std::uint64_t epoch = epochs_++;
  if (!(loss < best_loss_)) {
    ++without_improvement_;
    return false;
  }
  best_loss_ = loss;
  best_epoch_ = epoch;
  without_improvement_ = 0;
  return true;
}

bool EarlyStopping::exhausted() const {
  return patience_ && without_improvement_ >= *patience_;
}

}  // namespace smile
