// SPDX-License-Identifier: Apache-2.0
#include "smile/config/config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/schema.hpp"
#include "smile/config/catalogue.hpp"
#include "smile/config/sampler_factory.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

const std::string kData = "data: {path: data/airfoil.data, task: mean_regr}\n";

Config with_sampler(const std::string& keys, const std::string& rest = "") {
  return parse_config(kData + rest + "training: {sampler: {" + keys + "}}\n", "test.yaml");
}

bool warned_about(const Config& config, const std::string& key) {
  return std::any_of(config.warnings.begin(), config.warnings.end(),
                     [&](const std::string& warning) { return warning.find(key) != std::string::npos; });
}

void expect_round_trip(const Config& config) {
  const std::string text = to_yaml(config);
  const Config again = parse_config(text, "again.yaml");
  EXPECT_TRUE(config == again) << text;
  EXPECT_EQ(to_yaml(again), text);
}

TEST(Config, TheSmallestFileGivesTheDefaults) {
  const Config config = parse_config(kData, "folder/first.yaml");
  EXPECT_EQ(config.experiment_name, "first");
  EXPECT_EQ(config.data.path, "data/airfoil.data");
  EXPECT_EQ(config.task(), Task::mean_regression);
  EXPECT_EQ(config.model.hidden_structure, (std::vector<std::int64_t>{16, 16, 16, 1}));
  const SamplerConfig& sampler = config.training.sampler;
  EXPECT_EQ(sampler.name, "psmile-auto");
  EXPECT_EQ(sampler.microcanonical.rule, StepSizeRule::turn);
  EXPECT_EQ(sampler.microcanonical.tuner.reset_prob, 0.999);
  EXPECT_EQ(sampler.microcanonical.tuner.adaption_prob, 0);
  EXPECT_EQ(sampler.microcanonical.turn_angle, 0.06);
  EXPECT_EQ(sampler.microcanonical.integrator, Integrator::position_verlet);
  EXPECT_EQ(sampler.microcanonical.energy, EnergyMode::midpoint);
  EXPECT_FALSE(sampler.microcanonical.decoherence_length);
  EXPECT_EQ(sampler.batches, BatchMode::reversed);
  EXPECT_EQ(sampler.preconditioner_reference, PreconditionerReference::half);
  EXPECT_EQ(sampler.microcanonical.preconditioner_freeze, 0.9);
  EXPECT_EQ(sampler.step.guard.clip, 1e6);
  EXPECT_EQ(*sampler.preconditioner_floor, 0.03);
  EXPECT_TRUE(config.warnings.empty());
  expect_round_trip(config);
}

TEST(Config, DefaultsOfASamplerYieldToTheFileAndToVersion0_1) {
  const SamplerConfig given = with_sampler("integrator: mclachlan").training.sampler;
  EXPECT_EQ(given.microcanonical.integrator, Integrator::mclachlan);
  EXPECT_EQ(given.microcanonical.energy, EnergyMode::carried);  // there is none between midpoints
  EXPECT_EQ(given.batches, BatchMode::reversed);
  const SamplerConfig paper = with_sampler("name: psmile").training.sampler;
  EXPECT_EQ(paper.microcanonical.integrator, Integrator::mclachlan);
  EXPECT_EQ(paper.preconditioner_reference, PreconditionerReference::rms);
  EXPECT_FALSE(paper.microcanonical.preconditioner_freeze);
  EXPECT_TRUE(std::isinf(*paper.microcanonical.decoherence_length));
  const Config old = parse_config(kData + std::string("compat: 0.1\n"), "old.yaml");
  const SamplerConfig& before = old.training.sampler;
  EXPECT_EQ(before.microcanonical.integrator, Integrator::mclachlan);
  EXPECT_EQ(before.microcanonical.energy, EnergyMode::carried);
  EXPECT_TRUE(std::isinf(*before.microcanonical.decoherence_length));
  EXPECT_EQ(before.batches, BatchMode::even);
  EXPECT_EQ(before.preconditioner_reference, PreconditionerReference::rms);
  EXPECT_FALSE(before.microcanonical.preconditioner_freeze);
  EXPECT_EQ(before.microcanonical.tuner.reset_prob, 0.999);
  expect_round_trip(old);
}

