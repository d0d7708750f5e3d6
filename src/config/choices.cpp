/// The named alternatives that the command line lists: samplers, models, priors, evaluations.
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

const Choices& evaluation_choices() {
  static const Choices choices{
      {"PredPerf", "RMSE; or accuracy, F1, Brier score, NLL, AUROC, AURC"},
      {"Lppd", "log pointwise predictive density: all, running, per chain"},
      {"LppdCum", "LPPD of the first k chains over random orders of the chains"},
      {"Calibration", "coverage and width of intervals; or calibration error and reliability"},
      {"Crhat", "chain-wise rank-normalised R̂"},
      {"Ess", "bulk and tail effective sample size and split-R̂"},
      {"ChainVar", "variance between and within chains"},
      {"PriorLogLik", "log prior and log-likelihood of the stored samples"},
      {"PredSaver", "writes the predictive draws"},
      {"Predict", "predictions, as part of the other evaluations"},
      {"PredPerfGPT", "perplexity and accuracy of language models", false},
  };
  return choices;
}

}  // namespace smile::schema
