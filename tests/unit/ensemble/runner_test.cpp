// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sstream>

#include "smile/ensemble/checkpoint.hpp"
#include "smile/ensemble/stream_normals.hpp"
#include "smile/error.hpp"
#include "smile/files/npy.hpp"
#include "toy.hpp"

namespace smile {
namespace {

using toy::bytes_of;
using toy::Folder;
using toy::options_for;

const SamplingPlan kPlan{400, 700};

std::vector<ChainRecord> run(const EnsembleOptions& options, const std::string& sampler = "psmile-auto") {
  return run_ensemble(options, [&](std::uint32_t chain) { return toy::make_chain(sampler, kPlan, chain); });
}

void expect_same_files(const std::filesystem::path& a, const std::filesystem::path& b, std::uint32_t chain) {
  ASSERT_FALSE(bytes_of(draws_path(a, chain)).empty());
  EXPECT_TRUE(bytes_of(draws_path(a, chain)) == bytes_of(draws_path(b, chain))) << "draws of chain " << chain;
  EXPECT_TRUE(bytes_of(warmup_draws_path(a, chain)) == bytes_of(warmup_draws_path(b, chain)));
  EXPECT_TRUE(bytes_of(trace_path(a, chain)) == bytes_of(trace_path(b, chain))) << "trace of chain " << chain;
  EXPECT_TRUE(bytes_of(monitor_path(a, chain)) == bytes_of(monitor_path(b, chain)));
}

TEST(EnsembleRunner, DrawsDoNotDependOnTheNumberOfThreads) {
  Folder one, two, seven;
  run(options_for(one.path(), 5, 1));
  run(options_for(two.path(), 5, 2));
  run(options_for(seven.path(), 5, 7));
  for (std::uint32_t c = 0; c < 5; ++c) {
    expect_same_files(one.path(), two.path(), c);
    expect_same_files(one.path(), seven.path(), c);
  }
  EXPECT_NE(bytes_of(draws_path(one.path(), 0)), bytes_of(draws_path(one.path(), 1)));
}

TEST(EnsembleRunner, AChainDoesNotDependOnWhichOthersRun) {
  Folder all, some;
  run(options_for(all.path(), 4, 2));
  EnsembleOptions options = options_for(some.path(), 0, 1);
  options.chains = {3, 1};
  const auto records = run(options);
  EXPECT_EQ(records[0].chain, 3u);
  expect_same_files(all.path(), some.path(), 3);
  expect_same_files(all.path(), some.path(), 1);
  EXPECT_FALSE(std::filesystem::exists(draws_path(some.path(), 0)));
}

TEST(EnsembleRunner, StoresTheStepsThatTheSpecNames) {
  Folder folder;
  EnsembleOptions options = options_for(folder.path(), 1, 1);
  const auto records = run(options);
  // t = 0, 3, 6, … below 700; and likewise in warm-up.
  EXPECT_EQ(records[0].stored, 234u);
  EXPECT_EQ(NpyRows(draws_path(folder.path(), 0)).rows(), 234u);
  EXPECT_EQ(NpyRows(warmup_draws_path(folder.path(), 0)).rows(), 134u);
  EXPECT_EQ(records[0].monitor.warmup.steps, 400u);
  EXPECT_EQ(records[0].monitor.sampling.steps, 700u);

  // The first draw is the state after the first step of the sampling phase, the second three steps later.
  auto setup = toy::make_chain("psmile-auto", kPlan, 0);
  StreamNormals<ChainVector> normals(42, 0);
  setup.sampler->start(setup.start, *setup.target, normals);
  const NpyRows rows(draws_path(folder.path(), 0));
  for (std::uint64_t t = 1; t <= 404; ++t) {
    setup.sampler->step(*setup.target, normals, t);
    if (t != 401 && t != 404) continue;
    const auto row = rows.row(t == 401 ? 0 : 1);
    for (std::size_t i = 0; i < toy::kDimension; ++i) ASSERT_EQ(row[i], setup.sampler->position()[i]);
  }
}

class Resumes : public testing::TestWithParam<std::string> {};

TEST_P(Resumes, ToTheSameBytesAfterStopsAnywhere) {
  Folder whole, broken;
  run(options_for(whole.path(), 2, 1), GetParam());

  EnsembleOptions options = options_for(broken.path(), 2, 1);
  std::atomic<bool> stop{false};
  options.stop = &stop;
  int stops = 0;
  for (;; ++stops) {
    ASSERT_LT(stops, 100);
    stop = false;
    options.resume = stops > 0;
    // Every session is stopped by its own target, after a number of evaluations that differs from session to
    // session; one of them falls into each phase.
    const std::uint64_t after = 97 + 61 * std::uint64_t(stops);
    const auto records = run_ensemble(options, [&](std::uint32_t chain) {
      auto setup = toy::make_chain(GetParam(), kPlan, chain);
      static_cast<toy::NoisyGaussian&>(*setup.target).on_evaluation = [&stop, after](std::uint64_t n) {
        if (n == after) stop = true;
      };
      return setup;
    });
    if (records[0].status == ChainStatus::complete && records[1].status == ChainStatus::complete) break;
  }
  EXPECT_GE(stops, 3);
  expect_same_files(whole.path(), broken.path(), 0);
  expect_same_files(whole.path(), broken.path(), 1);
}

INSTANTIATE_TEST_SUITE_P(Samplers, Resumes,
                         testing::Values("smile", "psmile", "psmile-auto", "psmile-refreshed", "mclmc",
                                         "sgld", "sghmc", "sgnht", "adasghmc"));

TEST(EnsembleRunner, MonitorsSurviveAResume) {
  Folder whole, broken;
  const auto expected = run(options_for(whole.path(), 1, 1));
  EnsembleOptions options = options_for(broken.path(), 1, 1);
  std::atomic<bool> stop{false};
  options.stop = &stop;
  run_ensemble(options, [&](std::uint32_t chain) {
    auto setup = toy::make_chain("psmile-auto", kPlan, chain);
    static_cast<toy::NoisyGaussian&>(*setup.target).on_evaluation = [&](std::uint64_t n) {
      stop = n >= 1500;
    };
    return setup;
  });
  stop = false;
  options.resume = true;
  const auto resumed = run(options);
  EXPECT_EQ(expected[0].monitor.sampling.refused(), resumed[0].monitor.sampling.refused());
  EXPECT_GT(resumed[0].monitor.sampling.refused(), 0u);
  EXPECT_EQ(expected[0].monitor.energy.counts, resumed[0].monitor.energy.counts);
  EXPECT_EQ(expected[0].monitor.sampling.log_step_size, resumed[0].monitor.sampling.log_step_size);
  EXPECT_EQ(expected[0].tuned, resumed[0].tuned);
}

TEST(EnsembleRunner, AChainThatBreaksFailsWithItsCauseAndTheOthersGoOn) {
  Folder folder;
  EnsembleOptions options = options_for(folder.path(), 3, 2);
  const auto make = [&](std::uint32_t chain) {
    auto setup = toy::make_chain("psmile", kPlan, chain);
    if (chain == 1) static_cast<toy::NoisyGaussian&>(*setup.target).breaks_from = 500;
    return setup;
  };
  const auto records = run_ensemble(options, make);
  EXPECT_EQ(records[0].status, ChainStatus::complete);
  EXPECT_EQ(records[2].status, ChainStatus::complete);
  EXPECT_EQ(records[1].status, ChainStatus::failed);
  EXPECT_NE(records[1].reason.find("log-density"), std::string::npos) << records[1].reason;
  // 51 of the last 100: the step after the 50th non-finite one.
  EXPECT_EQ(records[1].step, 550u);
  // A failed chain stays failed: going on would give the same.
  options.resume = true;
  const auto again = run_ensemble(options, make);
  EXPECT_EQ(again[1].status, ChainStatus::failed);
  EXPECT_EQ(again[1].reason, records[1].reason);
}

TEST(EnsembleRunner, AShortChainThatNeverMovesFails) {
  Folder folder;
  EnsembleOptions options = options_for(folder.path(), 1, 1);
  const SamplingPlan plan{20, 40};  // fewer than the hundred steps that are looked at while it runs
  const auto records = run_ensemble(options, [&](std::uint32_t chain) {
    auto setup = toy::make_chain("psmile", plan, chain);
    static_cast<toy::NoisyGaussian&>(*setup.target).breaks_from = 1;
    return setup;
  });
  EXPECT_EQ(records[0].status, ChainStatus::failed);
  EXPECT_NE(records[0].reason.find("log-density"), std::string::npos) << records[0].reason;
}

/// Stops a chain half way.
EnsembleOptions stopped(const Folder& folder) {
  EnsembleOptions options = options_for(folder.path(), 1, 1);
  std::atomic<bool> stop{false};
  options.stop = &stop;
  run_ensemble(options, [&](std::uint32_t chain) {
    auto setup = toy::make_chain("psmile", kPlan, chain);
    static_cast<toy::NoisyGaussian&>(*setup.target).on_evaluation = [&](std::uint64_t n) { stop = n >= 900; };
    return setup;
  });
  options.stop = nullptr;
  options.resume = true;
  return options;
}

TEST(EnsembleRunner, GoesOnWhereATraceIsShort) {
  Folder whole, broken;
  run(options_for(whole.path(), 1, 1), "psmile");
  EnsembleOptions options = stopped(broken);
  const auto path = trace_path(broken.path(), 0);
  const std::string before = bytes_of(path);
  std::filesystem::resize_file(path, before.size() / 2);
  std::filesystem::remove(monitor_path(broken.path(), 0));
  std::vector<std::string> remarks;
  options.on_message = [&](const std::string& text) { remarks.push_back(text); };
  EXPECT_EQ(run(options, "psmile")[0].status, ChainStatus::complete);
  EXPECT_EQ(remarks.size(), 2u);
  EXPECT_TRUE(bytes_of(draws_path(whole.path(), 0)) == bytes_of(draws_path(broken.path(), 0)));
  // Whole lines only, those before the gap and those after it.
  const std::string expected = bytes_of(trace_path(whole.path(), 0)), got = bytes_of(path);
  const std::string kept = before.substr(0, before.rfind('\n', before.size() / 2 - 1) + 1);
  EXPECT_TRUE(got == kept + expected.substr(before.size()));
  EXPECT_TRUE(bytes_of(monitor_path(broken.path(), 0)).starts_with("step,"));
}

TEST(EnsembleRunner, RefusesACheckpointWithMoreStateThanTheSamplerHas) {
  Folder folder;
  const EnsembleOptions options = stopped(folder);
  const auto path = checkpoint_path(folder.path(), 0);
  auto checkpoint = ensemble::read_checkpoint_file(path);
  checkpoint.sampler.push_back('x');
  ensemble::write_checkpoint(path, checkpoint);
  EXPECT_THROW(run(options, "psmile"), Error);
}

TEST(EnsembleRunner, RefusesACheckpointOfAnotherConfiguration) {
  Folder folder;
  EnsembleOptions options = options_for(folder.path(), 1, 1);
  run(options);
  options.resume = true;
  options.digest = "other";
  try {
    run(options);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("another configuration"), std::string::npos);
    EXPECT_EQ(error.exit_status(), 1);
  }
}

TEST(EnsembleRunner, MonitorsKnowHowLongTheVelocityRemembers) {
  Folder folder;
  const SamplingPlan plan{1000, 3000};
  run_ensemble(options_for(folder.path(), 1, 1),
               [&](std::uint32_t chain) { return toy::make_chain("psmile", plan, chain); });
  // The row of step 3,000 has u_{2000}·u_{2000+k}, which an independent walk through the same steps confirms.
  auto setup = toy::make_chain("psmile", plan, 0);
  StreamNormals<ChainVector> normals(42, 0);
  setup.sampler->start(setup.start, *setup.target, normals);
  ChainVector reference, now;
  std::vector<double> expected;
  for (std::uint64_t t = 1; t <= 2256; ++t) {
    setup.sampler->step(*setup.target, normals, t);
    if (t == 2000) {
      ASSERT_TRUE(setup.sampler->velocity(reference));
    }
    if (t != 2001 && t != 2016 && t != 2256) continue;
    setup.sampler->velocity(now);
    double dot = 0, norm = 0;
    for (std::size_t i = 0; i < toy::kDimension; ++i)
      dot += double(now[i]) * reference[i], norm += double(now[i]) * now[i];
    EXPECT_NEAR(norm, 1, 1e-5);
    expected.push_back(dot);
  }
  std::istringstream lines(bytes_of(monitor_path(folder.path(), 0)));
  std::string line;
  bool found = false;
  while (std::getline(lines, line)) {
    if (!line.starts_with("3000,")) continue;
    found = true;
    std::vector<std::string> cells(1);
    for (const char c : line) c == ',' ? cells.emplace_back() : cells.back() += c;
    ASSERT_EQ(cells.size(), 17u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(std::stod(cells[11 + i]), expected[i], 1e-6);
  }
  EXPECT_TRUE(found);
}

TEST(EnsembleRunner, TracesAreThinnedAndHaveEveryColumn) {
  Folder folder;
  EnsembleOptions options = options_for(folder.path(), 1, 1);
  const SamplingPlan plan{1000, 6000};
  run_ensemble(options, [&](std::uint32_t chain) { return toy::make_chain("psmile", plan, chain); });
  std::istringstream lines(bytes_of(trace_path(folder.path(), 0)));
  std::string line;
  std::getline(lines, line);
  const auto columns = std::count(line.begin(), line.end(), ',');
  std::size_t rows = 0;
  while (std::getline(lines, line)) {
    ++rows;
    ASSERT_EQ(std::count(line.begin(), line.end(), ','), columns) << line;
  }
  EXPECT_GE(rows, 1500u);
  EXPECT_LE(rows, 2001u);
}

}  // namespace
}  // namespace smile