TEST(Config, TheEnergyBetweenMidpointsIsThatOfPositionVerlet) {
  EXPECT_THROW(with_sampler("name: psmile, energy: midpoint"), Error);
  EXPECT_EQ(with_sampler("name: psmile, energy: midpoint, integrator: position-verlet")
                .training.sampler.microcanonical.energy,
            EnergyMode::midpoint);
}

TEST(Config, ReadsTheAuthorsLayout) {
  const Config config = parse_config(R"(saving_dir: 'results/tabular/'
experiment_name: 'tabular_psmile_naive'
data:
  path: 'data/bikesharing.data'
  source: 'local'
  data_type: 'tabular'
  task: 'mean_regr'
  target_column: null
  target_len: 1
  features: null
  datapoint_limit: null
  normalize: true
  train_split: 0.7
  valid_split: 0.1
  test_split: 0.2
model:
  model: FCN
  hidden_structure:
   - 16
   - 16
   - 1
  activation: 'relu'
  use_bias: true
training:
  warmstart:
    include: true
    optimizer_config:
      name: 'adamw'
      parameters: {'learning_rate': 0.02, 'weight_decay': 0.004}
      lr_schedule: cosine_decay
      lr_schedule_parameters: {init_value: 1.0e-05, peak_value: 0.002, warmup_steps: 5, decay_steps: 250, exponent: 1.0, end_value: 0.0005}
    warmstart_exp_dir: null
    max_epochs: 100
    batch_size: 32
    patience: null
  sampler:
    name: 'noisysmile'
    epoch_wise_sampling: true
    batch_size: 128
    warmup_steps: 500
    n_chains: 3
    n_samples: 1000
    use_warmup_as_init: true
    n_thinning: 5
    step_size: 0.002
    n_integration_steps: 1
    keep_warmup: false
    smile_tuning:
      reset_prob: 1.0
      adaption_prob: 0.0
      adaption_strength: 0.0
      smoothing_factor: 0.02
    prior_config:
      name: 'Normal'
      parameters:
        loc: 0.5
        scale: 2.0
    scheduler_config_warm:
      name: null
    scheduler_config_samp:
      name: Cosine
      exploration: 0.2
      init_step_size: 0.001
      target_step_size: 0.0
      n_cycles: 3
  tokenizer:
    tokenizer: 'SingleChar'
rng: 7
logging: true
logging_level: INFO
evaluations:
  - PredPerf
  - Calibration
evaluation_args:
  phases: [ensemble_initialization, sampling]
  pred_sampling_factor: 2
  samples_batch_size: 50
  kappa: 0.0
  nominal_coverages: [0.8, 0.9]
)",
                                     "theirs.yaml");
  const SamplerConfig& sampler = config.training.sampler;
  EXPECT_EQ(sampler.name, "psmile-naive");
  EXPECT_EQ(sampler.microcanonical.rule, StepSizeRule::fixed);
  EXPECT_TRUE(sampler.epoch_wise_sampling);
  EXPECT_EQ(*sampler.batch_size, 128);
  EXPECT_EQ(sampler.n_chains, 3);
  EXPECT_EQ(sampler.n_thinning, 5);
  EXPECT_EQ(sampler.microcanonical.tuner.smoothing_factor, 0.02);
  EXPECT_EQ(sampler.step.sampling_schedule.kind, ScheduleKind::cosine);
  EXPECT_EQ(sampler.step.sampling_schedule.cycles, 3u);
  EXPECT_EQ(sampler.step.warmup_schedule.kind, ScheduleKind::constant);
  EXPECT_EQ(sampler.prior_config.values(), (PriorValues{{"loc", 0.5}, {"scale", 2.0}}));
  const WarmstartConfig& warmstart = config.training.warmstart;
  EXPECT_EQ(warmstart.member.learning_rate.kind, LearningRateKind::cosine_decay);
  EXPECT_EQ(warmstart.member.learning_rate.peak_value, 0.002);
  EXPECT_EQ(warmstart.member.learning_rate.decay_steps, 250u);
  EXPECT_FALSE(warmstart.member.patience.has_value());
  EXPECT_EQ(config.rng, 7u);
  EXPECT_EQ(config.evaluations, (std::vector{EvaluationPart::performance, EvaluationPart::calibration}));
  EXPECT_EQ(config.evaluation_args.nominal_coverages, (std::vector<double>{0.8, 0.9}));
  EXPECT_EQ(config.evaluation_args.pred_sampling_factor, 2);
  // The schedule takes the place of the fixed rate; the tokenizer is for text.
  EXPECT_TRUE(warned_about(config, "parameters.learning_rate has no effect"));
  EXPECT_TRUE(warned_about(config, "tokenizer.tokenizer has no effect"));
  EXPECT_FALSE(warned_about(config, "n_integration_steps"));
  EXPECT_FALSE(warned_about(config, "reset_prob"));
  expect_round_trip(config);
}

