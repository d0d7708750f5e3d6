// SPDX-License-Identifier: Apache-2.0
/// What follows from other keys: aliases of samplers, defaults by sampler, prior and task, `compat: authors`,
/// and the checks that concern several keys.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "config/read.hpp"
#include "smile/error.hpp"

namespace smile::schema {
namespace {

bool given(const Config& config, const std::string& key) {
  return config.given.contains(key);
}

/// Ten digits: enough for a split, free of the noise of binary fractions.
std::string number(double value) {
  std::ostringstream text;
  text << std::setprecision(10) << value;
  return text.str();
}

void apply_authors_values(Config& config) {
  if (config.compat != Compat::authors) return;
  for (const Key& key : keys()) {
    if (!key.authors.empty() && !given(config, std::string(key.path))) {
      assign(key, YAML::Load(std::string(key.authors)), config.file, config);
    }
  }
}

/// The paper's names and the authors' (spec 1.9).
void resolve_sampler(SamplerConfig& sampler) {
  const EnergyTunerOptions& tuner = sampler.microcanonical.tuner;
  const bool off = tuner.reset_prob == 1 && tuner.adaption_prob == 0;
  // The authors have one name for the two that differ by their settings.
  sampler.name = sampler.name == "noisysmile" && off ? "psmile-naive" : sampler.row().name;
}

/// The sampler's own defaults of keys.
void apply_sampler_defaults(Config& config) {
  for (const SamplerDefault& own : config.training.sampler.row().defaults) {
    const std::string path = "training.sampler." + std::string(own.key);
    if (given(config, path) || (config.compat != Compat::none && !own.since_0_1)) continue;
    assign(*find_key(path), YAML::Load(std::string(own.value)), config.file, config);
  }
}

/// Sets a value that the sampler fixes; says so where the user asked for another one.
void fix(Config& config, const std::string& key, double& value, double fixed, const std::string& reason) {
  if (given(config, key) && value != fixed) {
    config.warnings.push_back(config.place(key) + ": " + number(value) + " has no effect: " + reason);
  }
  value = fixed;
}

void complete_microcanonical(Config& config) {
  SamplerConfig& sampler = config.training.sampler;
  MicrocanonicalOptions& options = sampler.microcanonical;
  const SamplerRow& row = sampler.row();
  const std::string prefix = "training.sampler.";
  if (!given(config, prefix + "step_size_rule")) {
    options.rule = row.rule.value_or(StepSizeRule::energy);
  } else if (row.rule && options.rule != *row.rule) {
    const std::string others = sampler_names([&](const SamplerRow& other) {
      return other.is_microcanonical() && !other.rule && other.preconditioned == row.preconditioned;
    });
    throw Error(config.place(prefix + "step_size_rule"),
                "`" + std::string(name_of(options.rule)) + "` is not the rule of " + sampler.name,
                "write `" + std::string(name_of(*row.rule)) + "`, or the sampler " + others +
                    ", which takes every rule");
  }
  for (const auto& [name, schedule] :
       {std::pair<std::string, const Schedule&>{"scheduler_config_warm", sampler.step.warmup_schedule},
        {"scheduler_config_samp", sampler.step.sampling_schedule}}) {
    if (schedule.kind == ScheduleKind::constant || options.rule == StepSizeRule::fixed) continue;
    throw Error(config.place(prefix + name + ".name"),
                "a schedule and step_size_rule `" + std::string(name_of(options.rule)) +
                    "` cannot both set the step size",
                row.rule ? "write `none`" : "write `none`, or step_size_rule: fixed");
  }
  const std::string tuning = prefix + "smile_tuning.";
  if (!row.guardrail)
    fix(config, tuning + "reset_prob", options.tuner.reset_prob, 1, sampler.name + " has no guardrail");
  // The energy between midpoints is no more than a default: another integrator has none.
  if (options.energy == EnergyMode::midpoint && options.integrator != Integrator::position_verlet) {
    if (given(config, prefix + "energy"))
      throw Error(config.place(prefix + "energy"),
                  "`midpoint` is the energy of the integrator position-verlet, and the integrator is " +
                      std::string(name_of(options.integrator)),
                  "write `carried`, or integrator: position-verlet");
    options.energy = EnergyMode::carried;
  }
  if (options.rule != StepSizeRule::energy)
    fix(config, tuning + "adaption_prob", options.tuner.adaption_prob, 0,
        "with step_size_rule " + std::string(name_of(options.rule)) +
            " the energy error does not change the step size");
  if (options.rule == StepSizeRule::turn && !sampler.batch_size) {
    throw Error(config.place(prefix + "batch_size"),
                "the turning-angle rule needs the noise of mini-batches, and all rows are one batch",
                "give a batch_size, or use the sampler mclmc");
  }
}

void complete_schedules(Config& config) {
  SamplerConfig& sampler = config.training.sampler;
  const std::string key = "training.sampler.scheduler_config_samp.";
  if (sampler.row().cyclic) {
    ScheduleKind& kind = sampler.step.sampling_schedule.kind;
    if (!given(config, key + "name")) kind = ScheduleKind::cosine;
    if (kind != ScheduleKind::cosine) {
      throw Error(config.place(key + "name"), sampler.name + " needs a cyclic schedule",
                  "write `cosine`, or use the sampler " + std::string(sampler.row().fixed_step));
    }
  }
  for (const bool warm : {true, false}) {
    const Schedule& schedule = warm ? sampler.step.warmup_schedule : sampler.step.sampling_schedule;
    const std::int64_t steps = warm ? sampler.warmup_steps : sampler.n_samples;
    if (!sampler.is_stochastic() || schedule.kind != ScheduleKind::cosine || steps == 0 ||
        std::int64_t(schedule.cycles) <= steps)
      continue;
    throw Error(
        config.place(std::string("training.sampler.scheduler_config_") + (warm ? "warm" : "samp") +
                     ".n_cycles"),
        std::to_string(schedule.cycles) + " cycles do not fit into " + std::to_string(steps) + " steps",
        "write at most " + std::to_string(steps));
  }
}

/// Network and data go together.
void check_model(const Config& config) {
  const ModelRow& model = config.model.row();
  const std::string name(model.name), kind(name_of(config.data.data_type));
  if (model.has_key("path")) {
    if (!config.model.path)
      throw Error(config.place("model.model"), "the TorchScript file is not given", "add model.path");
    return;
  }
  if (model.is_of_images() && config.data.data_type != DataKind::image)
    throw Error(config.place("model.model"), name + " takes images, and data_type is " + kind,
                "write data_type: image, or the model FCN");
  if (model.is_of_images() && config.data.flatten)
    throw Error(config.place("data.flatten"), name + " takes images as they are, not vectors",
                "leave flatten out, or take the model FCN");
  if (!model.takes(config.data.data_type)) {
    const DataKind wanted = config.data.data_type;
    throw Error(config.place("model.model"), name + " and data_type " + kind + " do not go together",
                "for data_type " + kind + " take one of " +
                    model_names([&](const ModelRow& other) { return other.takes(wanted); }));
  }
  if (!config.model.is_native()) return;
  if (config.data.data_type == DataKind::image && !config.data.flatten)
    throw Error(config.place("data.data_type"), name + " takes rows of numbers, and data_type is image",
                "write flatten: true");
  if (config.device == Device::cuda)
    throw Error(config.place("device"), "`cuda`: the native engine of " + name + " computes on the CPU",
                "write cpu, or model.engine: torch");
}

/// Kind of data, task and network go together.
void complete_kinds(Config& config) {
  DataConfig& data = config.data;
  const bool language = data.dataset.task == Task::multilabel;
  if (language && !given(config, "data.data_type")) data.data_type = DataKind::text;
  if (data.data_type == DataKind::text && !given(config, "model.model"))
    config.model.model = std::find_if(model_rows().begin(), model_rows().end(), [](const ModelRow& row) {
                           return row.takes(DataKind::text);
                         })->name;
  const std::string task(name_of(data.dataset.task));
  if (language != (data.data_type == DataKind::text)) {
    throw Error(
        config.place(language ? "data.data_type" : "data.task"),
        "task " + task + " and data_type " + std::string(name_of(data.data_type)) + " do not go together",
        "texts go with class_multilabel, tables with regr, mean_regr or class, images with class");
  }
  if (data.data_type == DataKind::image && data.dataset.task != Task::classification)
    throw Error(config.place("data.task"), "task " + task + " is for tables", "write class for images");
  check_model(config);
}

void complete_model(Config& config) {
  ModelConfig& model = config.model;
  const Task task = config.task();
  if (model.row().has_key("qkv_dim") && !given(config, "model.qkv_dim")) model.qkv_dim = model.emb_size;
  if (!model.row().has_key("hidden_structure")) return;
  const std::string key = "model.hidden_structure";
  if (model.hidden_structure.empty()) {
    if (task == Task::classification) return;  // The data will tell the number of classes: fit_to_data.
    model.hidden_structure = {16, 16, 16, task == Task::regression ? 2 : 1};
  }
  const std::int64_t last = model.hidden_structure.back();
  const std::string says = "the last width is " + std::to_string(last);
  if (task == Task::mean_regression && last != 1)
    throw Error(config.place(key), says + ", but task mean_regr has one output", "let the list end with 1");
  if (task == Task::regression && last != 2) {
    throw Error(config.place(key), says + ", but task regr has two outputs, mean and log σ",
                "let the list end with 2");
  }
  if (task == Task::classification && last < 2) {
    throw Error(config.place(key), says + ", but classes need an output each",
                "let the list end with the number of classes");
  }
}

void complete_prior(PriorConfig& prior) {
  constexpr std::uint64_t kSeed = 42;
  for (const PriorParameter& parameter : prior.row().parameters) {
    std::optional<double>& value = prior.parameters[std::string(parameter.name)];
    if (!value) value = parameter.fallback;
  }
  if (prior.row().has_seed && !prior.seed) prior.seed = kSeed;
}

void check_learning_rates(const Config& config) {
  const LearningRateSchedule& schedule = config.training.warmstart.member.learning_rate;
  const bool linear = schedule.kind == LearningRateKind::linear;
  if (!config.training.warmstart.trains() || schedule.kind == LearningRateKind::constant) return;
  const std::string section = "training.warmstart.optimizer_config.";
  for (const std::string name : linear ? std::vector{"init_value", "end_value", "transition_steps"}
                                       : std::vector{"peak_value", "decay_steps"}) {
    if (given(config, section + "lr_schedule_parameters." + name)) continue;
    throw Error(config.place(section + "lr_schedule"),
                "`" + std::string(name_of(schedule.kind)) + "` needs lr_schedule_parameters." + name,
                "add it, or write lr_schedule: constant");
  }
  if (!linear && schedule.warmup_steps >= schedule.decay_steps) {
    throw Error(config.place(section + "lr_schedule_parameters.warmup_steps"),
                std::to_string(schedule.warmup_steps) + " warm-up steps leave none of " +
                    std::to_string(schedule.decay_steps) + " decay_steps, which count them",
                "write at most " + std::to_string(schedule.decay_steps - 1));
  }
}

void check_warmstart(Config& config) {
  const WarmstartConfig& warmstart = config.training.warmstart;
  const PriorRow& prior = config.training.sampler.prior_config.row();
  if (prior.from_members && !warmstart.include)
    throw Error(config.place("training.sampler.prior_config.name"),
                std::string(prior.name) + " follows from the members, and there is no warm start",
                "write training.warmstart.include: true, or another prior");
  if (warmstart.include && warmstart.warmstart_exp_dir && warmstart.warmstart_files)
    throw Error(config.place("training.warmstart.warmstart_files"),
                "both warmstart_files and warmstart_exp_dir say where the chains start", "write one of them");
  if (warmstart.include && warmstart.warmstart_files && config.model.is_native())
    throw Error(config.place("training.warmstart.warmstart_files"),
                "the native engine reads no network files",
                "leave the key out, or take warmstart_exp_dir or model.engine: torch");
  if (warmstart.trains() && warmstart.member.optimizer.kind == OptimizerKind::ivon && config.data.augment)
    throw Error(config.place("training.warmstart.optimizer_config.name"),
                "`ivon` trains on the images as they are, and data.augment asks for random views",
                "write data.augment: identity, or another optimiser");
  if (config.model.row().has_key("dropout") && config.model.dropout > 0)
    config.warnings.push_back(config.place("model.dropout") +
                              ": the GPT has no dropout here (its draws would not be of one posterior)");
}

void check_data(const Config& config) {
  const DataConfig& data = config.data;
  const double sum = data.dataset.split.train + data.dataset.split.valid + data.dataset.split.test;
  // Sets of images have a test part of their own; the authors' fractions for them are rounded.
  const double tolerance = data.data_type == DataKind::image ? 0.01 : 1e-9;
  if (std::abs(sum - 1) <= tolerance) return;
  const double rest = 1 - data.dataset.split.train - data.dataset.split.valid;
  const std::string key = given(config, "data.test_split")    ? "data.test_split"
                          : given(config, "data.train_split") ? "data.train_split"
                                                              : "data.valid_split";
  std::string mend = "let train_split, valid_split and test_split sum to 1";
  if (rest > 1e-9) mend += ", such as test_split: `" + number(rest) + "`";
  throw Error(config.place(key), "the three splits sum to " + number(sum), mend);
}

void check_sampler(const Config& config) {
  const SamplerConfig& sampler = config.training.sampler;
  const std::string prefix = "training.sampler.";
  if (sampler.n_thinning > sampler.n_samples) {
    throw Error(config.place(prefix + "n_thinning"),
                std::to_string(sampler.n_thinning) + " is more than n_samples (" +
                    std::to_string(sampler.n_samples) + ")",
                "write at most " + std::to_string(sampler.n_samples) + ", or more samples");
  }
  const std::int64_t stored = (sampler.n_samples + sampler.n_thinning - 1) / sampler.n_thinning;
  if (sampler.burn_in >= stored) {
    throw Error(
        config.place(prefix + "burn_in"),
        std::to_string(sampler.burn_in) + " leaves none of the " + std::to_string(stored) + " stored samples",
        "write at most " + std::to_string(stored - 1));
  }
  if (sampler.step.temperature == 0 && !sampler.row().has_key("temperature"))
    throw Error(config.place(prefix + "temperature"),
                "0 leaves no posterior that " + sampler.name + " could sample", "write a number above 0");
  const SghmcOptions& sghmc = sampler.sghmc;
  if (sampler.row().has_key("beta_hat") && sghmc.noise_estimate > sghmc.friction) {
    throw Error(config.place(prefix + "beta_hat"),
                number(sghmc.noise_estimate) + " is more than mdecay (" + number(sghmc.friction) + ")",
                "write at most " + number(sghmc.friction));
  }
}

}  // namespace

void complete(Config& config) {
  apply_authors_values(config);
  resolve_sampler(config.training.sampler);
  apply_sampler_defaults(config);
  if (config.training.sampler.is_stochastic_microcanonical()) complete_microcanonical(config);
  complete_schedules(config);
  complete_kinds(config);
  complete_model(config);
  complete_prior(config.training.sampler.prior_config);
  check_data(config);
  check_learning_rates(config);
  check_warmstart(config);
  check_sampler(config);
  for (const Key& key : keys()) {
    const auto place = config.given.find(std::string(key.path));
    if (place == config.given.end() || is_null(key, config) || key.when.holds(config)) continue;
    config.warnings.push_back(place->second + ": " + place->first + " has no effect here: it goes with " +
                              std::string(key.when.text));
  }
}

}  // namespace smile::schema
