// SPDX-License-Identifier: Apache-2.0
/// The stored draws of a run, read one at a time from their files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "experiment/experiment.hpp"
#include "smile/ensemble/ensemble_runner.hpp"
#include "smile/files/draws.hpp"

namespace smile::experiment {

/// One chain's draws after `burn_in`, or every n-th of them.
struct ChainDraws {
  std::uint32_t chain = 0;  ///< number of the chain
  DrawsReader stored;
  std::size_t first = 0, count = 0, every = 1;

  /// Draw i of `count`. @param out @shape [d], overwritten
  void read(std::size_t i, std::span<float> out) const { stored.read(first + i * every, out); }
  /// Some parameters of draw i.
  void read(std::size_t i, std::span<const std::size_t> parameters, std::span<float> out) const {
    stored.read(first + i * every, parameters, out);
  }
  /// Keeps the first draw and every n-th behind it. @pre n ≥ 1
  void thin(std::size_t n) {
    every *= n;
    count = (count + n - 1) / n;
  }
};

/// The chains that can be used: those with draws after `burn_in` that did not fail. `records` has what is
/// known of all chains. @throws Error (run) where no chain has draws
std::vector<ChainDraws> open_draws(const Experiment& experiment, const std::filesystem::path& run,
                                   std::span<const ChainRecord> records);

/// What is known of each chain: from its checkpoint, or only its number. A chain whose checkpoint cannot be
/// read, or whose draws are not those it stored (draw_check.hpp), counts as failed: nothing says which of its
/// draws are good.
std::vector<ChainRecord> read_records(const Experiment& experiment, const std::filesystem::path& run);

/// Takes the network outputs of draw number `draw` of chain number `chain` (position in the list, not its
/// number).
/// @param position @shape [d]   @param outputs @shape [rows, outputs]; both valid during the call
using OutputSink = std::function<void(std::size_t chain, std::size_t draw, std::span<const float> position,
                                      std::span<const float> outputs)>;

/// Some draws of a chain that follow each other, as an OutputSink takes them one by one.
struct OutputBlock {
  std::size_t chain = 0, first = 0, count = 0;
  std::span<const HostVector<float>> positions;  ///< @shape [count] of [d]
  std::span<const float> outputs;                ///< @shape [count, rows, outputs]
};
using OutputBlockSink = std::function<void(const OutputBlock&)>;

/// Turns a draw of a chain (by number) into the network's whole vector, in place.
using CompleteDraw = std::function<void(std::uint32_t chain, HostVector<float>& draw)>;
/// That of a run with its members; empty where nothing is frozen.
/// @param network  the experiment's, or one of its kind over other rows
CompleteDraw complete_draws(const Experiment& experiment, const Network& network,
                            const std::filesystem::path& run);

/// Outputs of every draw for all points of a part, predicted on several threads and handed over in order,
/// chain by chain. Memory does not grow with the number of draws.
/// @param keep_going  asked between blocks of draws, with the number of draws done; false ends it
/// @return whether all were handed over
/// @param complete  makes the whole vector of a draw where some parameters are frozen; empty: it is whole
bool for_each_prediction(const Network& network, Part part, std::span<const ChainDraws> chains,
                         std::size_t threads, const OutputSink& sink,
                         const std::function<bool(std::size_t done)>& keep_going,
                         const CompleteDraw& complete = {});
/// The same with the draws of a block handed over together.
bool for_each_block(const Network& network, Part part, std::span<const ChainDraws> chains,
                    std::size_t threads, const OutputBlockSink& sink,
                    const std::function<bool(std::size_t done)>& keep_going,
                    const CompleteDraw& complete = {});
/// The experiment's network (its kind, not its data) with other rows of a table for the test part.
std::shared_ptr<const Network> network_over(const Experiment& experiment, const PredictionRows& rows);
/// The same with images for every part.
std::shared_ptr<const Network> network_over(const Experiment& experiment, const ImageRows& images);
/// The set of `evaluation_args.ood`: a table's rows, or images, whose labels are left aside (the network has
/// no class for what they show). @throws Error for texts, and for what predict would refuse
OutOfDistribution load_out_of_distribution(const Experiment& e);

}  // namespace smile::experiment
