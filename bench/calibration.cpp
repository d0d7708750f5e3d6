// SPDX-License-Identifier: Apache-2.0
// How right a sampler's draws are, as the tests of statistical_calibration measure it, for any sampler of a
// configuration:
//   bench_calibration sbc|moments linear|logistic|network N B REPLICATIONS STEPS KEY=VALUE …
// with the keys of `training.sampler`, and `compat=0.1`. A line of rank variances over that of a uniform
// (below 1: too wide), or of temperatures E(x − μ)²/variance.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "smile/error.hpp"
#include "support/calibration.hpp"

int main(int argc, char** argv) try {
  using namespace smile;
  if (argc < 7) {
    fmt::print(stderr,
               "bench_calibration sbc|moments linear|logistic|network N B REPLICATIONS STEPS KEY=VALUE …\n");
    return 2;
  }
  const std::string what = argv[1], which = argv[2];
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  const std::size_t rows = number(3), batch = number(4);
  const test::CalibrationModel model = which == "linear"     ? test::linear_regression(rows, batch)
                                       : which == "logistic" ? test::logistic_regression(rows, batch)
                                                             : test::small_network(rows, batch);
  std::string sampler, said;
  for (int i = 7; i < argc; ++i) {
    std::string setting = argv[i];
    said += " " + setting;
    setting.replace(setting.find('='), 1, ": ");
    sampler += setting + "\n";
  }
  fmt::print("{} N={} B={}{} |", model.name, rows, batch, said);
  const int replications = int(number(5));
  if (what == "sbc") {
    const auto result = test::simulation_based_calibration(model, sampler, replications, 4000, number(6));
    for (const test::Group& group : result.groups)
      fmt::print(" {} {:.2f} (worst {:.2f})", group.name, group.mean, group.worst);
    fmt::print(" | standard error {:.2f}, chi2/df {:.2f}\n", result.standard_error, result.chi2_per_df);
  } else {
    for (const test::Temperature& group : test::temperatures(model, sampler, replications, 10000, number(6)))
      fmt::print(" {} {:.3f} ± {:.3f} (thermometer {:.3f})", group.name, group.value, group.standard_error,
                 group.thermometer);
    fmt::print("\n");
  }
} catch (const smile::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
