// SPDX-License-Identifier: Apache-2.0
#include "deliver/export_draws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "experiment/phase_progress.hpp"
#include "smile/error.hpp"

namespace smile::experiment {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{4} << 20;

}  // namespace

ExportDraws::ExportDraws(const StoredRun& run, const ExportOptions& options)
    : layout_(run.experiment.layout), run_(run), chains_(run.chains), remarks_(run.remarks) {
  if (run.whole) {
    members_ = read_members(run.path, run.experiment.chains(), run.whole->size());
    whole_ = options.per_draw;
    if (whole_) {
      layout_ = *run.whole;
    } else {
      for (const ParameterGroup& group : run.whole->groups) {
        if (!is_frozen(group.name, run.experiment.config.training.sampler.params_frozen)) continue;
        frozen_.add(group.name, group.shape, group.kind);
        frozen_offsets_.push_back(group.offset);
      }
    }
  }
  first_ = chains_.front().first;
  every_ = std::size_t(std::max<std::uint64_t>(1, options.every));
  const auto [least, most] = std::minmax_element(
      chains_.begin(), chains_.end(), [](const auto& a, const auto& b) { return a.count < b.count; });
  if (least->count < most->count)
    remarks_.push_back(fmt::format("the chains have {} to {} draws; all are cut to the shortest",
                                   least->count, most->count));
  draws_ = (least->count + every_ - 1) / every_;
}

std::vector<float> ExportDraws::frozen_values(std::size_t chain) const {
  std::vector<float> values(frozen_.size());
  const HostVector<float>& member = members_[number(chain)];
  for (std::size_t g = 0; g < frozen_offsets_.size(); ++g)
    std::copy_n(member.data() + frozen_offsets_[g], frozen_.groups[g].size(),
                values.data() + frozen_.groups[g].offset);
  return values;
}

void throw_if_stopped(const ExportOptions& options) {
  if (options.stop && options.stop->load())
    throw Error("export", "stopped before the last draw", "start it again", ErrorKind::run);
}

void ExportDraws::for_each_block(const ExportOptions& options, const Sink& sink) const {
  const std::size_t d = dimension();
  const std::size_t block = std::clamp<std::size_t>(kBlockBytes / (d * sizeof(float)), 1, draws_);
  std::vector<float> values(block * d);
  PhaseProgress progress(options.on_progress, "export", "draws");
  const std::size_t total = chains() * draws();
  std::size_t done = 0;
  for (std::size_t k = 0; k < chains(); ++k)
    for (std::size_t first = 0; first < draws_; first += block) {
      throw_if_stopped(options);
      const std::size_t count = std::min(block, draws_ - first);
      for (std::size_t i = 0; i < count; ++i) {
        const auto out = std::span(values).subspan(i * d, d);
        if (!whole_) {
          chains_[k].stored.read(place(first + i), out);
          continue;
        }
        HostVector<float> moving(chains_[k].stored.columns()), network = members_[number(k)];
        chains_[k].stored.read(place(first + i), moving.span());
        run_.experiment.frozen->put(moving.span(), network);
        std::copy(network.span().begin(), network.span().end(), out.begin());
      }
      sink(k, first, count, std::span<const float>(values).first(count * d));
      done += count;
      progress.tell(done, total, done == total);
    }
}

std::string torch_name(const std::string& name) {
  constexpr std::string_view kLayer = "layer";
  const std::size_t dot = name.find('.');
  if (!name.starts_with(kLayer) || dot == std::string::npos) return name;
  std::size_t layer = 0;
  const char* end = name.data() + dot;
  const auto result = std::from_chars(name.data() + kLayer.size(), end, layer);
  if (result.ec != std::errc() || result.ptr != end) return name;
  return std::to_string(2 * layer) + name.substr(dot);
}

}  // namespace smile::experiment
