// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "smile/error.hpp"
#include "smile/experiment/estimate.hpp"

#include <chrono>

#include "smile/experiment/pipeline.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

using test::TemporaryFolder;

Config config_with(const std::string& sampler) {
  return parse_config("data: {path: x.data, task: mean_regr}\ntraining:\n  sampler: {" + sampler + "}\n",
                      "c.yaml");
}

TEST(RunEstimate, counts_parameters_draws_and_bytes) {
  Config config = config_with("n_chains: 3, n_samples: 100, n_thinning: 8, burn_in: 2, warmup_steps: 50");
  const RunEstimate e = estimate_run(config, 1000, 5, 2);
  // 5·16 + 16 + 2 (16·16 + 16) + 16 + 1 parameters and log σ.
  EXPECT_EQ(e.dimension, 658U);
  EXPECT_EQ(e.stored_per_chain, 11U);  // 13 less 2
  EXPECT_EQ(e.chains_at_once, 2U);
  EXPECT_EQ(e.draws_bytes, 3 * 13 * 658 * 4);
  EXPECT_EQ(e.members_bytes, 3 * 658 * 4);
  EXPECT_EQ(e.outputs_bytes, 0);
  config = config_with(
      "n_chains: 3, n_samples: 100, n_thinning: 8, keep_warmup: true, warmup_steps: 50, draws_dtype: "
      "bfloat16");
  const RunEstimate half = estimate_run(config, 1000, 5, 2);
  EXPECT_EQ(half.draws_bytes, 3 * (13 + 7) * 658 * 2);
  config.evaluations.push_back(EvaluationPart::outputs);
  const RunEstimate saver =
      estimate_run(config, RunSize{.dimension = 658, .training_rows = 1000, .outputs_of_draw = 200}, 2);
  EXPECT_EQ(saver.outputs_bytes, 3 * 13 * 200 * 4);
  EXPECT_DOUBLE_EQ(saver.disk_bytes,
                   saver.draws_bytes + saver.warmstart_bytes + saver.checkpoint_bytes + saver.outputs_bytes);
}

/// The samplers' own definitions: adasghmc's averages take a gradient that is there; every 50th step of the
/// turning-angle rule, and every step with energy fresh, evaluates one more, where it opens with a momentum
/// update.
TEST(RunEstimate, counts_gradients_as_the_samplers_do) {
  const auto gradients = [](const std::string& sampler) {
    return estimate_run(config_with("warmup_steps: 60, n_samples: 100, " + sampler), 1000, 5, 2)
        .gradients_per_chain;
  };
  EXPECT_EQ(gradients("name: adasghmc"), 160U);
  EXPECT_EQ(gradients("name: rmsprop-sghmc"), 160U);
  EXPECT_EQ(gradients("name: sgld"), 160U);
  EXPECT_EQ(gradients("name: psmile"), 320U);
  EXPECT_EQ(gradients("name: psmile-auto"), 160U);
  EXPECT_EQ(gradients("name: psmile-auto, integrator: mclachlan"), 323U);
  EXPECT_EQ(gradients("name: psmile, energy: fresh"), 480U);
  EXPECT_EQ(gradients("name: psmile, energy: fresh, integrator: position-verlet"), 160U);
  EXPECT_EQ(gradients("name: mclmc, integrator: three-stage"), 480U);
}

/// Members that are read cost no training, whichever key names them.
TEST(RunEstimate, only_members_in_training_cost_training) {
  const auto estimate = [](const auto& change) {
    Config config = config_with("n_chains: 3");
    change(config.training.warmstart);
    return estimate_run(config, 1000, 5, 2);
  };
  const RunEstimate trained = estimate([](WarmstartConfig&) {});
  EXPECT_GT(trained.warmstart_seconds, 0);
  EXPECT_GT(trained.optimiser_bytes, 0);
  for (const RunEstimate& read : {estimate([](WarmstartConfig& w) { w.include = false; }),
                                  estimate([](WarmstartConfig& w) { w.warmstart_exp_dir = "run"; }),
                                  estimate([](WarmstartConfig& w) { w.warmstart_files = {"net.pt"}; })}) {
    EXPECT_EQ(read.warmstart_seconds, 0);
    EXPECT_EQ(read.optimiser_bytes, 0);
  }
}

