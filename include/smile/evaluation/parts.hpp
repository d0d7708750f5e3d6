// SPDX-License-Identifier: Apache-2.0
/// The parts of an evaluation, by the names of `evaluations:` and `evaluation_args.phases`.
#pragma once

#include "smile/named.hpp"

namespace smile {

/// What is evaluated.
enum class Phase {
  ensemble,  ///< the warm-started networks alone
  sampling,  ///< all stored draws
};
template <>
struct Named<Phase> {
  static constexpr Alternative<Phase> all[] = {{Phase::ensemble, "ensemble_initialization"},
                                               {Phase::sampling, "sampling"}};
};

/// What is computed of it. The first two and calibration always are.
enum class EvaluationPart {
  performance,
  lppd,
  lppd_of_chains,  ///< evaluate_orderings
  calibration,
  chainwise_rhat,
  effective_size,
  chain_variance,
  densities,  ///< of every draw over all training rows, kept in a file
  outputs,    ///< of the network for every draw and test row, kept in a file for each chain
  predictions,
};
template <>
struct Named<EvaluationPart> {
  using P = EvaluationPart;
  static constexpr Alternative<P> all[] = {
      {P::performance, "PredPerf",
       "RMSE; or accuracy, F1, Brier score, NLL, AUROC, AURC; of language models perplexity and accuracy",
       "PredPerfGPT"},
      {P::lppd, "Lppd", "log pointwise predictive density: all, running, per chain"},
      {P::lppd_of_chains, "LppdCum", "LPPD of the first k chains over random orders of the chains"},
      {P::calibration, "Calibration",
       "coverage and width of intervals; or calibration error and reliability"},
      {P::chainwise_rhat, "Crhat", "chain-wise rank-normalised R̂"},
      {P::effective_size, "Ess", "bulk and tail effective sample size and split-R̂"},
      {P::chain_variance, "ChainVar", "variance between and within chains"},
      {P::densities, "PriorLogLik", "log prior and log-likelihood of the stored samples"},
      {P::outputs, "PredSaver", "writes the predictive draws"},
      {P::predictions, "Predict", "predictions, as part of the other evaluations"},
  };
};

}  // namespace smile
