// SPDX-License-Identifier: Apache-2.0
#include "smile/run/progress_file.hpp"

#include "evaluation/json_fields.hpp"
#include "run/json_file.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {

template <>
struct JsonFields<ChainProgress> {
  static void visit(auto& field, auto& chain) {
    field("chain", chain.chain);
    field("done", chain.done);
    field("total", chain.total);
    field("warmup", chain.warmup);
    field("refused", chain.refused);
    field("log_density", chain.log_density);
    field("step_size", chain.step_size);
  }
};

template <>
struct JsonFields<PhaseTime> {
  static void visit(auto& field, auto& phase) {
    field("name", phase.name);
    field("unit", phase.unit);
    field("seconds", phase.seconds);
    field("done", phase.done);
  }
};

template <>
struct JsonFields<LiveProgress> {
  static constexpr std::string_view kPhases = "phases", kChains = "chains";
  static void visit(auto& field, auto& progress) {
    field("phase", progress.now.phase);
    field("unit", progress.now.unit);
    field("done", progress.now.done);
    field("total", progress.now.total);
    field("seconds", progress.now.seconds);
    field("per_second", progress.now.per_second);
    field("seconds_left", progress.seconds_left);
    field("log_density", progress.now.log_density);
    field("step_size", progress.now.step_size);
    field("refused", progress.now.refused);
    field("finished", progress.now.finished);
    field("unix_time", progress.written);
    field(kPhases, progress.phases);
    field(kChains, progress.now.chains);
  }
};

void write_progress(const std::filesystem::path& run, const LiveProgress& progress) {
  write_file_atomically(RunPaths(run).progress(), json_fields::write(progress).dump(1) + "\n");
}

std::optional<LiveProgress> read_progress(const std::filesystem::path& run) {
  const auto json = run::read_json(RunPaths(run).progress());
  using Fields = JsonFields<LiveProgress>;
  if (!json.is_object() || !json.contains(Fields::kPhases) || !json.contains(Fields::kChains))
    return std::nullopt;
  LiveProgress progress;
  json_fields::read(json, progress);
  return progress;
}

}  // namespace smile
