// One row: the configuration, its checks, the estimates, the step-size search and the lists know the sampler.
#include "barker_sampler.hpp"
#include "smile/config/sampler_factory.hpp"

smile::SamplerRow barker_row() {
  return {.name = "sgbd",
          .doc = "stochastic gradient Barker dynamics (Mauri & Zanella 2024)",
          .unit = smile::StepUnit::rate_over_rows,
          .vectors = 8,
          .keys = {"temperature"},
          .make = smile::make_gradient_step<BarkerSampler>};
}
