// SPDX-License-Identifier: Apache-2.0
#include "config/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>
#include <utility>

#include "smile/targets/task_likelihood.hpp"

namespace smile::schema {
namespace {

// The type of a slot is that of the member, so a key can never disagree with the member it fills.
#define SMILE_AT(member) (+[](Config& c) { return &c.member; })

const SamplerConfig& sampler(const Config& c) {
  return c.training.sampler;
}
const WarmstartConfig& warmstart(const Config& c) {
  return c.training.warmstart;
}
const MemberOptions& member(const Config& c) {
  return c.training.warmstart.member;
}

/// The key of `training.sampler` goes with the samplers that name it.
Condition of_sampler_key(std::string_view key) {
  return {sampler_names([&](const SamplerRow& row) { return row.has_key(key); }),
          [key](const Config& c) { return sampler(c).row().has_key(key); }};
}
bool trains(const Config& c) {
  return warmstart(c).trains();
}
bool schedules(const SamplerConfig& sampler, const Schedule& schedule) {
  return sampler.is_stochastic() && schedule.kind != ScheduleKind::constant;
}
bool cycles(const SamplerConfig& sampler, const Schedule& schedule) {
  return sampler.is_stochastic() && schedule.kind == ScheduleKind::cosine;
}
bool adapts(const Config& c) {
  return sampler(c).follows_energy() && sampler(c).microcanonical.tuner.adaption_prob > 0;
}
/// The Gamma fit of |ΔE| decides something.
bool fits_gamma(const Config& c) {
  return sampler(c).has_guardrail() || adapts(c);
}

Condition of_data(DataKind kind) {
  return {"data_type " + std::string(name_of(kind)),
          [kind](const Config& c) { return c.data.data_type == kind; }};
}
/// The key of `model` goes with the models that name it.
Condition of_model_key(std::string_view key) {
  return {model_names([&](const ModelRow& row) { return row.has_key(key); }),
          [key](const Config& c) { return c.model.row().has_key(key); }};
}
const auto kTabular = of_data(DataKind::tabular), kImages = of_data(DataKind::image),
           kText = of_data(DataKind::text);
const auto kSubwords = Condition{"a tokenizer of parts of words", [](const Config& c) {
                                   return c.training.tokenizer.tokenizer != Tokenizer::single_char;
                                 }};
const auto kNormalized =
    Condition{"normalize: true", [](const Config& c) { return c.data.dataset.normalize; }};

const auto kNetworkFile =
    Condition{"warmstart.include, all models but FCN with engine native",
              [](const Config& c) { return warmstart(c).include && !c.model.is_native(); }};
const auto kWarmstart = Condition{"warmstart.include", [](const Config& c) { return warmstart(c).include; }};
const auto kTrains = Condition{"warmstart.include without warmstart_exp_dir or warmstart_files", trains};
/// Of members that are trained with one of these optimisers.
Condition trained_by(const char* text, std::initializer_list<OptimizerKind> kinds) {
  return {text, [kinds = std::vector(kinds)](const Config& c) {
            return trains(c) &&
                   std::find(kinds.begin(), kinds.end(), member(c).optimizer.kind) != kinds.end();
          }};
}
Condition trained_along(const char* text, std::initializer_list<LearningRateKind> kinds) {
  return {text, [kinds = std::vector(kinds)](const Config& c) {
            return trains(c) &&
                   std::find(kinds.begin(), kinds.end(), member(c).learning_rate.kind) != kinds.end();
          }};
}
const auto kDecay = trained_by("adamw, ivon", {OptimizerKind::adamw, OptimizerKind::ivon});
const auto kSgd = trained_by("sgd", {OptimizerKind::sgd});
const auto kAdam = trained_by("adam, adamw", {OptimizerKind::adam, OptimizerKind::adamw});
const auto kIvon = trained_by("ivon", {OptimizerKind::ivon});
const auto kConstantRate = trained_along("lr_schedule constant", {LearningRateKind::constant});
const auto kScheduled = trained_along("lr_schedule linear, cosine_decay",
                                      {LearningRateKind::linear, LearningRateKind::cosine_decay});
const auto kLinearRate = trained_along("lr_schedule linear", {LearningRateKind::linear});
const auto kCosineRate = trained_along("lr_schedule cosine_decay", {LearningRateKind::cosine_decay});

const auto kStochastic = Condition{"all but mclmc, hmc, nuts, mams, laplace",
                                   [](const Config& c) { return sampler(c).is_stochastic(); }};
const auto kAdjusted =
    Condition{"hmc, nuts, mams", [](const Config& c) { return sampler(c).row().adjusted(); }};
const auto kWarmsUp = Condition{
    "all but laplace", [](const Config& c) { return sampler(c).row().dynamics != Dynamics::laplace; }};
const auto kGuardedGradients =
    Condition{"all but hmc, nuts, mams, laplace", [](const Config& c) {
                return !sampler(c).row().adjusted() && sampler(c).row().dynamics != Dynamics::laplace;
              }};
const auto kMicrocanonical =
    Condition{"smile…, psmile…", [](const Config& c) { return sampler(c).is_stochastic_microcanonical(); }};
const auto kIsokinetic =
    Condition{"smile…, psmile…, mclmc", [](const Config& c) { return sampler(c).row().isokinetic(); }};
const auto kStepSize = Condition{
    "all but mclmc, laplace", [](const Config& c) {
      return sampler(c).row().adjusted() ||
             (sampler(c).is_stochastic() && !(schedules(sampler(c), sampler(c).step.warmup_schedule) &&
                                              schedules(sampler(c), sampler(c).step.sampling_schedule)));
    }};
const auto kTurn = Condition{"step_size_rule turn; decoherence_length auto", [](const Config& c) {
                               return sampler(c).turns() || (sampler(c).is_stochastic_microcanonical() &&
                                                             !sampler(c).microcanonical.decoherence_length);
                             }};
const auto kGuarded =
    Condition{"smile, psmile, smile-auto, psmile-auto", [](const Config& c) {
                return sampler(c).is_stochastic_microcanonical() &&
                       (sampler(c).row().guardrail || sampler(c).microcanonical.tuner.reset_prob == 1);
              }};
const auto kEnergyRule = Condition{"smile, psmile with step_size_rule energy", [](const Config& c) {
                                     // A naive sampler is one whose adaptation is 0: saying so is no mistake.
                                     return sampler(c).is_stochastic_microcanonical();
                                   }};
const auto kAdapts = Condition{"step_size_rule energy with adaption_prob > 0", adapts};
const auto kGamma = Condition{"smile…, psmile… with the guardrail or the energy rule", fits_gamma};
const auto kPreconditioned = Condition{"psmile-naive, psmile, psmile-auto",
                                       [](const Config& c) { return sampler(c).row().preconditioned; }};
const auto kReference = Condition{"psmile… with preconditioner_scale rms", [](const Config& c) {
                                    return sampler(c).row().preconditioned &&
                                           sampler(c).preconditioner_scale == PreconditionerScale::rms;
                                  }};
const auto kFloor = Condition{"psmile… with preconditioner_scale and _reference rms", [](const Config& c) {
                                return kReference.holds(c) &&
                                       sampler(c).preconditioner_reference == PreconditionerReference::rms;
                              }};
const auto kRates = Condition{"psmile…; step_size_rule turn", [](const Config& c) {
                                return sampler(c).row().preconditioned || sampler(c).turns();
                              }};
const auto kMeanRegression =
    Condition{"task mean_regr", [](const Config& c) { return c.task() == Task::mean_regression; }};
const auto kMclmc =
    Condition{"mclmc", [](const Config& c) { return sampler(c).row().dynamics == Dynamics::mclmc; }};
const auto kNoSampler = Condition{"no sampler of this build", [](const Config&) { return false; }};
const auto kNothing = Condition{"nothing in this build", [](const Config&) { return false; }};
const auto kWarmMoves = Condition{"schedule linear, cosine", [](const Config& c) {
                                    return schedules(sampler(c), sampler(c).step.warmup_schedule);
                                  }};
const auto kWarmCycles = Condition{
    "schedule cosine", [](const Config& c) { return cycles(sampler(c), sampler(c).step.warmup_schedule); }};
const auto kSampMoves = Condition{"schedule linear, cosine", [](const Config& c) {
                                    return schedules(sampler(c), sampler(c).step.sampling_schedule);
                                  }};
const auto kSampCycles = Condition{
    "schedule cosine", [](const Config& c) { return cycles(sampler(c), sampler(c).step.sampling_schedule); }};

/// The priors that `holds` is true for.
template <class Predicate>
Condition of_priors(const Predicate& holds) {
  std::string names;
  for (const PriorRow& row : prior_rows())
    if (holds(row)) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return {names, [holds](const Config& c) { return holds(sampler(c).prior_config.row()); }};
}

const auto kRegression =
    Condition{"regr, mean_regr", [](const Config& c) { return is_regression(c.task()); }};
const auto kClassification =
    Condition{"class, class_multilabel", [](const Config& c) { return !is_regression(c.task()); }};
const auto kChainwise =
    Condition{"Crhat", [](const Config& c) { return c.evaluates({EvaluationPart::chainwise_rhat}); }};
const auto kDiagnoses =
    Condition{"Crhat, Ess, ChainVar", [](const Config& c) {
                return c.evaluates({EvaluationPart::chainwise_rhat, EvaluationPart::effective_size,
                                    EvaluationPart::chain_variance});
              }};
const auto kOrderings =
    Condition{"LppdCum", [](const Config& c) { return c.evaluates({EvaluationPart::lppd_of_chains}); }};
const auto kWholeBatches =
    Condition{"evaluate_rows whole-batches", [](const Config& c) { return c.evaluation_args.whole_batches; }};

// Counts have an upper bound so that products of them cannot overflow.
constexpr Range at_least(double low) {
  return {.low = low, .high = 1e12};
}
constexpr Range count_up_to(double high) {
  return {.low = 1, .high = high};
}
constexpr Range kPositive{.low = 0, .without_low = true};
constexpr Range kPositiveOrInfinite{.low = 0, .without_low = true, .infinity_allowed = true};
constexpr Range kNotNegative{.low = 0};
constexpr Range kProbability{.low = 0, .high = 1};
constexpr Range kFraction{.low = 0, .high = 1, .without_high = true};  // [0, 1)
constexpr Range kShare{.low = 0, .high = 1, .without_low = true};      // (0, 1]
constexpr Range kOpenShare{.low = 0, .high = 1, .without_low = true, .without_high = true};
constexpr double kWidest = 1e6;
constexpr double kWidestInside = 1 << 15;  ///< of layers that are as wide as they are long
constexpr double kDeepest = 256, kLargestImage = 4096;

const Condition always = Key{}.when;

std::vector<Key> top_keys() {
  return {
      {.path = "saving_dir",
       .member = SMILE_AT(saving_dir),
       .doc = "folder that holds the experiments",
       .place = NamesPlace::output},
      {.path = "experiment_name",
       .member = SMILE_AT(experiment_name),
       .doc = "folder of this experiment; default: the file's name",
       .place = NamesPlace::output},
      {"compat", SMILE_AT(compat),
       "authors: compute what the authors' code computes where it differs; 0.1: the defaults of that "
       "version; "
       "single keys win",
       always},
      {"device", SMILE_AT(device), "where to compute", always},
      {"rng", SMILE_AT(rng), "seed of all random numbers", always, {.low = 0, .high = 9e18}},
      {"logging", SMILE_AT(logging), "write progress"},
      {"logging_level", SMILE_AT(logging_level), "how much", kNothing},
      {"evaluations", SMILE_AT(evaluations),
       "what is computed at the end; PredPerf, Lppd and Calibration always are", always},
  };
}

std::vector<Key> data_keys() {
  return {
      {.path = "data.path",
       .member = SMILE_AT(data.path),
       .doc = "the data file",
       .required = true,
       .place = NamesPlace::input},
      {"data.source",
       Member{SMILE_AT(data.torchvision), {false, "local"}, {true, "torchvision"}}.and_unavailable(
           {"url", "huggingface"}),
       "where the data come from", always},
      {"data.data_type", SMILE_AT(data.data_type), "kind of data", always},
      {.path = "data.task",
       .member = SMILE_AT(data.dataset.task),
       .doc = "regr: mean and sd per row; mean_regr: mean per row, one σ; class: labels",
       .required = true},
      {"data.target_column", SMILE_AT(data.dataset.target_column),
       "name or index (from 0); null: the last column", kTabular},
      {"data.target_len",
       SMILE_AT(data.target_len),
       "number of target columns",
       kTabular,
       {.low = 1, .high = 1}},
      {"data.features", SMILE_AT(data.dataset.features), "names or indices; null: all columns but the target",
       kTabular},
      {"data.datapoint_limit", SMILE_AT(data.dataset.max_rows),
       "use only so many rows, taken after shuffling; null: all", always, at_least(1)},
      {"data.normalize", SMILE_AT(data.dataset.normalize), "standardise features and regression targets"},
      {.path = "data.normalize_with",
       .member = SMILE_AT(data.dataset.normalize_with),
       .doc = "rows whose mean and sd are used",
       .when = kNormalized,
       .authors = "all"},
      {"data.train_split", SMILE_AT(data.dataset.split.train), "fraction of the rows for training", always,
       kOpenShare},
      {"data.valid_split", SMILE_AT(data.dataset.split.valid), "fraction for validation", always, kOpenShare},
      {"data.test_split",
       SMILE_AT(data.dataset.split.test),
       "fraction for testing; the three sum to 1. 0: the validation rows of a table are tested on, too",
       always,
       {.low = 0, .high = 1, .without_high = true}},
      {.path = "data.split_files.test",
       .member = SMILE_AT(data.dataset.split_files.test),
       .doc = "file of the numbers of the test rows, from 0, in place of the fractions",
       .when = kTabular,
       .place = NamesPlace::input},
      {.path = "data.split_files.train",
       .member = SMILE_AT(data.dataset.split_files.train),
       .doc = "the same of the training rows; null: all rows that no other file has",
       .when = kTabular,
       .place = NamesPlace::input},
      {.path = "data.split_files.valid",
       .member = SMILE_AT(data.dataset.split_files.valid),
       .doc =
           "the same of the validation rows; null: the share valid_split/(train_split + valid_split) of the "
           "training rows",
       .when = kTabular,
       .place = NamesPlace::input},
      {.path = "data.header",
       .member = SMILE_AT(data.table.header),
       .doc = "does the file begin with column names; auto: look",
       .when = kTabular,
       .null_word = "auto"},
      {"data.missing", SMILE_AT(data.table.missing),
       "missing cells: refuse the file, drop the row, or take the training mean", kTabular},
      {"data.categorical", SMILE_AT(data.table.categorical),
       "columns whose cells are words; coded 0, 1, … in sorted order", kTabular},
      {"data.decimal",
       {SMILE_AT(data.table.decimal_comma), {false, "point"}, {true, "comma"}},
       "decimal mark of the numbers",
       kTabular},
      {"data.delimiter", SMILE_AT(data.table.delimiter), "separator of a .csv file", kTabular},
      {"data.flatten", SMILE_AT(data.flatten), "make a vector of an image", kImages},
      {"data.augment",
       {SMILE_AT(data.augment), {false, "identity"}, {true, "basic"}},
       "augmentation in the warm start",
       kImages},
      {.path = "data.test_path",
       .member = SMILE_AT(data.test_path),
       .doc = "test images, where they are not beside the training images",
       .when = kImages,
       .place = NamesPlace::input},
      {"data.image_format", SMILE_AT(data.image_format),
       "form of the images; auto: look at the names of the files", kImages},
      {"data.image_size", SMILE_AT(data.image_size), "side in pixels; null: as it is", kImages,
       count_up_to(kLargestImage)},

  };
}

std::vector<Key> model_keys() {
  return {
      {"model.model", SMILE_AT(model.model), "the network", always, {}, model_choices()},
      {"model.hidden_structure", SMILE_AT(model.hidden_structure),
       "widths of the dense layers; the last is the output width: 1 for mean_regr, 2 for regr, the number of "
       "classes "
       "for class. Default: 16, 16, 16 and the output",
       of_model_key("hidden_structure"), count_up_to(kWidest)},
      {"model.activation", Member(SMILE_AT(model.activation)).and_unavailable({"softmax"}),
       "after every layer but the last", of_model_key("activation")},
      {"model.use_bias", SMILE_AT(model.use_bias), "do layers have biases", of_model_key("use_bias")},
      {"model.engine", SMILE_AT(model.engine), "what computes the gradients", of_model_key("engine")},
      {"model.out_dim", SMILE_AT(model.out_dim), "number of classes; default: that of the data",
       of_model_key("out_dim"), count_up_to(kWidest)},
      {"model.layers", SMILE_AT(model.layers), "blocks of each stage", of_model_key("layers"),
       count_up_to(kDeepest)},
      {"model.patch_size", SMILE_AT(model.patch_size), "side of a patch", of_model_key("patch_size"),
       count_up_to(kWidest)},
      {"model.dim", SMILE_AT(model.dim), "embedding width", of_model_key("dim"), count_up_to(kWidestInside)},
      {"model.depth", SMILE_AT(model.depth), "number of blocks", of_model_key("depth"),
       count_up_to(kDeepest)},
      {"model.num_heads", SMILE_AT(model.num_heads), "attention heads", of_model_key("num_heads"),
       count_up_to(kWidestInside)},
      {"model.transformer_fc_dim", SMILE_AT(model.transformer_fc_dim), "width inside a block",
       of_model_key("transformer_fc_dim"), count_up_to(kWidestInside)},
      {"model.classifier_fc_dim", SMILE_AT(model.classifier_fc_dim), "width of the classifier",
       of_model_key("classifier_fc_dim"), count_up_to(kWidestInside)},
      {"model.vocab_size", SMILE_AT(model.vocab_size), "number of tokens; default: that of the text",
       of_model_key("vocab_size"), count_up_to(kWidest)},
      {"model.context_len", SMILE_AT(model.context_len), "tokens of a window", kText, count_up_to(kWidest)},
      {"model.emb_size", SMILE_AT(model.emb_size), "embedding width", of_model_key("emb_size"),
       count_up_to(kWidestInside)},
      {"model.n_blocks", SMILE_AT(model.n_blocks), "number of blocks", of_model_key("n_blocks"),
       count_up_to(kDeepest)},
      {"model.n_heads", SMILE_AT(model.n_heads), "attention heads", of_model_key("n_heads"),
       count_up_to(kWidestInside)},
      {"model.qkv_dim", SMILE_AT(model.qkv_dim),
       "width of query, key and value, all heads together; default: emb_size", of_model_key("qkv_dim"),
       count_up_to(kWidestInside)},
      {"model.bias", SMILE_AT(model.bias), "do layers have biases", of_model_key("bias")},
      {"model.dropout", SMILE_AT(model.dropout), "dropout rate", of_model_key("dropout"), kFraction},
      {"model.dtype", Member(SMILE_AT(model.dtype)).and_unavailable({"float64", "float16", "bfloat16"}),
       "precision", of_model_key("dtype")},
      {.path = "model.gpt_block",
       .member = {SMILE_AT(model.gpt_authors_block), {false, "pre-norm"}, {true, "authors"}},
       .doc = "form of a block",
       .when = of_model_key("gpt_block"),
       .authors = "authors"},
      {.path = "model.path",
       .member = SMILE_AT(model.path),
       .doc = "TorchScript file",
       .when = of_model_key("path"),
       .place = NamesPlace::input},

  };
}

std::vector<Key> warmstart_keys() {
  return {
      {"training.warmstart.include", SMILE_AT(training.warmstart.include),
       "train a deep ensemble first; false: chains start at draws of the prior"},
      {"training.warmstart.optimizer_config.name", SMILE_AT(training.warmstart.member.optimizer.kind),
       "optimiser", kTrains},
      {"training.warmstart.optimizer_config.parameters.learning_rate",
       SMILE_AT(training.warmstart.member.learning_rate.learning_rate), "learning rate", kConstantRate,
       kPositive},
      {"training.warmstart.optimizer_config.parameters.weight_decay",
       SMILE_AT(training.warmstart.member.optimizer.weight_decay),
       "decoupled weight decay; ivon: prior precision over ess", kDecay, kNotNegative},
      {"training.warmstart.optimizer_config.parameters.momentum",
       SMILE_AT(training.warmstart.member.optimizer.momentum), "momentum", kSgd, kFraction},
      {"training.warmstart.optimizer_config.parameters.nesterov",
       SMILE_AT(training.warmstart.member.optimizer.nesterov), "Nesterov's form of momentum", kSgd},
      {"training.warmstart.optimizer_config.parameters.b1", SMILE_AT(training.warmstart.member.optimizer.b1),
       "decay of the first moment", kAdam, kFraction},
      {"training.warmstart.optimizer_config.parameters.b2", SMILE_AT(training.warmstart.member.optimizer.b2),
       "decay of the second moment", kAdam, kFraction},
      {"training.warmstart.optimizer_config.parameters.eps",
       SMILE_AT(training.warmstart.member.optimizer.epsilon), "added to the root of the second moment", kAdam,
       kPositive},
      {"training.warmstart.optimizer_config.parameters.beta1",
       SMILE_AT(training.warmstart.member.optimizer.ivon.beta1), "decay of the gradient", kIvon, kFraction},
      {"training.warmstart.optimizer_config.parameters.beta2",
       SMILE_AT(training.warmstart.member.optimizer.ivon.beta2), "decay of the Hessian", kIvon, kFraction},
      {"training.warmstart.optimizer_config.parameters.h0",
       SMILE_AT(training.warmstart.member.optimizer.ivon.hessian_start), "Hessian at the start", kIvon,
       kPositive},
      {"training.warmstart.optimizer_config.parameters.ess",
       SMILE_AT(training.warmstart.member.optimizer.effective_size),
       "effective sample size; null: the training rows", kIvon, kPositive},
      {"training.warmstart.optimizer_config.parameters.clip_radius",
       SMILE_AT(training.warmstart.member.optimizer.ivon.clip_radius), "bound of the update", kIvon,
       kPositiveOrInfinite},
      {"training.warmstart.optimizer_config.parameters.rescale_lr",
       SMILE_AT(training.warmstart.member.optimizer.ivon.rescale), "rescale the rate by h0 + weight_decay",
       kIvon},
      {"training.warmstart.optimizer_config.parameters.num_mc_samples",
       SMILE_AT(training.warmstart.member.optimizer.draws), "gradients an update", kIvon, at_least(1)},
      {.path = "training.warmstart.optimizer_config.lr_schedule",
       .member = Member(SMILE_AT(training.warmstart.member.learning_rate.kind))
                     .and_unavailable({"cosine", "cosine_warmup"}),
       .doc = "learning-rate schedule",
       .when = kTrains,
       .null_word = "constant"},
      {"training.warmstart.optimizer_config.lr_schedule_parameters.init_value",
       SMILE_AT(training.warmstart.member.learning_rate.init_value), "rate at the start", kScheduled,
       kNotNegative},
      {"training.warmstart.optimizer_config.lr_schedule_parameters.peak_value",
       SMILE_AT(training.warmstart.member.learning_rate.peak_value), "rate at the end of the warm-up",
       kCosineRate, kPositive},
      {"training.warmstart.optimizer_config.lr_schedule_parameters.end_value",
       SMILE_AT(training.warmstart.member.learning_rate.end_value), "rate at the end", kScheduled,
       kNotNegative},
      {"training.warmstart.optimizer_config.lr_schedule_parameters.warmup_steps",
       SMILE_AT(training.warmstart.member.learning_rate.warmup_steps),
       "updates from init_value to peak_value", kCosineRate, at_least(0)},
      {"training.warmstart.optimizer_config.lr_schedule_parameters.decay_steps",
       SMILE_AT(training.warmstart.member.learning_rate.decay_steps), "update at which end_value is reached",
       kCosineRate, at_least(1)},
      {"training.warmstart.optimizer_config.lr_schedule_parameters.transition_steps",
       SMILE_AT(training.warmstart.member.learning_rate.transition_steps),
       "updates from init_value to end_value", kLinearRate, at_least(1)},
      {"training.warmstart.optimizer_config.lr_schedule_parameters.exponent",
       SMILE_AT(training.warmstart.member.learning_rate.exponent), "power of the cosine", kCosineRate,
       kPositive},
      {.path = "training.warmstart.warmstart_exp_dir",
       .member = SMILE_AT(training.warmstart.warmstart_exp_dir),
       .doc = "run directory whose members are taken; null: train",
       .when = kWarmstart,
       .place = NamesPlace::input},
      {.path = "training.warmstart.warmstart_files",
       .member = SMILE_AT(training.warmstart.warmstart_files),
       .doc = "TorchScript files whose parameters the chains start from, in turn; null: train",
       .when = kNetworkFile,
       .place = NamesPlace::input},
      {"training.warmstart.warmstart_subset", SMILE_AT(training.warmstart.warmstart_subset),
       "take from warmstart_files what they share with the network; the rest starts as a network to be "
       "trained",
       kNetworkFile},
      {"training.warmstart.max_epochs", SMILE_AT(training.warmstart.member.max_epochs), "epochs at most",
       kTrains, at_least(1)},
      {"training.warmstart.batch_size", SMILE_AT(training.warmstart.member.batch_size),
       "rows a batch; null: all", kTrains, at_least(1)},
      {"training.warmstart.patience", SMILE_AT(training.warmstart.member.patience),
       "stop a member after so many epochs without a better validation loss; null: never", kTrains,
       at_least(1)},
      {"training.warmstart.permutation_warmstart", SMILE_AT(training.warmstart.permutation_warmstart),
       "start the chains at copies of one member with hidden units permuted", kWarmstart},
      {.path = "training.warmstart.keep",
       .member = SMILE_AT(training.warmstart.member.keep),
       .doc = "epoch that a member keeps",
       .when = kTrains,
       .authors = "last"},

  };
}

std::vector<Key> sampler_keys() {
  return {
      {"training.sampler.name",
       SMILE_AT(training.sampler.name),
       "the sampler",
       always,
       {},
       sampler_choices()},
      {"training.sampler.n_chains", SMILE_AT(training.sampler.n_chains),
       "chains, and members of the deep ensemble", always, count_up_to(65536)},
      {"training.sampler.warmup_steps", SMILE_AT(training.sampler.warmup_steps),
       "steps before the first sample", kWarmsUp, at_least(0)},
      {"training.sampler.n_samples", SMILE_AT(training.sampler.n_samples),
       "steps of the sampling phase, before thinning", always, at_least(1)},
      {"training.sampler.n_thinning", SMILE_AT(training.sampler.n_thinning),
       "every so many steps one is stored", always, at_least(1)},
      {"training.sampler.burn_in", SMILE_AT(training.sampler.burn_in),
       "stored samples left out at the start of a chain", always, at_least(0)},
      {"training.sampler.epoch_wise_sampling", SMILE_AT(training.sampler.epoch_wise_sampling),
       "count warm-up, samples and thinning in epochs of floor(N/B) steps", kStochastic},
      {"training.sampler.batch_size", SMILE_AT(training.sampler.batch_size),
       "rows a batch; null: all. Default: at most a quarter of the training rows", kStochastic, at_least(1)},
      {.path = "training.sampler.batches",
       .member = SMILE_AT(training.sampler.batches),
       .doc = "how an epoch is cut: into equal batches, with a short last batch, or without it; reversed: "
              "equal batches, and every second epoch takes those of the first backwards",
       .when = kStochastic,
       .authors = "drop"},
      {.path = "training.sampler.likelihood_scale",
       .member = SMILE_AT(training.sampler.likelihood_scale),
       .doc = "factor of a batch's log-likelihood: N/B of the batch at hand, or floor(N/B)",
       .when = kStochastic,
       .authors = "floor"},
      {"training.sampler.use_warmup_as_init", SMILE_AT(training.sampler.use_warmup_as_init),
       "sampling goes on from the warm-up's end; false: from its start, with what it has tuned"},
      {"training.sampler.keep_warmup", SMILE_AT(training.sampler.keep_warmup),
       "store the warm-up's draws too"},
      {"training.sampler.draws_dtype", SMILE_AT(training.sampler.draws_dtype),
       "type of the stored samples: half precision halves the disk space", always},
      {"training.sampler.params_frozen", SMILE_AT(training.sampler.params_frozen),
       "names of parameters that stay fixed"},
      {"training.sampler.step_size", SMILE_AT(training.sampler.step.step_size),
       "step size ε; with step_size_rule energy or turn, and with hmc, nuts, mams: at the start", kStepSize,
       kPositive},
      {"training.sampler.step_size_rule", SMILE_AT(training.sampler.microcanonical.rule),
       "fixed (-naive), energy (smile, psmile) or turn (-auto); default: by the sampler's name",
       kMicrocanonical},
      {"training.sampler.turn_angle", SMILE_AT(training.sampler.microcanonical.turn_angle),
       "angle δ* that a step turns the velocity, and size of noise in proportion to it", kTurn, kPositive},
      {"training.sampler.smile_tuning.reset_prob", SMILE_AT(training.sampler.microcanonical.tuner.reset_prob),
       "quantile 1 − κ of |ΔE| above which a step is refused; 1: none", kGuarded, kShare},
      {"training.sampler.smile_tuning.adaption_prob",
       SMILE_AT(training.sampler.microcanonical.tuner.adaption_prob),
       "probability mass a of |ΔE| that changes the step size; 0: none", kEnergyRule, kFraction},
      {"training.sampler.smile_tuning.adaption_strength",
       SMILE_AT(training.sampler.microcanonical.tuner.adaption_strength), "relative change of the step size",
       kAdapts, kFraction},
      {"training.sampler.smile_tuning.smoothing_factor",
       SMILE_AT(training.sampler.microcanonical.tuner.smoothing_factor), "rate β of the moments of |ΔE|",
       kMicrocanonical, kShare},
      {"training.sampler.smile_tuning.alpha", SMILE_AT(training.sampler.preconditioner.rate),
       "rate α of the preconditioner and of the turning-angle rule", kRates, kShare},
      {"training.sampler.integrator", SMILE_AT(training.sampler.microcanonical.integrator),
       "splitting of a step", kIsokinetic},
      {"training.sampler.energy", SMILE_AT(training.sampler.microcanonical.energy),
       "ΔE against the last batch's value (carried), the new batch's (fresh: one gradient more), or between "
       "the "
       "points of two gradients (midpoint: position-verlet only)",
       kMicrocanonical},
      {.path = "training.sampler.decoherence_length",
       .member = SMILE_AT(training.sampler.microcanonical.decoherence_length),
       .doc = "length ℓ of partial refreshment; .inf: off; auto: noise once a step, 2ε/(λ δ*²) with "
              "λ = min(max(R/20, 0.3), 3) for R batches an epoch",
       .when = kMicrocanonical,
       .range = kPositiveOrInfinite,
       .null_word = "auto"},
      {"training.sampler.gradient_clip", SMILE_AT(training.sampler.step.guard.clip),
       "bound of a gradient entry; .inf: none", kGuardedGradients, kPositiveOrInfinite},
      {.path = "training.sampler.quantile",
       .member = SMILE_AT(training.sampler.microcanonical.tuner.quantile),
       .doc = "Gamma quantiles",
       .when = kGamma,
       .authors = "wilson-hilferty"},
      {.path = "training.sampler.variance_floor",
       .member = SMILE_AT(training.sampler.microcanonical.tuner.variance_floor),
       .doc = "bound of the variance in the Gamma fit: relative to the mean, or 1e-6",
       .when = kGamma,
       .authors = "absolute"},
      {.path = "training.sampler.outlier_clip",
       .member = SMILE_AT(training.sampler.microcanonical.tuner.outlier_clip),
       .doc = "clip |ΔE| at its 0.9999 quantile before it enters the moments",
       .when = kGamma,
       .authors = "false"},
      {"training.sampler.adaption_balance", SMILE_AT(training.sampler.microcanonical.tuner.balance),
       "shares of a above and below: the paper's 2/3 and 1/3, or 1/2 each", kAdapts},
      {"training.sampler.adapt_during",
       {SMILE_AT(training.sampler.microcanonical.adapt_in_sampling), {true, "always"}, {false, "warmup"}},
       "adapt in both phases, or freeze the step size after the warm-up",
       kAdapts},
      {.path = "training.sampler.reset_velocity",
       .member = SMILE_AT(training.sampler.microcanonical.reset_velocity),
       .doc = "velocity after a refused step",
       .when = kMicrocanonical,
       .authors = "authors"},
      {.path = "training.sampler.reset_gradient",
       .member = SMILE_AT(training.sampler.microcanonical.reset_gradient),
       .doc = "gradient carried on after a refused step: the old point's, or the refused one's",
       .when = kMicrocanonical,
       .authors = "stale"},
      {.path = "training.sampler.nonfinite",
       .member = SMILE_AT(training.sampler.step.guard.policy),
       .doc = "non-finite values: refuse the step and count it, or drop and zero them",
       .when = kGuardedGradients,
       .authors = "authors"},
      {"training.sampler.max_nonfinite_fraction", SMILE_AT(training.sampler.max_nonfinite_fraction),
       "share of non-finite steps in 100 above which the run fails", always, kShare},
      {"training.sampler.preconditioner_init",
       {SMILE_AT(training.sampler.preconditioner.start_at_first_gradient),
        {false, "zero"},
        {true, "first-gradient"}},
       "mean of the gradient at the start",
       kPreconditioned},
      {.path = "training.sampler.preconditioner_centre",
       .member = SMILE_AT(training.sampler.preconditioner.centre),
       .doc = "what is subtracted before squaring",
       .when = kPreconditioned,
       .authors = "authors"},
      {"training.sampler.preconditioner_scale", SMILE_AT(training.sampler.preconditioner_scale),
       "normalisation of the scales", kPreconditioned},
      {"training.sampler.preconditioner_reference", SMILE_AT(training.sampler.preconditioner_reference),
       "bounds of the scales: a floor relative to their root mean square, or a tenth to ten times (mean √s)²",
       kReference},
      {.path = "training.sampler.preconditioner_freeze",
       .member = SMILE_AT(training.sampler.microcanonical.preconditioner_freeze),
       .doc = "share of the warm-up after which the scales stay",
       .when = kPreconditioned,
       .range = kShare,
       .null_word = "never"},
      {.path = "training.sampler.preconditioner_floor",
       .member = SMILE_AT(training.sampler.preconditioner_floor),
       .doc = "smallest scale relative to the root mean square; absolute: clip to [1e-2, 1e4]",
       .when = kFloor,
       .range = kFraction,
       .null_word = "absolute",
       .authors = "absolute"},
      {.path = "training.sampler.log_sigma_init",
       .member = SMILE_AT(training.warmstart.member.log_sigma),
       .doc = "start of log σ: the warm start's validation residuals, or 0",
       .when = kMeanRegression,
       .authors = "zero"},
      {"training.sampler.diagonal_preconditioning",
       SMILE_AT(training.sampler.mclmc.tuner.diagonal_preconditioning),
       "scale by the warm-up's standard deviations", kMclmc},
      {"training.sampler.desired_energy_var", SMILE_AT(training.sampler.desired_energy_var),
       "of an earlier method of the authors", kNoSampler, kPositive},
      {"training.sampler.desired_energy_var_start",
       SMILE_AT(training.sampler.mclmc.tuner.desired_energy_var_start),
       "energy variance (per dimension) at the start of the warm-up", kMclmc, kPositive},
      {"training.sampler.desired_energy_var_end",
       SMILE_AT(training.sampler.mclmc.tuner.desired_energy_var_end),
       "energy variance (per dimension) at its end", kMclmc, kPositive},
      {"training.sampler.desired_energy_var_scale", SMILE_AT(training.sampler.mclmc.tuner.scale),
       "what the energy variance is of: each dimension (MILE), or the whole; total is right where parameters "
       "are many",
       kMclmc},
      {"training.sampler.trust_in_estimate", SMILE_AT(training.sampler.mclmc.tuner.trust_in_estimate),
       "width of the tuner's weights", kMclmc, kPositive},
      {"training.sampler.num_effective_samples",
       SMILE_AT(training.sampler.mclmc.tuner.num_effective_samples),
       "memory of the tuner in steps",
       kMclmc,
       {.low = 1, .without_low = true}},
      {"training.sampler.step_size_init", SMILE_AT(training.sampler.mclmc.tuner.step_size_init),
       "step size at the tuner's start", kMclmc, kPositive},
      {"training.sampler.temperature", SMILE_AT(training.sampler.step.temperature),
       "temperature T: draws of posterior^(1/T); 0 only where noise has a temperature of its own", always,
       kNotNegative},
      {"training.sampler.mdecay", SMILE_AT(training.sampler.sghmc.friction), "friction α",
       of_sampler_key("mdecay"), kShare},
      {.path = "training.sampler.sghmc_step",
       .member = SMILE_AT(training.sampler.sghmc.step),
       .doc = "what step_size is: the rate of Chen et al., or the length ε of the scale-adapted form with "
              "scale 1, whose rate is ε²",
       .when = of_sampler_key("sghmc_step"),
       .authors = "length"},
      {"training.sampler.momentum_resampling", SMILE_AT(training.sampler.sghmc.momentum_resampling),
       "probability of a new momentum in a step", of_sampler_key("momentum_resampling"), kProbability},
      {"training.sampler.beta_hat", SMILE_AT(training.sampler.sghmc.noise_estimate),
       "estimate β̂ of the gradient noise's share of the friction; at most mdecay", of_sampler_key("beta_hat"),
       kProbability},
      {"training.sampler.running_avg_factor", SMILE_AT(training.sampler.scale_adapted.running_avg_factor),
       "decay ρ of the squared gradient", of_sampler_key("running_avg_factor"), kFraction},
      {"training.sampler.psgld_alpha", SMILE_AT(training.sampler.langevin.rms_decay),
       "decay α of the squared gradient", of_sampler_key("psgld_alpha"), kFraction},
      {"training.sampler.psgld_lambda", SMILE_AT(training.sampler.langevin.rms_lambda), "λ of 1/(λ + √V)",
       of_sampler_key("psgld_lambda"), kPositive},
      {"training.sampler.sgnht_diffusion", SMILE_AT(training.sampler.sgnht.diffusion), "diffusion A",
       of_sampler_key("sgnht_diffusion"), kPositive},
      {"training.sampler.explore_without_noise", SMILE_AT(training.sampler.langevin.explore_without_noise),
       "no noise in the exploration part of a cycle", of_sampler_key("explore_without_noise")},
      {"training.sampler.target_acceptance", SMILE_AT(training.sampler.adjusted.target_acceptance),
       "mean acceptance that the warm-up sets the step size for", kAdjusted, kFraction},
      {"training.sampler.trajectory_length", SMILE_AT(training.sampler.adjusted.trajectory_length),
       "length of a transition: step size times leapfrog steps, in standard deviations",
       of_sampler_key("trajectory_length"), kPositive},
      {"training.sampler.max_tree_depth",
       SMILE_AT(training.sampler.adjusted.max_tree_depth),
       "a transition takes at most 2^depth - 1 leapfrog steps",
       of_sampler_key("max_tree_depth"),
       {.low = 1, .high = 20}},
      {"training.sampler.ivon_beta1", SMILE_AT(training.sampler.ivon.beta1), "decay β₁ of the gradient",
       of_sampler_key("ivon_beta1"), kFraction},
      {"training.sampler.ivon_beta2", SMILE_AT(training.sampler.ivon.beta2),
       "decay β₂ of the Hessian; null: a tenth of the warm-up is remembered, at most 0.99999",
       of_sampler_key("ivon_beta2"), kFraction},
      {"training.sampler.ivon_hessian_start", SMILE_AT(training.sampler.ivon.hessian_start),
       "Hessian h₀ of −log posterior / N at the start", of_sampler_key("ivon_hessian_start"), kPositive},
      {"training.sampler.ivon_clip_radius", SMILE_AT(training.sampler.ivon.clip_radius),
       "bound of an entry's update, before the rate", of_sampler_key("ivon_clip_radius"),
       kPositiveOrInfinite},
      {"training.sampler.laplace_form", SMILE_AT(training.sampler.laplace.form),
       "entries of the curvature that are kept", of_sampler_key("laplace_form")},
      {"training.sampler.laplace_prior", SMILE_AT(training.sampler.laplace.prior),
       "the prior's precision: as prior_config has it, or times the factor that fits best",
       of_sampler_key("laplace_prior")},
      {"training.sampler.n_integration_steps", SMILE_AT(training.sampler.n_integration_steps),
       "steps a sample: multiplies warm-up, samples and thinning, each step with a batch of its own",
       kGuardedGradients, count_up_to(1000)},
  };
}

/// "0, BiMixtureNormal 0.5": the value that the first prior with the parameter takes, and those that differ.
std::string fallbacks_text(std::string_view parameter) {
  std::string text;
  std::optional<double> first;
  for (const PriorRow& row : prior_rows()) {
    const PriorParameter* found = row.parameter(parameter);
    if (found == nullptr || found->fallback == first) continue;
    text +=
        first ? fmt::format(", {} {:g}", row.name, found->fallback) : fmt::format("{:g}", found->fallback);
    if (!first) first = found->fallback;
  }
  return text;
}

/// A key for each parameter of a prior.
std::vector<Key> prior_keys() {
  static std::deque<std::string> texts;  // what the keys' views look at
  const auto lasting = [](std::string text) -> std::string_view {
    return texts.emplace_back(std::move(text));
  };
  const std::string section = "training.sampler.prior_config.";
  std::vector<Key> keys{{"training.sampler.prior_config.name",
                         SMILE_AT(training.sampler.prior_config.name),
                         "prior of the parameters",
                         always,
                         {},
                         prior_choices()}};
  for (const PriorRow& row : prior_rows()) {
    for (const PriorParameter& parameter : row.parameters) {
      const std::string_view path = lasting(section + "parameters." + std::string(parameter.name));
      if (std::any_of(keys.begin(), keys.end(), [&](const Key& key) { return key.path == path; })) continue;
      const std::string name(parameter.name);
      keys.push_back({path,
                      At<std::optional<double>>(
                          [name](Config& c) { return &c.training.sampler.prior_config.parameters[name]; }),
                      lasting(std::string(parameter.doc) + "; default " + fallbacks_text(name)),
                      of_priors([name](const PriorRow& other) { return other.parameter(name) != nullptr; }),
                      {.low = parameter.low, .without_low = parameter.without_low}});
    }
  }
  keys.push_back({"training.sampler.prior_config.parameters.seed",
                  SMILE_AT(training.sampler.prior_config.seed),
                  "seed of the fixed offsets; default 42",
                  of_priors([](const PriorRow& row) { return row.has_seed; }),
                  {.low = 0, .high = 9e18}});
  return keys;
}

std::vector<Key> schedule_keys() {
  return {
      {.path = "training.sampler.scheduler_config_warm.name",
       .member = SMILE_AT(training.sampler.step.warmup_schedule.kind),
       .doc = "step-size schedule of the warm-up",
       .when = kStochastic,
       .null_word = "none"},
      {"training.sampler.scheduler_config_warm.exploration",
       SMILE_AT(training.sampler.step.warmup_schedule.exploration),
       "share of the steps, or of a cycle, that explores", kWarmMoves, kFraction},
      {"training.sampler.scheduler_config_warm.init_step_size",
       SMILE_AT(training.sampler.step.warmup_schedule.initial), "step size at the start", kWarmMoves,
       kPositive},
      {"training.sampler.scheduler_config_warm.target_step_size",
       SMILE_AT(training.sampler.step.warmup_schedule.target), "step size at the end", kWarmMoves,
       kNotNegative},
      {"training.sampler.scheduler_config_warm.n_cycles",
       SMILE_AT(training.sampler.step.warmup_schedule.cycles), "cycles", kWarmCycles, at_least(1)},
      {.path = "training.sampler.scheduler_config_samp.name",
       .member = SMILE_AT(training.sampler.step.sampling_schedule.kind),
       .doc = "step-size schedule of the sampling phase; csgld: cosine",
       .when = kStochastic,
       .null_word = "none"},
      {"training.sampler.scheduler_config_samp.exploration",
       SMILE_AT(training.sampler.step.sampling_schedule.exploration),
       "share of the steps, or of a cycle, that explores and stores no samples", kSampMoves, kFraction},
      {"training.sampler.scheduler_config_samp.init_step_size",
       SMILE_AT(training.sampler.step.sampling_schedule.initial), "step size at the start", kSampMoves,
       kPositive},
      {"training.sampler.scheduler_config_samp.target_step_size",
       SMILE_AT(training.sampler.step.sampling_schedule.target), "step size at the end", kSampMoves,
       kNotNegative},
      {"training.sampler.scheduler_config_samp.n_cycles",
       SMILE_AT(training.sampler.step.sampling_schedule.cycles), "cycles", kSampCycles, at_least(1)},

  };
}

std::vector<Key> tokenizer_keys() {
  return {
      {"training.tokenizer.tokenizer",
       Member(SMILE_AT(training.tokenizer.tokenizer)).and_unavailable({"CustomBPE", "BPE", "BERT"}),
       "cuts text into tokens", kText},
      {"training.tokenizer.parameters.max_vocab_size", SMILE_AT(training.tokenizer.max_vocab_size),
       "number of tokens", kSubwords, count_up_to(kWidest)},
      {"training.tokenizer.parameters.pad_len", SMILE_AT(training.tokenizer.pad_len), "length to fill up to",
       kSubwords, count_up_to(kWidest)},

  };
}

std::vector<Key> evaluation_keys() {
  return {
      {"evaluation_args.phases", SMILE_AT(evaluation_args.phases), "what is evaluated", always},
      {"evaluation_args.pred_sampling_factor", SMILE_AT(evaluation_args.pred_sampling_factor),
       "of the authors: intervals here are those of the exact predictive mixture, which needs no random "
       "draws",
       kNothing, count_up_to(kWidest)},
      {"evaluation_args.samples_batch_size", SMILE_AT(evaluation_args.samples_batch_size),
       "stored samples evaluated together", kNothing, count_up_to(kWidest)},
      {"evaluation_args.data_batch_size", SMILE_AT(evaluation_args.data_batch_size),
       "rows of a batch of evaluation", kWholeBatches, count_up_to(1e9)},
      {"evaluation_args.kappa", SMILE_AT(evaluation_args.kappa), "of an earlier method of the authors",
       kNothing},
      {"evaluation_args.nominal_coverages",
       SMILE_AT(evaluation_args.nominal_coverages),
       "of the central intervals",
       kRegression,
       {.low = 0, .high = 1, .without_low = true, .without_high = true}},
      {.path = "evaluation_args.evaluate_rows",
       .member = {SMILE_AT(evaluation_args.whole_batches), {false, "all"}, {true, "whole-batches"}},
       .doc = "all test rows, or only whole batches of them",
       .authors = "whole-batches"},
      {"evaluation_args.ece_bins", SMILE_AT(evaluation_args.ece_bins), "bins of the calibration error",
       kClassification, count_up_to(kWidest)},
      {"evaluation_args.n_splits",
       SMILE_AT(evaluation_args.n_splits),
       "parts of a chain in the chain-wise R̂",
       kChainwise,
       {.low = 2, .high = kWidest}},
      {"evaluation_args.diagnose_parameters", SMILE_AT(evaluation_args.diagnose_parameters),
       "parameters, drawn at random, with R̂ and ESS", kDiagnoses, count_up_to(kWidest)},
      {"evaluation_args.n_orderings", SMILE_AT(evaluation_args.n_orderings), "random orders of the chains",
       kOrderings, count_up_to(kWidest)},
      {"evaluation_args.datapoint_limit", SMILE_AT(evaluation_args.datapoint_limit),
       "evaluate only so many test rows; null: all", always, at_least(1)},
      {.path = "evaluation_args.ood",
       .member = SMILE_AT(evaluation_args.ood),
       .doc = "file of an out-of-distribution set: how well uncertainty tells it from the test set",
       .place = NamesPlace::input},
  };
}
#undef SMILE_AT

/// In the order in which they are written.
std::vector<Key> make_keys() {
  std::vector<Key> all;
  for (const auto part : {top_keys, data_keys, model_keys, warmstart_keys, sampler_keys, prior_keys,
                          schedule_keys, tokenizer_keys, evaluation_keys})
    for (Key& key : part()) all.push_back(std::move(key));
  return all;
}

/// Other places where a key is looked for.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kAliases{{
    {"training.sampler.compat", "compat"},
    {"data.max_rows", "data.datapoint_limit"},
}};

}  // namespace

const std::vector<Key>& keys() {
  static const std::vector<Key> table = make_keys();
  return table;
}

const Key* find_key(std::string_view path) {
  static const auto index = [] {
    std::unordered_map<std::string_view, const Key*> map;
    for (const Key& key : keys()) map.emplace(key.path, &key);
    return map;
  }();
  const auto found = index.find(path);
  return found == index.end() ? nullptr : found->second;
}

bool is_section(std::string_view path) {
  return std::any_of(keys().begin(), keys().end(), [&](const Key& key) {
    return key.path.size() > path.size() && key.path.starts_with(path) && key.path[path.size()] == '.';
  });
}

std::string canonical_path(std::string_view path) {
  for (const auto& [alias, canonical] : kAliases) {
    if (path == alias) return std::string(canonical);
  }
  return std::string(path);
}

}  // namespace smile::schema
