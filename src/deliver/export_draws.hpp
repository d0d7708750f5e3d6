// SPDX-License-Identifier: Apache-2.0
/// Draws read in blocks, for all formats of an export.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "experiment/stored_run.hpp"
#include "smile/deliver/export.hpp"

namespace smile::experiment {

/// What is exported: a rectangle [chains, draws] of vectors.
class ExportDraws {
 public:
  /// @param run  outlives this object
  ExportDraws(const StoredRun& run, const ExportOptions& options);

  const StoredRun& run() const { return run_; }
  std::size_t chains() const { return chains_.size(); }
  std::size_t draws() const { return draws_; }
  std::size_t dimension() const { return layout_.size(); }
  const ParameterLayout& layout() const { return layout_; }
  /// Number of a chain in the run, and of a draw among all that it stored.
  std::uint32_t number(std::size_t chain) const { return chains_[chain].chain; }
  std::size_t place(std::size_t draw) const { return first_ + draw * every_; }
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// What the chains share with no draw (`params_frozen`): each has its member's values. Empty where all is
  /// sampled, and with --per-draw, whose draws are whole networks.
  const ParameterLayout& frozen() const { return frozen_; }
  /// @shape [frozen().size()]
  std::vector<float> frozen_values(std::size_t chain) const;

  /// Takes `count` consecutive draws of a chain from `first` on. @param draws @shape [count, dimension]
  using Sink = std::function<void(std::size_t chain, std::size_t first, std::size_t count,
                                  std::span<const float> draws)>;
  /// Hands over all draws, chain after chain, in blocks of a few MiB.
  void for_each_block(const ExportOptions& options, const Sink& sink) const;

 private:
  ParameterLayout layout_, frozen_;
  const StoredRun& run_;
  std::vector<HostVector<float>> members_;   ///< of the run's chains, by number, where parameters are frozen
  std::vector<std::size_t> frozen_offsets_;  ///< of the groups of frozen_ in a member
  bool whole_ = false;                       ///< draws are completed
  std::span<const ChainDraws> chains_;
  std::size_t first_ = 0, every_ = 1, draws_ = 0;
  std::vector<std::string> remarks_;
};

/// The names of a torch.nn.Sequential for the layers of the native network, which counts activations too:
/// "layer1.bias" is "2.bias". Other names stay.
std::string torch_name(const std::string& name);

/// The writers of smile::core, one a row of the table in export_formats.cpp.
using ExportWriter = void(const ExportDraws& draws, const ExportOptions& options,
                          const std::filesystem::path& path, std::vector<std::string>& remarks);
ExportWriter export_npz, export_safetensors, export_torch, export_csv;

/// Between pieces of work. @throws Error of kind `run` where `options.stop` is set
void throw_if_stopped(const ExportOptions& options);

}  // namespace smile::experiment