TEST(Config, PartsOfTheEvaluation) {
  const auto with = [](const std::string& keys) {
    return parse_config("data: {path: x.csv, task: regr}\n" + keys, "parts.yaml");
  };
  const Config plain = with("");
  EXPECT_TRUE(plain.evaluates({EvaluationPart::effective_size}));
  EXPECT_FALSE(plain.evaluates({EvaluationPart::densities, EvaluationPart::outputs}));
  EXPECT_TRUE(plain.evaluation_args.has(Phase::ensemble));
  const Config chosen = with("evaluations: [lppdcum, PREDSAVER]\nevaluation_args: {phases: [sampling]}");
  EXPECT_TRUE(chosen.evaluates({EvaluationPart::densities, EvaluationPart::outputs}));
  EXPECT_FALSE(chosen.evaluates({EvaluationPart::effective_size}));
  EXPECT_FALSE(chosen.evaluation_args.has(Phase::ensemble));
  EXPECT_NE(to_yaml(chosen).find("evaluations: [LppdCum, PredSaver]\n"), std::string::npos);
  expect_round_trip(chosen);
  EXPECT_FALSE(with("evaluations: []").evaluates({EvaluationPart::lppd}));
  EXPECT_EQ(with("evaluations: [Lppd, PredPerfGPT]").evaluations,  // the authors' name for language models
            (std::vector{EvaluationPart::lppd, EvaluationPart::performance}));
  EXPECT_EQ(list_metrics().size(), std::size(Named<EvaluationPart>::all));
}

// spec 1.9: what the aliases mean
TEST(Config, ResolvesTheAliasesOfSamplers) {
  const auto resolved = [](const std::string& keys) { return with_sampler(keys).training.sampler.name; };
  EXPECT_EQ(resolved("name: smiley"), "smile-naive");
  EXPECT_EQ(resolved("name: smilet"), "smile");
  EXPECT_EQ(resolved("name: smilet, smile_tuning: {reset_prob: 1.0, adaption_prob: 0.0}"), "smile");
  EXPECT_EQ(resolved("name: noisysmile"), "psmile");
  EXPECT_EQ(resolved("name: noisysmile, smile_tuning: {reset_prob: 1, adaption_prob: 0}"), "psmile-naive");
  EXPECT_EQ(resolved("name: noisysmile, smile_tuning: {reset_prob: 1, adaption_prob: 0.1}"), "psmile");
  EXPECT_EQ(resolved("name: noisysmile, smile_tuning: {reset_prob: 0.98, adaption_prob: 0}"), "psmile");
  EXPECT_EQ(resolved("name: rmsprop"), "rmsprop-sghmc");
  EXPECT_EQ(resolved("name: MILE"), "mclmc");
}

