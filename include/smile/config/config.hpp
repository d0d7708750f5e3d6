// SPDX-License-Identifier: Apache-2.0
/// The typed configuration of an experiment. Its YAML form, with type, range, default and meaning of every
/// key, is the table in src/config/schema.cpp, from which docs/configuration.md is generated.
///
/// A member that is a choice between named alternatives is an enumeration (or a truth value) whose spellings
/// stand beside it; samplers, models and priors are names of rows. After load_config every value
/// is of the right type and in range, aliases are resolved and defaults that depend on other keys are filled
/// in: the members can be used as they are.
/// @source spec 5.2; defaults: spec 1, 2 and the experiment T2 of spec 4
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "smile/config/models.hpp"
#include "smile/config/samplers.hpp"
#include "smile/data/dataset.hpp"
#include "smile/data/images.hpp"
#include "smile/data/kind.hpp"
#include "smile/evaluation/parts.hpp"
#include "smile/files/draws.hpp"
#include "smile/laplace/laplace.hpp"
#include "smile/named.hpp"
#include "smile/network/fcn.hpp"
#include "smile/samplers/adjusted.hpp"
#include "smile/samplers/ivon.hpp"
#include "smile/samplers/langevin.hpp"
#include "smile/samplers/mclmc.hpp"
#include "smile/samplers/microcanonical.hpp"
#include "smile/samplers/momentum_samplers.hpp"
#include "smile/samplers/scale_adapted_sghmc.hpp"
#include "smile/targets/batch_order.hpp"
#include "smile/targets/likelihood.hpp"
#include "smile/targets/posterior.hpp"
#include "smile/targets/priors.hpp"
#include "smile/warmstart/member.hpp"

namespace smile {

/// `data:`
struct DataConfig {
  std::string path;          ///< required; relative to the working directory
  bool torchvision = false;  ///< `source`: the path is one of torchvision's
  DataKind data_type = DataKind::tabular;
  TableOptions table;  ///< how a table is read
  /// Task (required), columns, split, scaling and the limit of rows, which go for images and texts too; the
  /// seed is `rng`.
  DatasetOptions dataset;
  std::int64_t target_len = 1;           ///< number of target columns; 1
  bool flatten = false;                  ///< images only
  bool augment = false;                  ///< images only: random views in the warm start
  std::optional<std::string> test_path;  ///< images only: the test images, where they are not under `path`
  ImageFormat image_format = ImageFormat::detect;  ///< images only
  std::optional<std::int64_t> image_size;          ///< images only: side in pixels
};

/// What computes a network's gradients.
enum class Engine { native, torch };
template <>
struct Named<Engine> {
  static constexpr Alternative<Engine> all[] = {{Engine::native, "native"},
                                                {.value = Engine::torch, .name = "torch", .torch = true}};
};
/// Precision of a network.
enum class Precision { single };
template <>
struct Named<Precision> {
  static constexpr Alternative<Precision> all[] = {{Precision::single, "float32"}};
};

/// `model:`
struct ModelConfig {
  std::string model = "FCN";  ///< of a row of model_rows()
  std::vector<std::int64_t>
      hidden_structure;  ///< widths; the last is the output width. Filled in: 16,16,16 + output
  Activation activation = Activation::relu;
  bool use_bias = true;
  Engine engine = Engine::native;
  std::int64_t out_dim = 10;
  std::vector<std::int64_t> layers{2, 2, 2, 2};
  std::int64_t patch_size = 8, dim = 64, depth = 3, num_heads = 4;
  std::int64_t transformer_fc_dim = 2048, classifier_fc_dim = 2048;
  std::int64_t vocab_size = 1000, context_len = 8, emb_size = 256, n_blocks = 6, n_heads = 8, qkv_dim = 512;
  bool bias = false;
  double dropout = 0.0;
  Precision dtype = Precision::single;
  bool gpt_authors_block = false;   ///< `gpt_block`
  std::optional<std::string> path;  ///< TorchScript file

