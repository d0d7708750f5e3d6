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

const Choices& prior_choices() {
  static const Choices choices{
      {"StandardNormal", "N(0, 1) for every parameter"},
      {"Normal", "N(loc, scale²)"},
      {"Laplace", "Laplace(loc, scale)"},
      {"ShiftedNormal", "weights N(loc, scale²), all else N(loc_bias, scale²)"},
      {"Glorot", "weights N(0, factor²·2/(fan_in + fan_out)), all else N(0, 1)"},
      {"He", "weights N(0, 2/fan_in), all else N(0, 1)"},
      {"GloLap", "Laplace of scale 1/√(fan_in + fan_out) for weights, 1/√2 else"},
      {"GloUnif", "uniform with Glorot's standard deviation"},
      {"TruncNormal", "flat within limit of loc, normal tails outside"},
      {"BiMixtureNormal", "½ N(loc, scale²) + ½ N(−loc, scale²)"},
      {"EpsStandardNormal", "N(a_i, exp(b_i)²) with fixed random a_i, b_i near 0"},
  };
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
