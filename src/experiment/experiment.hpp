// SPDX-License-Identifier: Apache-2.0
/// A configuration made real: data, network, prior, lengths; shared by the phases of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smile/config/config.hpp"
#include "smile/config/sampler_factory.hpp"
#include "smile/data/dataset.hpp"
#include "smile/experiment/estimate.hpp"
#include "smile/experiment/network_engine.hpp"
#include "smile/experiment/pipeline.hpp"
#include "smile/network/fcn.hpp"
#include "smile/network/network.hpp"
#include "smile/run/run_directory.hpp"
#include "smile/targets/frozen.hpp"
#include "smile/targets/priors.hpp"
#include "smile/targets/task_likelihood.hpp"
#include "smile/warmstart/member.hpp"

namespace smile::experiment {

/// A set that is not of the training data's kind.
struct OutOfDistribution {
  std::shared_ptr<const Network> network;  ///< over its rows, as test rows
  std::vector<double> targets;             ///< of all rows; empty where one has none, and of images
};

struct Experiment {
  Config config;
  DatasetInfo info;
  DataPart valid, test;  ///< what evaluation compares with: targets and labels, without the features
  std::shared_ptr<const Network> network;
  ParameterLayout layout;  ///< what is sampled
  /// Where some parameters stay at their member's values (`params_frozen`); else null. Members are whole.
  std::shared_ptr<const FrozenParameters> frozen;
  FcnSpec spec;                                          ///< native engine only
  MemberData training;                                   ///< native engine only: training and validation rows
  std::optional<OutOfDistribution> out_of_distribution;  ///< of `evaluation_args.ood`
  std::shared_ptr<const Prior> prior;  ///< null until complete_prior(), where it follows from the members
  RunLengths lengths;
  std::vector<std::string> warnings;

  std::uint64_t seed() const { return config.rng; }
  std::size_t dimension() const { return layout.size(); }
  std::size_t member_dimension() const { return network->layout().size(); }
  std::size_t chains() const { return std::size_t(config.training.sampler.n_chains); }
  std::size_t observations() const { return network->rows(Part::train); }
  std::size_t outputs() const { return network->outputs(); }
  bool is_native() const { return !spec.widths.empty(); }
  /// The engine that computes the network; null for the native one and for a model of its own.
  const NetworkEngine* engine() const;
  bool is_regression() const { return smile::is_regression(config.task()); }
};

/// The network that `model` names, over the data, where the native engine does not compute it.
/// @throws Error for what cannot work, or is not in this build
std::shared_ptr<const Network> make_network(const Config& config, const NetworkData& data);

/// Reads the data and checks that the configuration can run on it. Writes nothing.
/// @param given  rows in memory, in the place of the file `data.path`; null: there are none
/// @throws Error (usage) for everything that cannot work
Experiment prepare(const Config& config, const std::shared_ptr<const Table>& given = nullptr);

/// What a checkpoint knows its run by: the configuration without places, and the data's checksum.
std::string digest_of(const Experiment& experiment);

/// What the run will need, with chains on `threads` threads (0: one a core).
enum class Rate { assumed, measured };  ///< of gradients
RunEstimate estimate_of(const Experiment& experiment, int threads, Rate rate = Rate::assumed);

/// Test rows that are evaluated: all, or whole batches, or the first `datapoint_limit` (evaluation_args).
std::size_t evaluated_rows(const EvaluationArgs& args, std::size_t rows);

/// Likelihood of the training rows as a function of what is sampled. @param member  the chain's, whole
std::unique_ptr<Likelihood<float>> make_likelihood(const Experiment& experiment,
                                                   const HostVector<float>& member);
/// Target of one chain over the shared data.
std::unique_ptr<Target<HostVector<float>>> make_target(const Experiment& experiment, std::uint32_t chain,
                                                       const HostVector<float>& member);

/// Number of threads for `jobs` jobs: one where the network's engine can do no more.
std::size_t thread_count(const Experiment& experiment, const RunOptions& options, std::size_t jobs);

/// Says a remark to the caller and to the log.
void remark(const RunOptions& options, const RunDirectory& directory, const std::string& text);

/// The positions the chains start from, made or (where a resumed run has them already) read.
struct WarmStart {
  std::vector<HostVector<float>> members;
  bool interrupted = false;
};
/// One member at a time. A member is a function of the experiment and its number, whoever makes it.
class MemberMaker {
 public:
  /// Makes the folder. Both outlive this. @throws Error where it cannot be made
  MemberMaker(const Experiment& experiment, const RunDirectory& directory);
  /// Members that are no copies of the first: all, or one.
  std::size_t own() const { return own_; }
  /// Member i < own(): as the run has it, or made and kept there. May be called from several threads for
  /// different members.
  /// @param keep_training  asked after each epoch; false ends it without a member
  std::optional<HostVector<float>> own_member(std::size_t i, const std::function<bool()>& keep_training,
                                              std::vector<std::string>& messages) const;
  /// Member i ≥ own(), a copy of the first with permuted units.
  HostVector<float> copy(std::size_t i, const HostVector<float>& first) const;

 private:
  const Experiment& e_;
  std::filesystem::path run_;
  std::size_t own_;
};
/// What is written when all members are there: epochs of all, and checksums.
void finish_warm_start(const Experiment& experiment, const RunDirectory& directory,
                       const std::vector<HostVector<float>>& members);
/// Where the prior follows from the members: makes it, and writes its layers' standard deviations to the run.
void complete_prior(Experiment& experiment, const std::filesystem::path& run,
                    const std::vector<HostVector<float>>& members);
/// And completes the prior.
WarmStart warm_start(Experiment& experiment, const RunDirectory& directory, const RunOptions& options);
/// A member of a run. @throws Error where it cannot be read, or is not what the run wrote
HostVector<float> read_member(const std::filesystem::path& run, std::size_t number, std::size_t dimension);
/// The members of a run as its warmstart/ has them. @throws Error where one is missing or of another size
std::vector<HostVector<float>> read_members(const std::filesystem::path& run, std::size_t count,
                                            std::size_t dimension);

/// A chain's beginning. @param member  whole
ChainSetup chain_setup(const Experiment& experiment, std::uint32_t chain, const HostVector<float>& member);
/// How the chains of a run are run, but for which of them.
EnsembleOptions ensemble_options(const Experiment& experiment, const RunDirectory& directory,
                                 const RunOptions& options);

/// Moves the chains. @return whether all ended (complete or failed)
bool sample(const Experiment& experiment, const RunDirectory& directory, const RunOptions& options,
            const WarmStart& start);

/// Evaluates members and draws, writes eval/, and fills in metrics, draws and warnings of the summary.
/// @return false where it was stopped before the end
bool evaluate(const Experiment& experiment, const RunDirectory& directory, const RunOptions& options,
              RunSummary& summary);

}  // namespace smile::experiment