/// Scenario: 11 million parameters, 8 chains, 100 kept draws.
TEST(RunEstimate, memory_does_not_depend_on_the_number_of_draws) {
  const RunSize size{.dimension = 11'000'000, .training_rows = 40'000};
  const RunEstimate few = estimate_run(config_with("n_chains: 8, n_samples: 100, n_thinning: 100"), size, 2);
  const RunEstimate many =
      estimate_run(config_with("n_chains: 8, n_samples: 10000, n_thinning: 100"), size, 2);
  EXPECT_EQ(few.memory_bytes, many.memory_bytes);
  EXPECT_EQ(many.draws_bytes, 8 * 100 * 11e6 * 4);
  EXPECT_GT(many.memory_bytes, 8 * 11e6 * 4 + 2 * 10 * 11e6 * 4);
  EXPECT_EQ(many.sampling_seconds, 0) << "not known";
  EXPECT_LT(few.memory_bytes, estimate_run(config_with("n_chains: 8"), size, 4).memory_bytes);
}

/// One device: chains side by side as far as its memory allows, else in turn.
TEST(RunEstimate, chains_share_the_memory_of_a_device) {
  const Config config = config_with("n_chains: 8");
  const auto on_device = [&](double bytes) {
    return estimate_run(
        config,
        RunSize{
            .dimension = 10'000'000, .training_rows = 40'000, .workspace_bytes = 1e9, .device_bytes = bytes},
        16);
  };
  const double one = on_device(1e12).chain_bytes;
  EXPECT_EQ(one, 18 * 4e7 + 1e9);
  EXPECT_EQ(on_device(1e12).chains_at_once, 8U);
  EXPECT_EQ(on_device(std::numeric_limits<double>::infinity()).chains_at_once, 8U);
  EXPECT_EQ(on_device(3.5 * one).chains_at_once, 3U);
  EXPECT_EQ(on_device(1.2 * one).chains_at_once, 1U);
  const RunEstimate none = on_device(one);
  EXPECT_EQ(none.chains_at_once, 0U);
  try {
    refuse_what_does_not_fit(none, {1e15, 1e15}, "results/run");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("of the device's memory"), std::string::npos) << error.what();
  }
}

TEST(Resources, what_does_not_fit_is_refused_with_its_parts) {
  const RunSize size{.dimension = 1'000'000, .training_rows = 1000, .data_bytes = 1e15};
  const RunEstimate e = estimate_run(config_with("n_chains: 4, n_samples: 1000, n_thinning: 1"), size, 4);
  const auto refusal = [&](double memory, double disk) {
    try {
      refuse_what_does_not_fit(e, {memory, disk}, "results/run");
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), "results/run");
      EXPECT_EQ(error.exit_status(), 1);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(1e12, 1e12), "") << "data that is in memory already does not count";
  const std::string memory = refusal(200e6, 1e12);
  EXPECT_NE(
      memory.find("the run needs 336.0 MB of memory (4 members: 16.0 MB; 4 chains at once, 72.0 MB each) and "
                  "200.0 MB are available; give --threads 2"),
      std::string::npos)
      << memory;
  EXPECT_NE(refusal(50e6, 1e12).find("lower n_chains, take a smaller network, or free memory"),
            std::string::npos);
  const std::string disk = refusal(1e12, 15e9);
  EXPECT_NE(
      disk.find(
          "the run needs 16.4 GB on disk (draws 16.0 GB, members 16.0 MB, checkpoints 336.0 MB) and 15.0 "
          "GB are free; raise n_thinning"),
      std::string::npos)
      << disk;
}

TEST(Resources, of_this_machine_are_known) {
  const TemporaryFolder folder;
  const AvailableResources here = available_resources(folder / "not/there/yet");
  EXPECT_GT(here.memory_bytes, 1e6);
  EXPECT_LT(here.memory_bytes, 1e15);
  EXPECT_GT(here.disk_bytes, 1e3);
  EXPECT_LT(here.disk_bytes, 1e18);
}

/// A rate that was measured takes the place of the assumed one, also where nothing is known of a network's
/// arithmetic.
TEST(Estimate, TakesTheRateThatWasMeasured) {
  RunSize size{.dimension = 658, .training_rows = 1000};
  const Config config = config_with("n_chains: 2, batch_size: 100, warmup_steps: 1000, n_samples: 1000");
  EXPECT_EQ(estimate_run(config, size, 2).sampling_seconds, 0);
  size.seconds_per_row = 1e-5;
  const RunEstimate slow = estimate_run(config, size, 2);
  EXPECT_NEAR(slow.sampling_seconds, 2000 * 100 * 1e-5, 0.1 * 2000 * 100 * 1e-5);
  EXPECT_GT(slow.warmstart_seconds, 0);
  size.flops_per_row = 1;
  EXPECT_EQ(estimate_run(config, size, 2).sampling_seconds, slow.sampling_seconds);
}

/// The same machine, in one go: an estimate is of the right order (a factor 10, since other programs run
/// beside the tests; a factor 3 on an idle machine).
TEST(Estimate, OfACheckIsOfTheOrderOfTheRun) {
  test::TemporaryFolder folder;
  const Config config = parse_config(
      "data: {path: " SMILE_SOURCE_DIR
      "/data/uci/airfoil.data, task: mean_regr}\ntraining: {warmstart: "
      "{max_epochs: 3}, sampler: {n_chains: 1, warmup_steps: 20000, n_samples: 20000, n_thinning: 100}}\n",
      "config.yaml");
  const double expected = check_run(config, 1).estimate.sampling_seconds;
  RunOptions options;
  options.out = (folder / "run").string();
  options.threads = 1;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(run_experiment(config, options).exit_status(), 0);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GT(expected, seconds / 10);
  EXPECT_LT(expected, seconds * 10);
}

}  // namespace
}  // namespace smile