  const ModelRow& row() const { return model_row(model); }
  /// Whether the native engine computes it.
  bool is_native() const { return row().native && engine == Engine::native; }
};

/// `training.warmstart:`
struct WarmstartConfig {
  bool include = true;  ///< false: chains start from draws of the prior
  /// How a member is trained, and where its log σ starts (`training.sampler.log_sigma_init`); the seed is
  /// `rng`.
  MemberOptions member;
  std::optional<std::string> warmstart_exp_dir;  ///< take the members of an earlier run
  /// TorchScript files whose parameters the chains start from, in turn.
  std::optional<std::vector<std::string>> warmstart_files;
  bool warmstart_subset = false;  ///< of warmstart_files: take what they share with the network
  bool permutation_warmstart = false;

  /// Whether the run trains its members itself.
  bool trains() const { return include && !warmstart_exp_dir && !warmstart_files; }
};

/// `training.sampler.prior_config:` (spec 2.2).
struct PriorConfig {
  PriorConfig();

  std::string name = "StandardNormal";  ///< of a row of prior_rows()
  /// Of all priors, by name. Null: not given; filled in where the chosen prior has it.
  std::map<std::string, std::optional<double>, std::less<>> parameters;
  std::optional<std::uint64_t> seed;  ///< of a prior's fixed offsets

  const PriorRow& row() const { return prior_row(name); }
  /// N(0, 1) for every parameter.
  bool is_standard() const { return row().is_standard; }
  /// Those of the chosen prior, as make_prior wants them. What is left over of others is not among them.
  PriorValues values() const;
};

/// `training.sampler.preconditioner_scale:` how ŝ is normalised (spec 1.7).
enum class PreconditionerScale { rms, inverse_rms };
template <>
struct Named<PreconditionerScale> {
  static constexpr Alternative<PreconditionerScale> all[] = {
      {PreconditionerScale::rms, "rms"}, {PreconditionerScale::inverse_rms, "inverse-rms"}};
};

/// `training.sampler.preconditioner_reference:` what the bounds of ŝ are measured against (spec 06, 6.2).
enum class PreconditionerReference {
  rms,   ///< the root mean square of s; a floor below
  half,  ///< (mean √s)², a tenth and ten times of it
};
template <>
struct Named<PreconditionerReference> {
  static constexpr Alternative<PreconditionerReference> all[] = {{PreconditionerReference::rms, "rms"},
                                                                 {PreconditionerReference::half, "half"}};
};

/// `training.sampler:` What a sampler computes with stands in the options of the samplers themselves, whose
/// defaults are those of the keys; a value that several samplers share stands in one of them, and
/// make_sampler hands it on.
struct SamplerConfig {
  SamplerConfig();
  std::string name = "psmile-auto";              ///< of a row of sampler_rows(), canonical
  bool epoch_wise_sampling = false;              ///< multiplies warm-up, samples and thinning by floor(N/B)
  std::optional<std::int64_t> batch_size = 256;  ///< null: all rows
  std::int64_t burn_in = 0;                      ///< stored samples dropped from the start of every chain
  std::int64_t warmup_steps = 10000;
  std::int64_t n_chains = 8;
  std::int64_t n_samples = 10000;  ///< steps, before thinning
  std::int64_t n_thinning = 10;
  bool use_warmup_as_init = true;
  bool keep_warmup = false;
  DrawsType draws_dtype = DrawsType::float32;  ///< of the stored draws
  std::vector<std::string> params_frozen;
  BatchMode batches = BatchMode::even;
  LikelihoodScale likelihood_scale = LikelihoodScale::exact;
  double max_nonfinite_fraction = 0.5;   ///< over 100 steps
  double desired_energy_var = 1.0;       ///< known for the authors' files; no sampler uses it
  std::int64_t n_integration_steps = 1;  ///< multiplies warm-up, samples and thinning; not of hmc, nuts, mams

