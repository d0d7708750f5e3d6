// SPDX-License-Identifier: Apache-2.0
// A chain in memory, and the one rule by which chains fail.
#include "smile/ensemble/chain.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "smile/files/draws.hpp"
#include "smile/random/stream.hpp"
#include "toy.hpp"

namespace smile {
namespace {

constexpr SamplingPlan kPlan{50, 70};

std::vector<float> position_of(const Chain& chain) {
  const auto x = chain.position().span();
  return {x.begin(), x.end()};
}

std::vector<std::vector<float>> positions(Chain& chain, std::uint64_t until) {
  std::vector<std::vector<float>> out;
  chain.advance(until, [&](const StepReport&, std::uint64_t) {
    out.push_back(position_of(chain));
    return true;
  });
  return out;
}

/// What a program that embeds the library does: a density, a sampler, draws.
TEST(Chain, in_memory_leaves_what_an_ensemble_leaves_in_files) {
  for (const char* sampler : {"psmile-auto", "smile-refreshed", "mclmc", "sghmc", "adasghmc"}) {
    SCOPED_TRACE(sampler);
    const toy::Folder folder;
    const EnsembleOptions options = toy::options_for(folder.path(), 1, 1);
    const auto records =
        run_ensemble(options, [&](std::uint32_t chain) { return toy::make_chain(sampler, kPlan, chain); });
    const ChainInMemory chain =
        run_in_memory(toy::make_chain(sampler, kPlan, 0), {.seed = options.seed}, options.thinning);
    EXPECT_EQ(chain.record.status, ChainStatus::complete);
    EXPECT_EQ(chain.record.stored, records[0].stored);
    EXPECT_EQ(chain.record.tuned, records[0].tuned);
    EXPECT_EQ(chain.record.monitor.warmup.gradients, records[0].monitor.warmup.gradients);
    const DrawsReader file(draws_path(folder.path(), 0));
    ASSERT_EQ(chain.draws.size(), file.rows() * file.columns());
    std::vector<float> row(file.columns());
    for (std::size_t i = 0; i < file.rows(); ++i) {
      file.read(i, row);
      EXPECT_EQ(row, std::vector<float>(chain.draws.begin() + std::ptrdiff_t(i * row.size()),
                                        chain.draws.begin() + std::ptrdiff_t((i + 1) * row.size())));
    }
  }
}

TEST(Chain, stops_where_its_sink_says_and_goes_on_bit_for_bit) {
  Chain whole(toy::make_chain("psmile-auto", kPlan, 3), {.seed = 5, .chain = 3});
  const auto all = positions(whole, 1000);
  EXPECT_EQ(whole.record().status, ChainStatus::complete);
  EXPECT_EQ(whole.record().step, 120u) << "no further than the sampler's last step";

  Chain first(toy::make_chain("psmile-auto", kPlan, 3), {.seed = 5, .chain = 3});
  first.advance(1000, [](const StepReport&, std::uint64_t t) { return t < 63; });
  EXPECT_EQ(first.record().step, 63u);
  EXPECT_EQ(first.record().status, ChainStatus::running);
  Chain second(toy::make_chain("psmile-auto", kPlan, 3), {.seed = 5, .chain = 3});
  ASSERT_TRUE(second.restore(first.record(), first.state()));
  EXPECT_EQ(positions(second, 1000), std::vector(all.begin() + 63, all.end()));
}

TEST(Chain, samples_from_the_start_of_its_warm_up_where_it_is_asked_to) {
  for (const char* name : {"psmile-auto", "mclmc"}) {
    ChainSetup setup = toy::make_chain(name, kPlan, 3);
    setup.returns_after_warmup = true;
    const std::vector<float> start(setup.start.span().begin(), setup.start.span().end());
    Chain chain(std::move(setup), {.seed = 5, .chain = 3});
    chain.advance(kPlan.warmup_steps - 1, [](const StepReport&, std::uint64_t) { return true; });
    EXPECT_NE(position_of(chain), start);
    chain.advance(kPlan.warmup_steps, [](const StepReport&, std::uint64_t) { return true; });
    EXPECT_EQ(position_of(chain), start);
    Chain second(toy::make_chain(name, kPlan, 3), {.seed = 5, .chain = 3});
    ASSERT_TRUE(second.restore(chain.record(), chain.state()));
    EXPECT_EQ(positions(second, 1000), positions(chain, 1000));
  }
}

/// Steps from `bad` on are not finite.
Chain breaking(std::uint64_t bad, double fraction, const SamplingPlan& plan) {
  ChainSetup setup = toy::make_chain("smile", plan, 0);
  auto target = std::make_unique<toy::NoisyGaussian>(0);
  target->breaks_from = bad;
  setup.target = std::move(target);
  return Chain(std::move(setup), {.failure = {fraction}});
}
constexpr auto kGoOn = [](const StepReport&, std::uint64_t) { return true; };

TEST(Chain, fails_at_the_step_at_which_too_many_of_the_last_hundred_were_not_finite) {
  Chain chain = breaking(301, 0.25, {100, 900});
  chain.advance(1000, kGoOn);
  EXPECT_EQ(chain.record().step, 326u);
  EXPECT_EQ(chain.record().reason, "26 of its last 100 steps before step 326 were not finite (log-density)");
  Chain young = breaking(31, 0.25, {20, 20});
  young.advance(40, kGoOn);
  EXPECT_FALSE(young.failed()) << "10 of 40 are not more than a quarter";
  Chain worse = breaking(30, 0.25, {20, 20});
  worse.advance(40, kGoOn);
  EXPECT_EQ(worse.record().reason, "11 of its last 40 steps before step 40 were not finite (log-density)");
}

TEST(FailureRule, allows_what_is_not_more_than_its_share) {
  EXPECT_EQ(FailureRule{0.5}.allowed(1000), 50u);
  EXPECT_EQ(FailureRule{0.29}.allowed(100), 29u);  // 0.29·100 is below 29 in floating point
  EXPECT_EQ(FailureRule{0.5}.allowed(7), 3u);
  EXPECT_EQ(FailureRule{0}.allowed(100), 0u);
  EXPECT_EQ(FailureRule{1}.allowed(100), 100u);
  EXPECT_EQ(FailureRule{0.5}.allowed(0), 0u);
}

StepReport report_of(bool bad) {
  StepReport report;
  if (bad) report.refusal = Refusal::position;
  return report;
}

/// Bundles of chains go by the same rule: the window slides.
TEST(FailureWatch, agrees_with_counting) {
  Stream stream({3, 0, Purpose::noise});
  for (const double share : {0.05, 0.2, 0.3, 0.5}) {
    const FailureRule rule{0.3};
    FailureWatch<double> watch(rule);
    std::deque<bool> last;
    bool failed = false;
    for (std::uint64_t t = 1; t <= 1000; ++t) {
      const bool bad = stream.uniform() < share;
      last.push_back(bad);
      if (last.size() > FailureRule::kWindow) last.pop_front();
      const auto count = std::count(last.begin(), last.end(), true);
      failed = failed || (t >= 100 && double(count) / 100 > rule.max_nonfinite_fraction);
      watch.add(report_of(bad), t);
      ASSERT_EQ(watch.failed_chains(), failed) << "step " << t;
    }
    EXPECT_EQ(failed, share >= 0.3);
  }
}

TEST(FailureWatch, sees_a_burst_across_two_hundreds_and_judges_the_young_at_their_end) {
  FailureWatch<double> watch({0.5});
  for (std::uint64_t t = 1; t <= 300; ++t) watch.add(report_of(t > 170 && t <= 230), t);
  EXPECT_TRUE(watch.failed_chains());
  EXPECT_TRUE(watch.failed());
  FailureWatch<double> young({0.5});
  for (std::uint64_t t = 1; t <= 20; ++t) young.add(report_of(t > 9), t);
  EXPECT_FALSE(young.failed_chains());
  young.conclude(20);
  EXPECT_TRUE(young.failed_chains());
}

}  // namespace
}  // namespace smile
