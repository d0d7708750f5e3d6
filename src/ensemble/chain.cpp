// SPDX-License-Identifier: Apache-2.0
#include "smile/ensemble/chain.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace smile {

std::uint64_t FailureRule::allowed(std::uint64_t steps) const {
  const std::uint64_t looked_at = std::min(steps, kWindow);
  std::uint64_t count = looked_at;
  while (count > 0 && double(count) / double(looked_at) > max_nonfinite_fraction) --count;
  return count;
}

Chain::Chain(ChainSetup setup, const ChainOptions& options)
    : setup_(std::move(setup)), failure_(options.failure), normals_(options.seed, options.chain) {
  setup_.sampler->start(setup_.start, *setup_.target, normals_);
  record_.chain = options.chain;
  record_.dimension = setup_.start.size();
  record_.warmup_steps = setup_.sampler->warmup_steps();
  record_.total_steps = setup_.sampler->total_steps();
}

bool Chain::restore(ChainRecord record, std::vector<char> state) {
  Archive archive(std::move(state));
  setup_.sampler->serialise(archive);
  record_ = std::move(record);
  return archive.exhausted();
}

std::vector<char> Chain::state() {
  Archive archive;
  // More than any sampler has, so that the bytes are never moved while they grow.
  archive.reserve(24 * sizeof(float) * (record_.dimension + 1000));
  setup_.sampler->serialise(archive);
  return archive.take_bytes();
}

void Chain::add(const StepReport& report, std::uint64_t t) {
  const std::uint64_t audits = setup_.sampler->audit_interval();
  record_.monitor.add(report, t <= record_.warmup_steps, audits > 0 && t % audits == 0);
  if (!report.accepted() && t >= FailureRule::kWindow) judge();
  if (setup_.returns_after_warmup && t == record_.warmup_steps) setup_.sampler->move_to(setup_.start);
}

void Chain::judge() {
  const ChainMonitor& monitor = record_.monitor;
  const std::uint64_t bad = monitor.recent_nonfinite();
  if (bad <= failure_.allowed(monitor.steps)) return;
  record_.status = ChainStatus::failed;
  record_.reason = fmt::format("{} of its last {} steps before step {} were not finite ({})", bad,
                               std::min(monitor.steps, FailureRule::kWindow), record_.step,
                               name_of(monitor.recent_cause()));
}

void Chain::conclude() {
  judge();
  if (failed()) return;
  if (record_.monitor.never_accepted()) {
    record_.status = ChainStatus::failed;
    record_.reason = fmt::format("all its {} steps were refused ({})", record_.monitor.steps,
                                 name_of(record_.monitor.main_cause()));
    return;
  }
  record_.status = ChainStatus::complete;
  record_.tuned = setup_.sampler->tuned();
  record_.findings = setup_.sampler->findings();
}

ChainInMemory run_in_memory(ChainSetup setup, const ChainOptions& options, std::uint64_t thinning) {
  Chain chain(std::move(setup), options);
  ChainInMemory result;
  const ChainRecord& record = chain.record();
  chain.advance(record.total_steps, [&](const StepReport& report, std::uint64_t t) {
    if (t <= record.warmup_steps) return true;
    if (!is_stored(t - record.warmup_steps - 1, thinning, report.exploring)) return true;
    const auto draw = chain.position().span();
    result.draws.insert(result.draws.end(), draw.begin(), draw.end());
    ++chain.record().stored;
    return true;
  });
  result.record = record;
  return result;
}

}  // namespace smile