  GradientStepOptions step;  ///< of every sampler: guard, step size, schedules, temperature
  /// smile…, psmile…. `tuner.reset_prob`, `tuner.adaption_prob` and `rule` are filled in by the sampler:
  /// -naive: 1 and 0, fixed; -auto: 0.999 unless given and 0, turn. The integrator is mclmc's, too; the share
  /// of noise in proportion to the turning angle follows from the batches an epoch when a chain is made.
  MicrocanonicalOptions microcanonical;
  PreconditionerOptions preconditioner;  ///< psmile…; its rate α is the turning-angle rule's, too
  PreconditionerScale preconditioner_scale = PreconditionerScale::rms;
  PreconditionerReference preconditioner_reference = PreconditionerReference::rms;
  std::optional<double> preconditioner_floor = 0.03;  ///< r; null (written `absolute`): clip to [1e-2, 1e4]
  MclmcOptions mclmc;
  LangevinOptions langevin;           ///< sgld, psgld, csgld
  SghmcOptions sghmc;                 ///< its friction is that of adasghmc and rmsprop-sghmc, too
  ScaleAdaptedOptions scale_adapted;  ///< adasghmc, rmsprop-sghmc
  SgnhtOptions sgnht;
  AdjustedOptions adjusted;  ///< hmc, nuts, mams
  IvonSamplerOptions ivon;
  LaplaceOptions laplace;  ///< but its temperature

  PriorConfig prior_config;

  /// What the program knows of the sampler. @throws Error for a name without a row
  const SamplerRow& row() const { return sampler_row(name); }
  bool is_stochastic() const { return row().stochastic; }
  /// smile… and psmile…
  bool is_stochastic_microcanonical() const { return row().is_microcanonical(); }
  /// What `step_size` is: the row's unit, or its root where sghmc_step is a length.
  StepUnit step_unit() const {
    const bool root = row().has_key("sghmc_step") && sghmc.step == SghmcStep::length;
    return root ? StepUnit::root_rate_over_rows : row().unit;
  }
  /// The step size follows the turning angle (spec 1.13), or the energy error (1.8).
  bool turns() const { return follows(StepSizeRule::turn); }
  bool follows_energy() const { return follows(StepSizeRule::energy); }
  /// Steps are refused by their energy error.
  bool has_guardrail() const { return row().is_microcanonical() && microcanonical.tuner.reset_prob < 1; }

 private:
  bool follows(StepSizeRule rule) const { return row().is_microcanonical() && microcanonical.rule == rule; }
};

enum class Tokenizer { single_char };
template <>
struct Named<Tokenizer> {
  static constexpr Alternative<Tokenizer> all[] = {{Tokenizer::single_char, "SingleChar"}};
};

/// `training.tokenizer:` (text only)
struct TokenizerConfig {
  Tokenizer tokenizer = Tokenizer::single_char;
  std::optional<std::int64_t> max_vocab_size, pad_len;
};

/// `training:`
struct TrainingConfig {
  WarmstartConfig warmstart;
  SamplerConfig sampler;
  TokenizerConfig tokenizer;
};

/// `evaluation_args:`
struct EvaluationArgs {
  std::vector<Phase> phases{Phase::ensemble, Phase::sampling};
  std::int64_t pred_sampling_factor = 1;  ///< of the authors' files; has no effect
  std::int64_t samples_batch_size = 100;  ///< stored samples evaluated together
  std::int64_t data_batch_size = 256;     ///< test rows evaluated together
  double kappa = 0.0;                     ///< known for the authors' files
  std::vector<double> nominal_coverages{0.5, 0.8, 0.9, 0.95};
  bool whole_batches = false;  ///< `evaluate_rows`: leave out the test rows that fill no batch
  std::int64_t ece_bins = 15;
  std::int64_t n_splits = 4;               ///< parts of a chain in the chain-wise R̂
  std::int64_t diagnose_parameters = 100;  ///< parameters (drawn at random) with R̂ and ESS
  std::int64_t n_orderings = 10;           ///< LppdCum: random orders of the chains
  std::optional<std::int64_t> datapoint_limit;
  std::optional<std::string> ood;  ///< file of an out-of-distribution set

