// SPDX-License-Identifier: Apache-2.0
// A run at temperature T samples posterior^(1/T): on a linear model with known noise, whose posterior is a
// Gaussian, the variances are T times those at T = 1. For samplers with a temperature of their own and for
// those whose target is tempered. (The -naive samplers keep the noise of their mini-batches, which a cold
// posterior makes relatively larger.)
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "smile/config/config.hpp"
#include "smile/ensemble/chain_files.hpp"
#include "smile/experiment/pipeline.hpp"
#include "smile/files/draws.hpp"
#include "smile/random/stream.hpp"
#include "smile/run/run_paths.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

constexpr double kTemperature = 0.25;

struct Case {
  const char *sampler, *keys;
};
std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.sampler;
}

class Temperature : public testing::TestWithParam<Case> {
 protected:
  test::TemporaryFolder folder_;

  void SetUp() override {
    Stream stream({.seed = 21, .purpose = Purpose::split});
    std::ofstream file(folder_ / "table.csv");
    file << "a,b,y\n";
    for (int r = 0; r < 100; ++r) {
      const double a = stream.normal(), b = 0.5 * a + stream.normal();
      file << a << ',' << b << ',' << 0.7 * a - 0.2 * b + stream.normal() << '\n';
    }
  }
  /// Of the three parameters that move.
  std::vector<double> variances(double temperature) {
    const Config config = parse_config(
        "rng: 5\ndata: {path: " + (folder_ / "table.csv").string() +
            ", task: mean_regr}\nmodel: {hidden_structure: [1]}\ntraining:\n  sampler:\n    name: " +
            GetParam().sampler + "\n    n_chains: 1\n    params_frozen: [log_sigma]\n    temperature: " +
            std::to_string(temperature) + "\n" + GetParam().keys + "",
        "config.yaml");
    RunOptions options;
    options.out = (folder_ / ("run-" + std::to_string(temperature))).string();
    EXPECT_EQ(run_experiment(config, options).exit_status(), 0);
    DrawsReader draws(draws_path(options.out, 0));
    const std::size_t d = draws.columns(), n = draws.rows();
    std::vector<float> row(d);
    std::vector<double> sum(d), squares(d), out(d);
    for (std::size_t i = 0; i < n; ++i) {
      draws.read(i, std::span<float>(row));
      for (std::size_t j = 0; j < d; ++j)
        sum[j] += double(row[j]), squares[j] += double(row[j]) * double(row[j]);
    }
    for (std::size_t j = 0; j < d; ++j)
      out[j] = squares[j] / double(n) - (sum[j] / double(n)) * (sum[j] / double(n));
    return out;
  }
};

/// Effective sample sizes are above 1,000: a ratio's standard error is below 6 %, so that four of them are
/// allowed (a false alarm in 5,000 of a coordinate); without temperature it would be 4.
TEST_P(Temperature, ScalesTheVariances) {
  const auto warm = variances(1), cold = variances(kTemperature);
  ASSERT_EQ(warm.size(), 3u);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(cold[j] / warm[j] / kTemperature, 1, 0.25) << j;
}

constexpr const char* kTransitions = "    warmup_steps: 500\n    n_samples: 4000\n    n_thinning: 1\n";
INSTANTIATE_TEST_SUITE_P(
    Samplers, Temperature,
    testing::Values(Case{"hmc", kTransitions}, Case{"nuts", kTransitions}, Case{"mams", kTransitions},
                    Case{"mclmc", "    n_samples: 40000\n    n_thinning: 10\n    warmup_steps: 4000\n"},
                    Case{"laplace", "    n_samples: 4000\n"},
                    Case{"ivon", "    n_samples: 4000\n    batch_size: null\n"},
                    Case{"psmile-auto", "    batch_size: 20\n    n_samples: 100000\n"},
                    Case{"adasghmc", "    batch_size: null\n    n_samples: 100000\n    step_size: 0.02\n"},
                    Case{"sgld", "    batch_size: null\n    n_samples: 100000\n    step_size: 0.001\n"}),
    [](const auto& one) {
      std::string name = one.param.sampler;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace smile
