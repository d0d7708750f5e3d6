/// The named alternatives that the command line lists: samplers, models, priors, evaluations.
#include "experiment/config_schema.hpp"

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

const Choices& model_choices() {
  static const Choices choices{
      {"FCN", "fully connected network of any widths and depth, on the native engine"},
      {"LeNet", "convolutional network for 28×28 or 32×32 images", true, {}, true},
      {"ResNet7", "small residual network with filter response normalisation", true, {}, true},
      {"ResNet", "residual network; layers [2, 2, 2, 2] is ResNet-18", true, {}, true},
      {"ViT", "vision transformer", true, {}, true},
      {"GPT", "decoder-only transformer for text", true, {}, true},
      {"torchscript", "any TorchScript module; its parameters become θ", true, {}, true},
  };
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