  bool has(Phase phase) const { return std::find(phases.begin(), phases.end(), phase) != phases.end(); }
};

/// `compat:` whose behaviour is wanted where this version's differs.
enum class Compat {
  none,
  authors,      ///< the authors' code (spec 1.12)
  version_0_1,  ///< the defaults of version 0.1
};
template <>
struct Named<Compat> {
  static constexpr Alternative<Compat> all[] = {
      {Compat::none, "none"}, {Compat::authors, "authors"}, {Compat::version_0_1, "0.1"}};
};
enum class Device { cpu, cuda, automatic };
template <>
struct Named<Device> {
  static constexpr Alternative<Device> all[] = {{Device::cpu, "cpu"},
                                                {.value = Device::cuda, .name = "cuda", .torch = true},
                                                {Device::automatic, "auto", "cuda where there is one"}};
};
enum class LogLevel { debug, info, warning, error, critical };
template <>
struct Named<LogLevel> {
  static constexpr Alternative<LogLevel> all[] = {{LogLevel::debug, "DEBUG"},
                                                  {LogLevel::info, "INFO"},
                                                  {LogLevel::warning, "WARNING"},
                                                  {LogLevel::error, "ERROR"},
                                                  {LogLevel::critical, "CRITICAL"}};
};

/// The whole file.
struct Config {
  std::string saving_dir = "results";
  std::string experiment_name = "experiment";  ///< filled in: the configuration file's name without ending
  Compat compat = Compat::none;
  DataConfig data;
  ModelConfig model;
  TrainingConfig training;
  std::uint64_t rng = 42;  ///< seed, ≥ 0
  bool logging = true;
  LogLevel logging_level = LogLevel::info;
  std::vector<EvaluationPart> evaluations{EvaluationPart::performance,    EvaluationPart::lppd,
                                          EvaluationPart::calibration,    EvaluationPart::chainwise_rhat,
                                          EvaluationPart::effective_size, EvaluationPart::chain_variance};
  EvaluationArgs evaluation_args;
  Device device = Device::cpu;

  Task task() const { return data.dataset.task; }
  /// Whether `evaluations` names one of these.
  bool evaluates(std::initializer_list<EvaluationPart> parts) const {
    return std::find_first_of(evaluations.begin(), evaluations.end(), parts.begin(), parts.end()) !=
           evaluations.end();
  }

  /// Not part of the file and not compared: keys that have no effect and other remarks, one line each.
  std::vector<std::string> warnings;
  /// Not part of the file and not compared: dotted keys that the file, an option or a search point has set,
  /// and where: "config.yaml:12", "--set rng=3".
  std::map<std::string, std::string> given;
  /// Where to point in an Error about a key: "config.yaml:12: training.sampler.batch_size".
  std::string place(const std::string& key) const;
  /// Name of the file, for places of keys that were not given.
  std::string file;
};

/// Equal in every key.
bool operator==(const Config& a, const Config& b);

/// One key set from outside the file.
struct Setting {
  std::string key;    ///< dotted, e.g. "training.sampler.step_size"
  std::string value;  ///< YAML text, e.g. "0.01", "[16, 16, 1]"
  std::string where;  ///< for messages, e.g. "--set training.sampler.step_size", "sweep.yaml:4"
};

/// Parses "a.b.c=value" of `--set`. Throws Error where there is no '=' or no key.
Setting parse_setting(const std::string& text);

/// Reads and checks a configuration file, then applies `settings` in order (the last one wins).
/// Throws Error with file:line, key, value and what is allowed.
Config load_config(const std::string& file, const std::vector<Setting>& settings = {});
/// The same from text; `name` stands for the file in messages.
Config parse_config(const std::string& text, const std::string& name,
                    const std::vector<Setting>& settings = {});

/// The completed configuration as YAML: every key that has an effect or was given. Reading it again gives an
/// equal Config.
std::string to_yaml(const Config& config);
/// The same without the keys that name files and folders: what makes two machines' parts parts of one run.
std::string to_yaml_without_places(const Config& config);

/// What can be checked only with the data at hand. A batch_size larger than the training part is an Error
/// where it was given and becomes null (all rows) where it is the default; the turning-angle rule needs two
/// batches an epoch; a classification network needs an output for each class, and gets its hidden_structure
/// here where none was given.
/// @param classes  number of classes; ignored for regression
void fit_to_data(Config& config, std::size_t training_rows, std::size_t classes = 0);

}  // namespace smile