TEST(Config, TheSamplerDecidesRuleAndGuardrail) {
  const SamplerConfig naive = with_sampler("name: psmile-naive").training.sampler;
  EXPECT_EQ(naive.microcanonical.rule, StepSizeRule::fixed);
  EXPECT_EQ(naive.microcanonical.tuner.reset_prob, 1);
  EXPECT_EQ(naive.microcanonical.tuner.adaption_prob, 0);
  const SamplerConfig tuned = with_sampler("name: psmile").training.sampler;
  EXPECT_EQ(tuned.microcanonical.rule, StepSizeRule::energy);
  EXPECT_EQ(tuned.microcanonical.tuner.reset_prob, 0.98);
  EXPECT_EQ(tuned.microcanonical.tuner.adaption_prob, 0.1);
  const SamplerConfig automatic =
      with_sampler("name: smile-auto, smile_tuning: {reset_prob: 0.99}").training.sampler;
  EXPECT_EQ(automatic.microcanonical.tuner.reset_prob, 0.99);
  EXPECT_FALSE(automatic.row().preconditioned);
  const Config overruled = with_sampler("name: smile-naive, smile_tuning: {reset_prob: 0.9}");
  EXPECT_EQ(overruled.training.sampler.microcanonical.tuner.reset_prob, 1);
  EXPECT_TRUE(warned_about(overruled, "smile-naive has no guardrail"));
  expect_round_trip(overruled);
}

TEST(Config, WarnsOfKeysWithoutEffect) {
  const Config config =
      with_sampler("name: sgld, mdecay: 0.1, turn_angle: 0.05, temperature: 0.5, integrator: yoshida");
  EXPECT_TRUE(
      warned_about(config, "training.sampler.mdecay has no effect here: it goes with sghmc, adasghmc"));
  EXPECT_TRUE(warned_about(config, "turn_angle"));
  EXPECT_TRUE(warned_about(config, "integrator"));
  EXPECT_FALSE(warned_about(config, "temperature"));
  EXPECT_EQ(config.warnings.size(), 3u);
  EXPECT_EQ(config.warnings[0].rfind("test.yaml:2: ", 0), 0u) << config.warnings[0];
}

TEST(Config, WarnsOfWhatThisBuildDoesNotDo) {
  const Config config = parse_config(
      "logging_level: INFO\n"
      "evaluation_args: {samples_batch_size: 5, data_batch_size: 6, n_orderings: 7}\n" +
          kData,
      "a.yaml");
  for (const char* name : {"logging_level", "samples_batch_size", "data_batch_size", "n_orderings"})
    EXPECT_TRUE(warned_about(config, name)) << name;
  const Config batches =
      parse_config("evaluation_args: {data_batch_size: 6, evaluate_rows: whole-batches}\n" + kData, "a.yaml");
  EXPECT_FALSE(warned_about(batches, "data_batch_size"));
  EXPECT_NO_THROW(with_sampler("use_warmup_as_init: true"));
  EXPECT_NO_THROW(with_sampler("use_warmup_as_init: false"));
}

TEST(Config, IntegrationStepsMultiplyTheLengthsOfAChain) {
  const auto lengths = [](const char* keys) {
    return make_run_lengths(with_sampler(keys).training.sampler, 1000);
  };
  const RunLengths one = lengths("batch_size: 100, warmup_steps: 20, n_samples: 60, n_thinning: 4");
  EXPECT_EQ(one.plan.warmup_steps, 20u);
  const RunLengths three =
      lengths("batch_size: 100, warmup_steps: 20, n_samples: 60, n_thinning: 4, n_integration_steps: 3");
  EXPECT_EQ(three.plan.warmup_steps, 60u);
  EXPECT_EQ(three.plan.sampling_steps, 180u);
  EXPECT_EQ(three.thinning, 12u);
  const RunLengths both = lengths(
      "batch_size: 100, warmup_steps: 20, n_samples: 60, n_thinning: 4, n_integration_steps: 3, "
      "epoch_wise_sampling: true");
  EXPECT_EQ(both.plan.warmup_steps, 600u);
  EXPECT_EQ(both.thinning, 120u);
  // A transition of these has a length of its own.
  EXPECT_EQ(
      lengths("name: nuts, batch_size: null, warmup_steps: 20, n_integration_steps: 3").plan.warmup_steps,
      20u);
  EXPECT_THROW(with_sampler("n_integration_steps: 0"), Error);
}

