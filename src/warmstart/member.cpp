// SPDX-License-Identifier: Apache-2.0
#include "smile/warmstart/member.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "smile/error.hpp"
#include "smile/network/fcn_network.hpp"
#include "smile/warmstart/early_stopping.hpp"

namespace smile {
namespace {

using Vector = HostVector<float>;

const double kHalfLog2Pi = 0.5 * std::log(2 * std::numbers::pi);

bool all_finite(const Vector& x) {
  // x − x is 0 for a finite x and NaN for every other.
  float sum = 0;
  for (float value : x.span()) sum += value - value;
  return sum == 0;
}

/// Gradient of the log-likelihood's sum → gradient of the loss' mean.
void scale_to_loss(Vector& gradient, std::size_t points, bool has_log_sigma) {
  // The squared error is twice the negative log-likelihood at σ = 1, but for a constant.
  const double factor = -(has_log_sigma ? 2.0 : 1.0) / static_cast<double>(points);
  for (float& g : gradient.span()) g *= static_cast<float>(factor);
  // With no gradient and a value of 0, which no weight decay can shrink, log σ stays at 0.
  if (has_log_sigma) gradient[gradient.size() - 1] = 0;
}

/// Trains with the optimisers of this room, on the network's likelihood.
class HostTrainer final : public Trainer {
 public:
  HostTrainer(const Network& network, const OptimizerOptions& options, bool has_log_sigma)
      : train_(network.likelihood(Part::train)),
        valid_(network.likelihood(Part::valid)),
        has_log_sigma_(has_log_sigma),
        optimizer_(options, network.layout().size()),
        gradient_(network.layout().size()) {}

  void start(const Vector& position) override {
    position_ = position;
    optimizer_.reset();
  }

  double update(std::span<const std::uint32_t> rows, std::size_t count, std::uint64_t,
                double learning_rate) override {
    const double value = train_->log_likelihood_and_gradient(rows, position_, gradient_);
    scale_to_loss(gradient_, count, has_log_sigma_);
    if (!std::isfinite(value)) return value;
    if (!all_finite(gradient_)) return std::numeric_limits<double>::quiet_NaN();
    optimizer_.update(position_, gradient_, learning_rate);
    return value;
  }

  double log_likelihood(Part part) override {
    return (part == Part::train ? train_ : valid_)->log_likelihood({}, position_);
  }
  bool finite() const override { return all_finite(position_); }
  void position(Vector& position) const override { position = position_; }

 private:
  std::unique_ptr<Likelihood<float>> train_, valid_;
  bool has_log_sigma_;
  Optimizer<float> optimizer_;
  Vector position_, gradient_;
};

/// Trains with ivon: gradients at positions drawn around the mean, which is the member.
class IvonTrainer final : public Trainer {
 public:
  /// @param key  of what is drawn
  IvonTrainer(const Network& network, const OptimizerOptions& options, bool has_log_sigma, StreamKey key)
      : train_(network.likelihood(Part::train)),
        valid_(network.likelihood(Part::valid)),
        options_(options.ivon_of(network.points(Part::train))),
        draws_(std::uint64_t(options.draws)),
        points_per_row_(network.points_per_row()),
        has_log_sigma_(has_log_sigma),
        key_(key),
        position_(network.layout().size()),
        gradient_(network.layout().size()),
        normals_(network.layout().size()) {}

  void start(const Vector& mean) override {
    mean_ = mean;
    ivon_ = Ivon<float>(options_, mean.size());
  }

  double update(std::span<const std::uint32_t> rows, std::size_t count, std::uint64_t number,
                double learning_rate) override {
    double sum = 0;
    for (std::uint64_t draw = 0; draw < draws_; ++draw) {
      fill_normals(key_, number * draws_ + draw, normals_.span());
      // The squared error says nothing of log σ, which stays at 0.
      if (has_log_sigma_) normals_[normals_.size() - 1] = 0;
      ivon_.draw(mean_, normals_, position_);
      const double value = train_->log_likelihood_and_gradient(rows, position_, gradient_);
      if (!std::isfinite(value)) return value;
      if (!all_finite(gradient_)) return std::numeric_limits<double>::quiet_NaN();
      scale_to_loss(gradient_, count * points_per_row_, has_log_sigma_);
      ivon_.observe(gradient_, normals_);
      sum += value;
    }
    ivon_.update(mean_, learning_rate);
    return sum / double(draws_);
  }

