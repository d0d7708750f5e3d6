// SPDX-License-Identifier: Apache-2.0
/// The named alternatives that the command line lists: samplers, models, priors.
#include "config/schema.hpp"

namespace smile::schema {

const Choices& sampler_choices() {
  static const Choices choices = [] {
    Choices all;
    for (const SamplerRow& row : sampler_rows())
      all.push_back({row.name, row.doc, row.available, row.aliases});
    return all;
  }();
  return choices;
}

Choices model_choices() {
  Choices choices;
  for (const ModelRow& row : model_rows())
    choices.push_back({row.name, row.doc, true, {}, row.torch && !row.native});
  return choices;
}

Choices prior_choices() {
  Choices choices;
  for (const PriorRow& row : prior_rows()) choices.push_back({row.name, row.doc});
  return choices;
}

}  // namespace smile::schema