TEST(Config, TheAuthorsStepOfSghmcIsALength) {
  EXPECT_EQ(with_sampler("name: sghmc").training.sampler.sghmc.step, SghmcStep::rate);
  const Config authors = with_sampler("name: sghmc, step_size: 1.0e-3", "compat: authors\n");
  EXPECT_EQ(authors.training.sampler.sghmc.step, SghmcStep::length);
  // The number stays the file's, so that a run's configuration reads back as it was.
  EXPECT_EQ(authors.training.sampler.step.step_size, 1e-3);
  expect_round_trip(authors);
  EXPECT_EQ(with_sampler("name: sghmc, sghmc_step: rate", "compat: authors\n").training.sampler.sghmc.step,
            SghmcStep::rate);
  EXPECT_TRUE(warned_about(with_sampler("name: sgld, sghmc_step: length"), "sghmc_step has no effect"));
}

TEST(Config, NumbersTruthsAndTextsAreNotMixedUp) {
  EXPECT_EQ(with_sampler("step_size: 1").training.sampler.step.step_size, 1.0);
  EXPECT_EQ(with_sampler("step_size: 1e-3").training.sampler.step.step_size, 1e-3);
  EXPECT_EQ(with_sampler("step_size: +.5").training.sampler.step.step_size, 0.5);
  EXPECT_TRUE(std::isinf(
      *with_sampler("decoherence_length: .inf").training.sampler.microcanonical.decoherence_length));
  EXPECT_EQ(with_sampler("decoherence_length: 3").training.sampler.microcanonical.decoherence_length, 3);
  EXPECT_FALSE(
      with_sampler("preconditioner_floor: absolute").training.sampler.preconditioner_floor.has_value());
  EXPECT_EQ(*with_sampler("preconditioner_floor: 0.1").training.sampler.preconditioner_floor, 0.1);
  EXPECT_THROW(with_sampler("step_size: 1_000"), Error);
  EXPECT_THROW(with_sampler("step_size: 0x10"), Error);
  EXPECT_THROW(with_sampler("n_samples: '7'"), Error);
  EXPECT_THROW(with_sampler("n_samples: 7.0"), Error);
  EXPECT_THROW(with_sampler("epoch_wise_sampling: 1"), Error);
  // A text may look like a number.
  EXPECT_EQ(parse_config("experiment_name: 12\n" + kData, "a.yaml").experiment_name, "12");
  EXPECT_EQ(
      *parse_config("data: {path: a, task: regr, target_column: 3}", "a.yaml").data.dataset.target_column,
      "3");
  EXPECT_TRUE(
      parse_config("data: {path: a, task: regr, header: false}", "a.yaml").data.table.header.has_value());
  EXPECT_FALSE(
      parse_config("data: {path: a, task: regr, header: auto}", "a.yaml").data.table.header.has_value());
}

