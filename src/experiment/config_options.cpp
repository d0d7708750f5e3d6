#include "smile/experiment/config_options.hpp"

namespace smile {

TableOptions table_options(const Config& config) {
  const DataConfig& data = config.data;
  TableOptions options;
  if (data.header) options.header = *data.header ? Header::yes : Header::no;
  if (data.missing == "drop") options.missing = MissingPolicy::drop;
  if (data.missing == "mean") options.missing = MissingPolicy::mean;
  if (data.delimiter == "comma") options.delimiter = ',';
  if (data.delimiter == "semicolon") options.delimiter = ';';
  if (data.delimiter == "tab") options.delimiter = '\t';
  options.decimal_comma = data.decimal == "comma";
  options.categorical = data.categorical;
  return options;
}

DatasetOptions dataset_options(const Config& config) {
  const DataConfig& data = config.data;
  DatasetOptions options;
  options.task = config.task();
  options.target_column = data.target_column.value_or("");
  if (data.features) options.features = *data.features;
  options.train_fraction = data.train_split;
  options.valid_fraction = data.valid_split;
  options.test_fraction = data.test_split;
  options.normalize_with = !data.normalize                ? NormalizeWith::none
                           : data.normalize_with == "all" ? NormalizeWith::all
                                                          : NormalizeWith::train;
  options.seed = static_cast<std::uint64_t>(config.rng);
  if (data.datapoint_limit) options.max_rows = static_cast<std::size_t>(*data.datapoint_limit);
  return options;
}

FcnSpec fcn_spec(const Config& config, std::size_t inputs) {
  FcnSpec spec;
  spec.inputs = inputs;
  spec.widths.assign(config.model.hidden_structure.begin(), config.model.hidden_structure.end());
  spec.activation = config.model.activation_kind();
  spec.bias = config.model.use_bias;
  spec.task = config.task();
  return spec;
}

MemberOptions member_options(const Config& config) {
  const WarmstartConfig& warmstart = config.training.warmstart;
  const OptimizerConfig& optimizer = warmstart.optimizer_config;
  MemberOptions options;
  options.optimizer.kind = optimizer_kind(optimizer.name);
  options.optimizer.weight_decay = optimizer.weight_decay;
  options.optimizer.momentum = optimizer.momentum;
  options.optimizer.nesterov = optimizer.nesterov;
  options.optimizer.b1 = optimizer.b1;
  options.optimizer.b2 = optimizer.b2;
  options.optimizer.epsilon = optimizer.eps;
  options.learning_rate.kind = learning_rate_kind(optimizer.lr_schedule);
  options.learning_rate.learning_rate = optimizer.learning_rate;
  options.learning_rate.init_value = optimizer.init_value;
  options.learning_rate.peak_value = optimizer.peak_value;
  options.learning_rate.end_value = optimizer.end_value;
  options.learning_rate.exponent = optimizer.exponent;
  options.learning_rate.warmup_steps = static_cast<std::uint64_t>(optimizer.warmup_steps);
  options.learning_rate.decay_steps = static_cast<std::uint64_t>(optimizer.decay_steps);
  options.learning_rate.transition_steps = static_cast<std::uint64_t>(optimizer.transition_steps);
  options.max_epochs = static_cast<std::uint64_t>(warmstart.max_epochs);
  options.batch_size.reset();
  if (warmstart.batch_size) options.batch_size = static_cast<std::size_t>(*warmstart.batch_size);
  options.patience.reset();
  if (warmstart.patience) options.patience = static_cast<std::uint64_t>(*warmstart.patience);
  options.keep = keep_epoch(warmstart.keep);
  options.log_sigma = config.training.sampler.log_sigma_init;
  options.seed = static_cast<std::uint64_t>(config.rng);
  return options;
}

}  // namespace smile
