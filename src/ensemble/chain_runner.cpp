// SPDX-License-Identifier: Apache-2.0
#include "ensemble/chain_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <utility>

#include "smile/adaptation/schedule.hpp"
#include "smile/ensemble/draw_check.hpp"

namespace smile::ensemble {
namespace {

constexpr std::uint64_t kTraceRows = 2000;
constexpr std::uint64_t kWindow = 1000;    // steps of one row of the monitors
constexpr std::uint64_t kLookAround = 16;  // steps between two looks at the clock

/// Length of a file's first lines, or of the whole file where there are fewer.
std::uint64_t bytes_of_lines(const std::filesystem::path& path, std::uint64_t lines) {
  std::ifstream in(path, std::ios::binary);
  std::uint64_t bytes = 0;
  std::vector<char> piece(std::size_t{1} << 16);
  while (lines > 0 && in) {
    in.read(piece.data(), std::streamsize(piece.size()));
    const auto got = std::uint64_t(in.gcount());
    std::uint64_t i = 0;
    for (; i < got && lines > 0; ++i) lines -= piece[i] == '\n';
    bytes += i;
  }
  return bytes;
}

const char* phase_of(bool warmup) {
  return warmup ? "warmup" : "sampling";
}

double squared_norm(const ChainVector& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += double(x[i]) * double(x[i]);
  return sum;
}

}  // namespace

ChainRunner::ChainRunner(const EnsembleOptions& options, std::uint32_t chain, ChainSetup setup,
                         std::optional<Checkpoint> checkpoint, LiveChain& live)
    : options_(options),
      chain_(std::move(setup), {options.seed, chain, {options.max_nonfinite_fraction}}),
      record_(chain_.record()),
      live_(live) {
  begin(std::move(checkpoint));
}

void ChainRunner::begin(std::optional<Checkpoint> checkpoint) {
  const std::size_t d = record_.dimension;
  const std::uint32_t chain = record_.chain;
  const auto& directory = options_.directory;
  const std::uint32_t start = crc32_of(std::as_bytes(chain_.setup().start.span()));
  if (checkpoint) {
    if (checkpoint->record.dimension != d)
      throw Error(
          checkpoint_path(directory, chain).string(),
          fmt::format("it holds {} parameters and the network has {}", checkpoint->record.dimension, d),
          "resume with the configuration of the run, or start a new run", ErrorKind::run);
    if (checkpoint->record.start_crc32 != start)
      throw Error(checkpoint_path(directory, chain).string(),
                  "the chain did not start from the member that is there now",
                  "restore the member, or start a new run", ErrorKind::run);
    // The sampler was started even so: that makes the vectors the state is read into.
    if (!chain_.restore(std::move(checkpoint->record), std::move(checkpoint->sampler)))
      throw Error(checkpoint_path(directory, chain).string(), "it holds more than the sampler's state",
                  "resume with the configuration of the run, or start a new run", ErrorKind::run);
    velocity_ = std::move(checkpoint->velocity);
    draws_ = DrawsWriter::reopen(draws_path(directory, chain), d, record_.stored, options_.draws);
    if (options_.keep_warmup)
      warmup_draws_ = DrawsWriter::reopen(warmup_draws_path(directory, chain), d, checkpoint->warmup_stored,
                                          options_.draws);
  } else {
    draws_ = DrawsWriter::create(draws_path(directory, chain), d, options_.draws);
    if (options_.keep_warmup)
      warmup_draws_ = DrawsWriter::create(warmup_draws_path(directory, chain), d, options_.draws);
  }
  record_.start_crc32 = start;
  record_.build = options_.build;
  trace_.emplace(trace_path(directory, chain), checkpoint ? checkpoint->trace_bytes : 0,
                 header_line<StepRow>());
  monitor_.emplace(monitor_path(directory, chain), checkpoint ? checkpoint->monitor_bytes : 0,
                   header_line<WindowRow>());
  draws_trace_.emplace(
      draws_trace_path(directory, chain),
      checkpoint ? bytes_of_lines(draws_trace_path(directory, chain), record_.stored + 1) : 0,
      header_line<DrawRow>());
  for (const auto* file : {&*trace_, &*monitor_})
    if (!file->remark().empty()) remarks_.push_back(file->remark());
  trace_interval_ = std::max<std::uint64_t>(1, (record_.total_steps + kTraceRows - 1) / kTraceRows);
  // No common factor, or the trace would show too many steps whose ΔE was measured in another way.
  const std::uint64_t audits = chain_.setup().sampler->audit_interval();
  while (audits > 0 && std::gcd(trace_interval_, audits) != 1) ++trace_interval_;
  live_.total = record_.total_steps;
  live_.warmup = record_.warmup_steps;
  publish(record_.step);
}

void ChainRunner::require(ChainClaim* claim) const {
  if (claim == nullptr || !claim->lost()) return;
  throw Error(checkpoint_path(options_.directory, record_.chain).string(),
              "another process has taken the chain over, because this one stood still for too long",
              "let that one go on", ErrorKind::run);
}

ChainRecord ChainRunner::run(const std::function<bool()>& stop, ChainClaim* claim) {
  clock_ = std::chrono::steady_clock::now();
  auto saved = clock_;
  const auto pause = std::chrono::duration<double>(options_.checkpoint_seconds);
  chain_.advance(record_.total_steps, [&](const StepReport& report, std::uint64_t t) {
    if (t % kLookAround == 1) require(claim);
    keep(report, t);
    if (chain_.failed() || stop()) return false;
    if (t % kLookAround != 0) return true;
    publish(t);
    const auto now = std::chrono::steady_clock::now();
    if (now - saved >= pause) {
      require(claim);
      save();
      saved = std::chrono::steady_clock::now();
    }
    return true;
  });
  publish(record_.step);
  require(claim);
  save();
  return record_;
}

void ChainRunner::keep(const StepReport& report, std::uint64_t t) {
  store(report, t);
  if (t % trace_interval_ == 0 || t == record_.total_steps) trace(report, t);
  if (t % kWindow == 0 || t == record_.total_steps || t == record_.warmup_steps) close_window(t);
  remember_velocity(t);
}

void ChainRunner::store(const StepReport& report, std::uint64_t t) {
  if (t > record_.warmup_steps) {
    if (!is_stored(t - record_.warmup_steps - 1, options_.thinning, report.exploring)) return;
    std::span<const float> draw = chain_.position().span();
    draws_->append(draw);
    record_.stored = draws_->rows();
    if (options_.draws.type != DrawsType::float32) {  // the checksum is that of what will be read again
      rounded_.assign(draw.begin(), draw.end());
      round_as_stored(options_.draws.type, rounded_);
      draw = rounded_;
    }
    record_.draws_crc32 = crc32_of(std::as_bytes(draw), record_.draws_crc32);
    const StepSums& sums = record_.monitor.sampling;
    draws_trace_->append(line_of(DrawRow{t, report.log_density, report.energy_change, report.step_size,
                                         report.gradient_norm, sums.refused(), sums.nonfinite()}));
  } else if (warmup_draws_ && is_stored(t - 1, options_.thinning, report.exploring)) {
    warmup_draws_->append(chain_.position().span());
  }
}

void ChainRunner::trace(const StepReport& report, std::uint64_t t) {
  const auto& monitor = record_.monitor;
  StepRow row;
  row.step = t;
  row.phase = phase_of(t <= record_.warmup_steps);
  row.log_density = report.log_density;
  row.energy_change = report.energy_change;
  row.step_size = report.step_size;
  if (!report.accepted()) row.refused = 1, row.cause = name_of(report.refusal);
  row.refused_so_far = monitor.warmup.refused() + monitor.sampling.refused();
  row.gradient_norm = report.gradient_norm;
  row.turn_angle = report.turn_angle;
  row.probability = report.probability;
  row.gamma_shape = report.gamma_shape;
  row.gamma_scale = report.gamma_scale;
  trace_->append(line_of(row));
}

void ChainRunner::close_window(std::uint64_t t) {
  ChainMonitor& monitor = record_.monitor;
  const double d = double(record_.dimension);
  const ChainVector& position = chain_.position();
  monitor.squared_norm_per_dim = squared_norm(position) / d;
  if (chain_.setup().training_log_likelihood)
    monitor.training_log_likelihood = chain_.setup().training_log_likelihood(position);
  const StepSums& window = monitor.window;
  const auto& kept = velocity_.correlations;
  WindowRow row;
  row.step = t;
  row.phase = phase_of(t <= record_.warmup_steps);
  row.step_size = window.mean_step_size();
  row.turn_angle = window.mean_turn_angle();
  row.gradient_rms = window.gradient_rms(d);
  row.implied_decoherence_length = window.implied_decoherence_length();
  row.position_norm2_per_dim = monitor.squared_norm_per_dim;
  row.same_batch_energy_variance_per_dim = window.same_batch_energy_variance(d);
  row.training_log_likelihood = monitor.training_log_likelihood;
  row.refused = window.refused();
  row.nonfinite = window.nonfinite();
  row.velocity_correlation_1 = kept[0];
  row.velocity_correlation_16 = kept[1];
  row.velocity_correlation_256 = kept[2];
  row.gamma_shape = monitor.gamma_shape;
  row.gamma_scale = monitor.gamma_scale;
  row.kolmogorov_distance = monitor.window_energy.kolmogorov_distance();
  monitor_->append(line_of(row));
  monitor.window = {};
  monitor.window_energy = {};
  for (double& correlation : velocity_.correlations) correlation = StepReport::kNone;
}

void ChainRunner::remember_velocity(std::uint64_t t) {
  const std::uint64_t lag = t % kWindow;
  if (lag == 0) {
    if (!chain_.setup().sampler->velocity(velocity_.reference)) velocity_.reference = ChainVector();
    return;
  }
  if (velocity_.reference.size() == 0) return;
  for (std::size_t i = 0; i < std::size(VelocityMemory::kLags); ++i) {
    if (lag != VelocityMemory::kLags[i] || !chain_.setup().sampler->velocity(velocity_now_)) continue;
    double dot = 0;
    for (std::size_t j = 0; j < velocity_now_.size(); ++j)
      dot += double(velocity_.reference[j]) * double(velocity_now_[j]);
    velocity_.correlations[i] = dot;
  }
}

void ChainRunner::save() {
  const auto now = std::chrono::steady_clock::now();
  record_.seconds += std::chrono::duration<double>(now - clock_).count();
  clock_ = now;
  trace_->sync();
  monitor_->sync();
  draws_trace_->sync();
  draws_->sync();
  if (warmup_draws_) warmup_draws_->sync();
  Checkpoint checkpoint;
  checkpoint.digest = options_.digest;
  checkpoint.record = record_;
  checkpoint.warmup_stored = warmup_draws_ ? warmup_draws_->rows() : 0;
  checkpoint.velocity = velocity_;
  checkpoint.trace_bytes = trace_->bytes();
  checkpoint.monitor_bytes = monitor_->bytes();
  if (record_.status == ChainStatus::running) {
    checkpoint.sampler = chain_.state();
  }
  write_checkpoint(checkpoint_path(options_.directory, record_.chain), checkpoint);
}

void ChainRunner::publish(std::uint64_t t) {
  const auto relaxed = std::memory_order_relaxed;
  const ChainMonitor& monitor = record_.monitor;
  live_.done.store(t, relaxed);
  live_.refused.store(monitor.warmup.refused() + monitor.sampling.refused(), relaxed);
  live_.log_density.store(monitor.log_density, relaxed);
  live_.step_size.store(monitor.last_step_size, relaxed);
}

}  // namespace smile::ensemble