TEST(Config, CompatGivesTheAuthorsValuesUnlessAKeyIsGiven) {
  const Config authors = with_sampler("name: psmile, batches: keep, outlier_clip: true", "compat: authors\n");
  const SamplerConfig& sampler = authors.training.sampler;
  EXPECT_EQ(sampler.likelihood_scale, LikelihoodScale::floor_of_batches);
  EXPECT_EQ(sampler.microcanonical.tuner.quantile, QuantileRule::wilson_hilferty);
  EXPECT_EQ(sampler.microcanonical.tuner.variance_floor, VarianceFloor::absolute);
  EXPECT_EQ(sampler.microcanonical.reset_velocity, ResetVelocity::authors);
  EXPECT_EQ(sampler.microcanonical.reset_gradient, ResetGradient::stale);
  EXPECT_EQ(sampler.preconditioner.centre, Centre::authors);
  EXPECT_FALSE(sampler.preconditioner_floor.has_value());
  EXPECT_EQ(authors.training.warmstart.member.log_sigma, LogSigmaStart::zero);
  EXPECT_EQ(sampler.step.guard.policy, NonFinitePolicy::authors);
  EXPECT_EQ(authors.data.dataset.normalize_with, NormalizeWith::all);
  EXPECT_TRUE(authors.evaluation_args.whole_batches);
  EXPECT_EQ(authors.training.warmstart.member.keep, KeepEpoch::last);
  EXPECT_TRUE(authors.model.gpt_authors_block);
  EXPECT_EQ(sampler.batches, BatchMode::keep);
  EXPECT_TRUE(sampler.microcanonical.tuner.outlier_clip);
  expect_round_trip(authors);
  // The switch stands at the top or among the sampler's keys.
  EXPECT_EQ(with_sampler("name: psmile, compat: authors").training.sampler.microcanonical.tuner.quantile,
            QuantileRule::wilson_hilferty);
  EXPECT_TRUE(authors_keys(with_sampler("name: psmile")).empty());
  const std::vector<std::string> on = authors_keys(authors);
  EXPECT_NE(std::find(on.begin(), on.end(), "training.sampler.quantile: wilson-hilferty"), on.end());
  EXPECT_EQ(std::find(on.begin(), on.end(), "training.sampler.batches: drop"), on.end());
}

TEST(Config, EveryKeyIsWrittenAndReadBack) {
  // The default and the authors' value of every key, one key at a time.
  const Config base = parse_config(kData, "base.yaml");
  for (const schema::Key& key : schema::keys()) {
    std::vector<std::string> values{schema::value_text(key, base)};
    if (!key.authors.empty()) values.emplace_back(key.authors);
    for (const schema::Choice& choice : key.choices) {
      if (schema::is_available(choice) && !schema::is_list(key)) values.emplace_back(choice.name);
    }
    for (const std::string& value : values) {
      if (value == "[]") continue;
      try {
        const Config config = parse_config(kData, "base.yaml", {{std::string(key.path), value, "test"}});
        expect_round_trip(config);
      } catch (const Error& error) {
        // Some values need a companion; the message names it.
        const bool companion = key.path.ends_with("lr_schedule") || key.path.ends_with("step_size_rule") ||
                               key.path.ends_with("scheduler_config_warm.name") ||
                               key.path.ends_with("scheduler_config_samp.name") || key.path == "data.task" ||
                               key.path == "data.data_type" || key.path.ends_with("params_frozen");
        EXPECT_TRUE(companion) << key.path << ": " << value << ": " << error.what();
      }
    }
  }
}

TEST(Config, StringsOfEveryKindSurviveWriting) {
  for (const char* name :
       {"plain", "with space", "quote\"and'quote", "back\\slash", "# comment", "a: b", "null", "true", "12",
        "-", "ümlaut ε", "tab\there", "line\nbreak", "[x]", "~", ".inf"}) {
    Config config = parse_config(kData, "a.yaml");
    config.experiment_name = name;
    config.given["experiment_name"] = "test";
    EXPECT_EQ(parse_config(to_yaml(config), "again.yaml").experiment_name, name);
  }
}

TEST(Config, SettingsComeAfterTheFileAndTheLastOneWins) {
  const Config config = parse_config(
      kData + "rng: 3\n", "a.yaml",
      {parse_setting("rng=4"), parse_setting("training.sampler.step_size=0.5"), parse_setting("rng=5"),
       parse_setting("model.hidden_structure=[8, 1]"), parse_setting("data.path=b=c.csv")});
  EXPECT_EQ(config.rng, 5u);
  EXPECT_EQ(config.training.sampler.step.step_size, 0.5);
  EXPECT_EQ(config.model.hidden_structure, (std::vector<std::int64_t>{8, 1}));
  EXPECT_EQ(config.data.path, "b=c.csv");
  EXPECT_EQ(config.place("rng"), "--set: rng");
  EXPECT_EQ(config.place("data.task"), "a.yaml:1: data.task");
  EXPECT_EQ(config.place("model.model"), "a.yaml: model.model");
}

