#include "smile/config/options.hpp"

namespace smile {

TableOptions table_options(const Config& config) {
  const DataConfig& data = config.data;
  TableOptions options;
  if (data.header) options.header = *data.header ? Header::yes : Header::no;
  options.missing = data.missing;
  options.delimiter = char(data.delimiter);
  options.decimal_comma = data.decimal_comma;
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
  options.normalize_with = data.normalize ? data.normalize_with : NormalizeWith::none;
  options.seed = config.rng;
  if (data.datapoint_limit) options.max_rows = static_cast<std::size_t>(*data.datapoint_limit);
  return options;
}

FcnSpec fcn_spec(const Config& config, std::size_t inputs) {
  FcnSpec spec;
  spec.inputs = inputs;
  spec.widths.assign(config.model.hidden_structure.begin(), config.model.hidden_structure.end());
  spec.activation = config.model.activation;
  spec.bias = config.model.use_bias;
  spec.task = config.task();
  return spec;
}

MemberOptions member_options(const Config& config) {
  MemberOptions options = config.training.warmstart.member;
  options.seed = config.rng;
  return options;
}

}  // namespace smile
