// SPDX-License-Identifier: Apache-2.0
#include "smile/config/options.hpp"

namespace smile {

DatasetOptions dataset_options(const Config& config) {
  DatasetOptions options = config.data.dataset;
  options.seed = config.rng;
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