TEST(Config, SettingsAreCheckedLikeTheFile) {
  const auto message = [](const std::string& setting) -> std::string {
    try {
      parse_config(kData, "a.yaml", {parse_setting(setting)});
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message("training.sampler.step_sze=0.1"),
            "--set: training.sampler.step_sze: unknown key; did you mean `step_size`?");
  EXPECT_EQ(message("training.smpler.step_size=0.1"),
            "--set: training.smpler: unknown key; did you mean `sampler`?");
  EXPECT_EQ(message("step_size=0.1"),
            "--set: step_size: unknown key; it belongs at `training.sampler.step_size`");
  EXPECT_EQ(message("training.sampler.step_size=fast"),
            "--set: training.sampler.step_size: `fast` is not a number; expected a number > 0");
  EXPECT_EQ(message("rng"),
            "--set rng: not of the form key=value; write for instance training.sampler.step_size=0.01");
  EXPECT_EQ(message("training.sampler.smile_tuning={adaption_prob: 0.2}").rfind("accepted", 0), 0u);
}

/// Members that are read from files are not trained: no epoch of theirs is cut, no learning rate asked for.
TEST(Config, MembersFromFilesAreNotTrained) {
  Config config = with_sampler("name: psmile, batch_size: 10");
  config.training.warmstart.member.batch_size = 5000;
  config.given["training.warmstart.batch_size"] = "a.yaml:9";
  EXPECT_THROW(fit_to_data(config, 100), Error);
  config.training.warmstart.warmstart_files = {"net.pt"};
  EXPECT_FALSE(config.training.warmstart.trains());
  EXPECT_NO_THROW(fit_to_data(config, 100));
}

/// They were given to LibTorch's engine, which a build may not have.
TEST(Config, TheNativeEngineReadsNoNetworkFiles) {
  try {
    parse_config(
        "data: {path: a, task: regr}\n"
        "training:\n"
        "  warmstart:\n"
        "    optimizer_config: {lr_schedule: linear}\n"
        "    warmstart_files: [net.pt]\n",
        "a.yaml");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "a.yaml:5: training.warmstart.warmstart_files: the native engine reads no network files; leave "
              "the key out, or take warmstart_exp_dir or model.engine: torch");
  }
}

/// A row of the table of priors is all that a prior's parameters need to be keys: nothing else names them.
TEST(Config, KeysOfPriorsComeFromTheirRows) {
  const auto prior = [](const std::string& text) {
    return parse_config("data: {path: a, task: regr}\ntraining: {sampler: {prior_config: " + text + "}}\n",
                        "a.yaml");
  };
  for (const PriorRow& row : prior_rows()) {
    const Config config = prior("{name: " + std::string(row.name) + "}");
    EXPECT_TRUE(config.warnings.empty()) << row.name;
    EXPECT_EQ(config.training.sampler.prior_config.values().size(), row.parameters.size()) << row.name;
    for (const PriorParameter& parameter : row.parameters) {
      const std::string key = "training.sampler.prior_config.parameters." + std::string(parameter.name);
      EXPECT_EQ(config.training.sampler.prior_config.values().at(std::string(parameter.name)),
                parameter.fallback);
      EXPECT_NE(to_yaml(config).find("        " + std::string(parameter.name) + ": "), std::string::npos)
          << key;
    }
  }
  EXPECT_EQ(prior("{name: TruncNormal, parameters: {limit: 0}}").training.sampler.prior_config.values(),
            (PriorValues{{"limit", 0}, {"loc", 0}, {"scale", 1}}));
  EXPECT_EQ(prior("{name: Normal, parameters: {limit: 1}}").warnings,
            (std::vector<std::string>{
                "a.yaml:2: training.sampler.prior_config.parameters.limit has no effect here: "
                "it goes with TruncNormal"}));
  EXPECT_THROW(prior("{name: Normal, parameters: {scale: 0}}"), Error);
}