  double log_likelihood(Part part) override {
    return (part == Part::train ? train_ : valid_)->log_likelihood({}, mean_);
  }
  bool finite() const override { return all_finite(mean_); }
  void position(Vector& position) const override { position = mean_; }

 private:
  std::unique_ptr<Likelihood<float>> train_, valid_;
  IvonOptions options_;
  std::uint64_t draws_, points_per_row_;
  bool has_log_sigma_;
  StreamKey key_;
  Ivon<float> ivon_;
  Vector mean_, position_, gradient_, normals_;
};

/// One attempt at training a member.
class Training {
 public:
  enum class End { finished, interrupted, diverged };

  Training(const Network& network, Trainer& trainer, const MemberOptions& options, std::uint32_t member,
           int attempt)
      : network_(network),
        trainer_(trainer),
        options_(options),
        member_(member),
        attempt_(attempt),
        batches_(options.batch_size ? network.batches(*options.batch_size, options.batches,
                                                      {options.seed, member, Purpose::warmstart_batches})
                                    : BatchOrder(network.rows(Part::train))),
        stopping_(has_valid() ? options.patience : std::nullopt) {
    network.initialise({options.seed, member, Purpose::initialisation}, kept_);
    trainer_.start(kept_);
  }

  End run(const EpochObserver& observer) {
    for (std::uint64_t epoch = 0; epoch < options_.max_epochs && !stopping_.exhausted(); ++epoch) {
      EpochReport report{.member = member_, .epoch = epoch, .attempt = attempt_};
      const bool finite = train_epoch(report) && validate(report);
      epochs_.push_back(report);
      if (!finite) return End::diverged;
      keep(report);
      if (observer && !observer(report)) return End::interrupted;
    }
    return End::finished;
  }

  void hand_over(MemberResult& result) {
    result.position = std::move(kept_);
    result.best_epoch = best_epoch_;
    result.kept_epoch = kept_epoch_;
    result.epochs = std::move(epochs_);
  }

  /// Root mean square of the residuals of the network at `position`, whose log σ is 0.
  double residual_sd(const Vector& position) {
    const Part part = has_valid() ? Part::valid : Part::train;
    const double n = static_cast<double>(network_.rows(part));
    trainer_.start(position);
    // Σ log N(y; m, 1) = −½ Σ (y − m)² − n ½ log 2π
    const double squares = -2 * (trainer_.log_likelihood(part) + n * kHalfLog2Pi);
    return std::sqrt(std::fmax(squares, 0) / n);
  }

  bool has_valid() const { return network_.rows(Part::valid) > 0; }

 private:
  /// Updates with all batches of the epoch; false as soon as something is not finite.
  bool train_epoch(EpochReport& report) {
    double log_likelihood = 0;
    std::size_t rows = 0;
    bool finite = true;
    const std::uint64_t batches = batches_.batches_per_epoch();
    for (std::uint64_t b = 0; b < batches && finite; ++b) {
      const std::uint64_t update = report.epoch * batches + b;
      const std::size_t size = batches_.size(update);
      report.learning_rate = options_.learning_rate.at(update) * (attempt_ == 0 ? 1 : 0.5);
      const double value = trainer_.update(batches_.rows(update), size, update, report.learning_rate);
      log_likelihood += value;
      rows += size;
      finite = std::isfinite(value);
    }
    report.train_loss =
        -log_likelihood / (static_cast<double>(rows) * static_cast<double>(network_.points_per_row()));
    // An activation may swallow a NaN weight, so that no loss would tell.
    return finite && trainer_.finite();
  }

