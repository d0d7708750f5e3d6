// SPDX-License-Identifier: Apache-2.0
/// Trains one member of the deep ensemble that the chains start from.
///
/// A member is a function of (spec, data, options, member): it owns its random streams and knows nothing of
/// other members, threads or files, so that members can be trained in any order and in parallel.
/// @source spec 2.5
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smile/kernels/host_vector.hpp"
#include "smile/named.hpp"
#include "smile/network/fcn.hpp"
#include "smile/targets/batch_order.hpp"
#include "smile/warmstart/learning_rate.hpp"
#include "smile/warmstart/optimizer.hpp"

namespace smile {

struct DataPart;
class Network;

/// Which parameters a member keeps.
enum class KeepEpoch {
  best,  ///< those of the epoch with the smallest validation loss
  last,  ///< those of the last epoch, as the authors do
};
template <>
struct Named<KeepEpoch> {
  static constexpr Alternative<KeepEpoch> all[] = {{KeepEpoch::best, "best"}, {KeepEpoch::last, "last"}};
};

/// Where log σ of `mean_regr` starts.
enum class LogSigmaStart {
  residual,  ///< log of the kept network's validation residual standard deviation
  zero,      ///< 0, as the authors do
};
template <>
struct Named<LogSigmaStart> {
  static constexpr Alternative<LogSigmaStart> all[] = {{LogSigmaStart::residual, "residual"},
                                                       {LogSigmaStart::zero, "zero"}};
};

struct MemberOptions {
  OptimizerOptions optimizer{};
  LearningRateSchedule learning_rate{};
  std::uint64_t max_epochs = 200;                ///< ≥ 1
  std::optional<std::uint64_t> batch_size = 64;  ///< ≥ 1; none: all rows
  BatchMode batches = BatchMode::keep;
  std::optional<std::uint64_t> patience = 10;  ///< epochs, ≥ 1; none: no early stopping
  KeepEpoch keep = KeepEpoch::best;
  LogSigmaStart log_sigma = LogSigmaStart::residual;
  std::uint64_t seed = 0;

  /// @throws Error for a value out of its range
  void validate() const;
};

/// What members train on; shared between them.
struct MemberData {
  std::shared_ptr<const FcnData<float>> train;
  std::shared_ptr<const FcnData<float>> valid;  ///< may have no rows
};
/// @param inputs  columns of the features
MemberData member_data(const DataPart& train, const DataPart& valid, std::size_t inputs);

/// One epoch. The losses are means over rows (tokens of a text) of the negative log-likelihood; for
/// `mean_regr` at σ = 1, that is half the squared error + ½ log 2π.
struct EpochReport {
  std::uint64_t member = 0;
  std::uint64_t epoch = 0;   ///< from 0
  int attempt = 0;           ///< 0, or 1 after a restart
  double learning_rate = 0;  ///< of the epoch's last update
  double train_loss = 0;     ///< over the epoch's batches, each before its update
  double valid_loss = 0;     ///< after the epoch; NaN where there are no validation rows
};

struct MemberResult {
  HostVector<float> position;    ///< @shape [d]
  std::uint64_t best_epoch = 0;  ///< with the smallest validation loss; the last one without validation rows
  std::uint64_t kept_epoch = 0;  ///< the one `position` is from
  std::vector<EpochReport> epochs;  ///< of the attempt that counts
  bool restarted = false;           ///< diverged once and was trained again with half the learning rate
  bool diverged = false;     ///< diverged twice: `position` is that of the best epoch before it happened, or
                             ///< the initial one
  bool interrupted = false;  ///< the observer stopped it: not a finished member
  /// Root mean square of the kept network's residuals on the validation rows, or on the training rows where
  /// there are none; 0 for other tasks than mean_regr.
  double residual_sd = 0;
  double seconds = 0;                 ///< wall time
  std::vector<std::string> messages;  ///< what a user should know, one line each; names the member
};

/// Told after each epoch; false stops the member.
using EpochObserver = std::function<bool(const EpochReport&)>;

/// Smallest σ that the warm start sets for mean_regr, in units of the (standardised) target: a network that
/// fits every validation row exactly would otherwise start the sampler at σ = 0.
inline constexpr double kSmallestResidualSd = 1e-3;

/// Trains member number `member` from its own LeCun initialisation (Purpose::initialisation) in its own batch
/// order (Purpose::warmstart_batches).
///
/// The loss is the mean over a batch's rows of the squared error (`mean_regr`; log σ is held at 0 meanwhile)
/// or of the negative log-likelihood (`regr`, `class`). A member whose loss, gradient or parameters stop
/// being finite starts again from the same initialisation with half of every learning rate; if that diverges
/// too, the result says so. Without validation rows there is no early stopping and the last epoch is kept.
/// @throws Error for options out of range, no training rows, data that does not fit the network
MemberResult train_member(const Network& network, Task task, const MemberOptions& options,
                          std::uint32_t member, const EpochObserver& observer = {});
/// The same for the native network.
MemberResult train_member(const FcnSpec& spec, const MemberData& data, const MemberOptions& options,
                          std::uint32_t member, const EpochObserver& observer = {});

}  // namespace smile