/// Three lines are enough for any number of rows: the turning-angle rule needs several batches an epoch.
TEST(Config, TheDefaultBatchFollowsTheRows) {
  for (const auto& [rows, batch] : std::vector<std::pair<std::size_t, std::int64_t>>{
           {2, 1}, {7, 1}, {215, 53}, {308, 77}, {384, 96}, {1023, 255}, {1024, 256}, {50000, 256}}) {
    Config config = parse_config("data: {path: a, task: regr}\n", "a.yaml");
    ASSERT_NO_THROW(fit_to_data(config, rows)) << rows;
    EXPECT_EQ(config.training.sampler.batch_size, batch) << rows;
    Config given = with_sampler("name: psmile, batch_size: 2");
    fit_to_data(given, rows);
    EXPECT_EQ(given.training.sampler.batch_size, 2) << rows;
  }
}

TEST(Config, FitsToTheData) {
  Config given = with_sampler("name: psmile, batch_size: 200");
  EXPECT_THROW(fit_to_data(given, 100), Error);
  Config by_default = with_sampler("name: psmile");
  fit_to_data(by_default, 40);
  EXPECT_EQ(by_default.training.sampler.batch_size, 10);
  EXPECT_FALSE(by_default.training.warmstart.member.batch_size.has_value());
  Config turning = with_sampler("name: psmile-auto, batch_size: 80");
  EXPECT_THROW(fit_to_data(turning, 100), Error);
  EXPECT_NO_THROW(fit_to_data(turning, 160));
  Config labels = parse_config("data: {path: a, task: class}", "a.yaml");
  fit_to_data(labels, 1000, 5);
  EXPECT_EQ(labels.model.hidden_structure, (std::vector<std::int64_t>{16, 16, 16, 5}));
  Config wrong = parse_config("data: {path: a, task: class}\nmodel: {hidden_structure: [8, 4]}", "a.yaml");
  EXPECT_THROW(fit_to_data(wrong, 1000, 5), Error);
}

TEST(Schema, EveryKeyIsDocumentedAndFoundAndSectionsAreTogether) {
  std::vector<std::string> sections;
  std::string last;
  for (const schema::Key& key : schema::keys()) {
    EXPECT_FALSE(key.doc.empty()) << key.path;
    EXPECT_EQ(schema::find_key(key.path), &key) << "named twice: " << key.path;
    const std::string section(
        key.path.substr(0, key.path.find('.') == std::string_view::npos ? 0 : key.path.find('.')));
    if (section == last || section.empty()) continue;
    EXPECT_EQ(std::find(sections.begin(), sections.end(), section), sections.end()) << section;
    sections.push_back(section);
    last = section;
  }
}

TEST(Schema, TheReferenceInDocsIsCurrent) {
  std::ifstream stream(std::filesystem::path(SMILE_SOURCE_DIR) / "docs/configuration.md");
  std::ostringstream text;
  text << stream.rdbuf();
  EXPECT_TRUE(text.str() == configuration_reference())
      << "write it anew: smile list keys --markdown > docs/configuration.md";
}

TEST(Configurations, OfTheExperimentsAreAccepted) {
  const std::filesystem::path folder = std::filesystem::path(SMILE_SOURCE_DIR) / "configs";
  int read = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    // The analytical benchmark has keys of its own (tests/end_to_end/analytic).
    if (entry.path().extension() != ".yaml" || entry.path().parent_path().filename() == "analytical" ||
        entry.path().filename().string().find("search") != std::string::npos ||
        entry.path().stem().has_extension())  // name.search-axis.yaml: a search file, no configuration
      continue;
    try {
      const Config config = load_config(entry.path().string());
      expect_round_trip(config);
      ++read;
    } catch (const Error& error) {
      // Networks of LibTorch are known to every build and available in some.
      if (std::string(error.what()).find("SMILE_WITH_TORCH") == std::string::npos)
        ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace smile