  bool validate(EpochReport& report) {
    report.valid_loss = std::numeric_limits<double>::quiet_NaN();
    if (!has_valid()) return true;
    report.valid_loss =
        -trainer_.log_likelihood(Part::valid) / static_cast<double>(network_.points(Part::valid));
    return std::isfinite(report.valid_loss);
  }

  void keep(const EpochReport& report) {
    const bool best = has_valid() ? stopping_.observe(report.valid_loss) : true;
    if (best) best_epoch_ = report.epoch;
    if (!best && options_.keep == KeepEpoch::best) return;
    trainer_.position(kept_);
    kept_epoch_ = report.epoch;
  }

  const Network& network_;
  Trainer& trainer_;
  const MemberOptions& options_;
  std::uint32_t member_;
  int attempt_;
  BatchOrder batches_;
  EarlyStopping stopping_;
  Vector kept_;
  std::uint64_t best_epoch_ = 0, kept_epoch_ = 0;
  std::vector<EpochReport> epochs_;
};

std::string epoch_of(const MemberResult& result) {
  return std::to_string(result.epochs.back().epoch);
}

/// Sets residual_sd, and log σ where it is asked for.
void start_log_sigma(Training& training, LogSigmaStart start, const std::string& name, MemberResult& result) {
  result.residual_sd = training.residual_sd(result.position);
  if (start == LogSigmaStart::zero) return;
  if (!training.has_valid())
    result.messages.push_back(name + ": without validation rows log sigma starts at the training residuals'");
  double sd = result.residual_sd;
  if (!(sd >= kSmallestResidualSd)) {
    sd = kSmallestResidualSd;
    result.messages.push_back(name + ": the residuals vanish; log sigma starts at log " +
                              std::to_string(kSmallestResidualSd));
  }
  result.position[result.position.size() - 1] = static_cast<float>(std::log(sd));
}

}  // namespace

MemberResult train_member(const FcnSpec& spec, const MemberData& data, const MemberOptions& options,
                          std::uint32_t member, const EpochObserver& observer) {
  return train_member(FcnNetwork(spec, data.train, data.valid), spec.task, options, member, observer);
}

MemberResult train_member(const Network& network, Task task, const MemberOptions& options,
                          std::uint32_t member, const EpochObserver& observer) {
  const auto start = std::chrono::steady_clock::now();
  options.validate();
  if (network.rows(Part::train) == 0)
    throw Error("warm start", "there are no training rows", "give the training split at least one row");

  const bool has_log_sigma = task == Task::mean_regression;
  auto trainer = network.trainer(options.optimizer, {options.seed, member, Purpose::augmentation});
  if (!trainer && options.optimizer.kind == OptimizerKind::ivon)
    trainer = std::make_unique<IvonTrainer>(network, options.optimizer, has_log_sigma,
                                            StreamKey{options.seed, member, Purpose::perturbation});
  if (!trainer) trainer = std::make_unique<HostTrainer>(network, options.optimizer, has_log_sigma);
  MemberResult result;
  const std::string name = "member " + std::to_string(member);
  for (int attempt = 0; attempt < 2; ++attempt) {
    Training training(network, *trainer, options, member, attempt);
    const Training::End end = training.run(observer);
    training.hand_over(result);
    result.interrupted = end == Training::End::interrupted;
    result.diverged = end == Training::End::diverged;
    if (result.diverged && attempt == 0) {
      result.restarted = true;
      result.messages.push_back(name + " diverged in epoch " + epoch_of(result) +
                                " and starts again with half the learning rate");
      continue;
    }
    if (result.diverged)
      result.messages.push_back(name + " diverged again in epoch " + epoch_of(result) +
                                " and is left as it was before; lower the learning rate");
    // A diverged member keeps log σ = 0: its residuals say nothing about the noise.
    else if (has_log_sigma && !result.interrupted)
      start_log_sigma(training, options.log_sigma, name, result);
    break;
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace smile
