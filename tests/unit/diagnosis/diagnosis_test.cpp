// SPDX-License-Identifier: Apache-2.0
#include "smile/diagnosis/diagnosis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "run/provenance.hpp"
#include "smile/data/dataset.hpp"
#include "smile/ensemble/checkpoint.hpp"
#include "smile/ensemble/draw_check.hpp"
#include "smile/files/npy.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

/// A run of four chains of psmile (κ = 0.02) as its files say it, sound unless a test changes it.
class Diagnosis : public testing::Test {
 protected:
  Diagnosis() {
    folder.write(
        "config.yaml",
        "experiment_name: test\ndata:\n  path: nowhere.data\n  task: mean_regr\ntraining:\n  sampler:\n"
        "    name: psmile\n    step_size: 0.01\n    n_chains: 4\n    warmup_steps: 1000\n    n_samples: "
        "5000\n");
    folder.write("status.json", "{\"status\": \"complete\", \"version\": \"" + provenance::version() + "\"}");
    DatasetInfo info;
    info.train_rows.resize(100);
    save_dataset_info(info, folder / "dataset_splits.npz");
    for (const char* name : {"checkpoint", "samples", "eval"})
      std::filesystem::create_directories(folder / name);
    for (std::uint32_t c = 0; c < 4; ++c) {
      ChainRecord& r = records[c];
      r.chain = c;
      r.status = ChainStatus::complete;
      r.step = r.total_steps = 6000;
      r.warmup_steps = 1000;
      r.dimension = 3;
      r.seconds = 3;
      ChainMonitor& m = r.monitor;
      m.steps = 6000;
      m.warmup.steps = 1000, m.warmup.refusals = {980, 20};
      m.sampling.steps = 5000, m.sampling.refusals = {4900, 100};
      m.sampling.gradients = 10000;
      m.first_step_size = m.warmup_end_step_size = m.last_step_size = 0.01;
      m.smallest_step_size = 0.008, m.largest_step_size = 0.02;
      m.gamma_shape = 2, m.gamma_scale = 1;
      m.training_log_likelihood = -100 - c;
    }
  }

  const ChainDiagnosis& chain(std::uint32_t c) {
    for (ChainRecord& r : records) {
      auto file = NpyAppender::create(draws_path(folder.path(), r.chain), r.dimension);
      r.draws_crc32 = 0;
      for (r.stored = 0; r.stored < 24; ++r.stored) {
        const std::vector<float> draw{float(r.chain), float(r.stored), 1};
        file.append(draw);
        r.draws_crc32 = crc32_of(std::as_bytes(std::span<const float>(draw)), r.draws_crc32);
      }
      ensemble::Checkpoint checkpoint;
      checkpoint.record = r;
      ensemble::write_checkpoint(checkpoint_path(folder.path(), r.chain), checkpoint);
    }
    diagnosis = diagnose_run(folder.path());
    return diagnosis.chains.at(c);
  }
  static const Finding* find(const std::vector<Finding>& findings, const std::string& code) {
    const auto at = std::find_if(findings.begin(), findings.end(),
                                 [&](const Finding& f) { return name_of(f.cause) == code; });
    return at == findings.end() ? nullptr : &*at;
  }
  ChainMonitor& monitor(std::uint32_t c) { return records[c].monitor; }

  test::TemporaryFolder folder;
  ChainRecord records[4];
  RunDiagnosis diagnosis;
};

TEST_F(Diagnosis, OfSoundChainsIsSound) {
  const ChainDiagnosis& d = chain(2);
  EXPECT_EQ(d.verdict, Verdict::sound) << to_text(diagnosis);
  EXPECT_TRUE(d.findings.empty());
  EXPECT_DOUBLE_EQ(d.reset_frequency, 0.02);
  EXPECT_NEAR(d.expected_reset_frequency, 0.02, 1e-12);
  EXPECT_DOUBLE_EQ(d.seconds_per_step, 3.0 / 6000);
  EXPECT_EQ(diagnosis.count(Verdict::sound), 4u);
  EXPECT_NE(to_text(diagnosis).find("all 4 chains are sound"), std::string::npos);
  EXPECT_NE(to_text(diagnosis).find("chain 2: sound. 6000 steps, 24 draws, resets 2 % (expected 2 %)"),
            std::string::npos)
      << to_text(diagnosis);
}

TEST_F(Diagnosis, HoldsResetsAgainstKappaWhereTheCountCanTell) {
  monitor(1).sampling.refusals = {4600, 400};  // 8 %
  const Finding* finding = find(chain(1).findings, "resets");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->weight, Finding::Weight::warning);
  EXPECT_NE(finding->text.find("8 % of its sampling steps where 2 % are expected"), std::string::npos)
      << finding->text;
  EXPECT_EQ(diagnosis.chains[1].verdict, Verdict::doubtful);
  monitor(1).sampling.steps = 50;  // 4 resets of 50 where 1 is expected: chance
  monitor(1).sampling.refusals = {46, 4};
  EXPECT_FALSE(find(chain(1).findings, "resets"));
  monitor(1).sampling.steps = 5000;
  monitor(1).sampling.refusals = {4995, 5};
  finding = find(chain(1).findings, "few-resets");
  ASSERT_TRUE(finding);
  EXPECT_EQ(diagnosis.chains[1].verdict, Verdict::sound_with_remarks);
}

TEST_F(Diagnosis, NamesWhatWentWrongWithAChain) {
  monitor(0).sampling.refusals = {1000, 4000};                             // hardly moves
  monitor(1).smallest_step_size = 9e-5, monitor(1).last_step_size = 1e-4;  // drifted
  monitor(2).training_log_likelihood = -300;                               // far from the others
  monitor(3).sampling.refusals = {4700, 100, 0, 200, 0, 0};                // gradients not finite
  chain(0);
  EXPECT_TRUE(find(diagnosis.chains[0].findings, "stuck")) << to_text(diagnosis);
  EXPECT_FALSE(find(diagnosis.chains[0].findings, "resets")) << "said once";
  EXPECT_TRUE(diagnosis.chains[1].step_size_drifted);
  const Finding* drift = find(diagnosis.chains[1].findings, "step-size-drift");
  ASSERT_TRUE(drift);
  EXPECT_NE(drift->text.find("from 0.01 to 0.0001"), std::string::npos) << drift->text;
  EXPECT_TRUE(find(diagnosis.chains[2].findings, "blown-up"));
  const Finding* divergences = find(diagnosis.chains[3].findings, "divergences");
  ASSERT_TRUE(divergences);
  EXPECT_NE(divergences->text.find("200 of its 6000 steps were not finite and were refused: gradient (200)"),
            std::string::npos)
      << divergences->text;
  EXPECT_EQ(divergences->weight, Finding::Weight::warning);
  for (const ChainDiagnosis& d : diagnosis.chains) EXPECT_EQ(d.verdict, Verdict::doubtful) << d.chain;
  EXPECT_NE(to_text(diagnosis).find("0 of 4 chains are sound; doubtful: chains 0, 1, 2, 3"),
            std::string::npos);
}

TEST_F(Diagnosis, NamesChainsThatAllWentTheSameWrongWay) {
  for (std::uint32_t c = 0; c < 4; ++c) monitor(c).training_log_likelihood = -250;
  chain(0);
  EXPECT_EQ(diagnosis.count(Verdict::doubtful), 4u) << to_text(diagnosis);
  EXPECT_FALSE(find(diagnosis.chains[0].findings, "blown-up"));
  const Finding* nothing = find(diagnosis.chains[0].findings, "worse-than-nothing");
  ASSERT_TRUE(nothing);
  EXPECT_NE(nothing->text.find("a row -2.500, where -1.42 needs nothing learned"), std::string::npos)
      << nothing->text;
}

TEST_F(Diagnosis, FewDrawsAreTooFewToJudge) {
  folder.write("eval/chains.json", R"([
    {"chain": 0, "draws_evaluated": 10, "test_lppd": -0.4}, {"chain": 1, "draws_evaluated": 1, "test_lppd": -0.4},
    {"chain": 2, "draws_evaluated": 20, "test_lppd": -0.4}])");
  chain(0);
  EXPECT_EQ(diagnosis.chains[0].verdict, Verdict::unjudged);
  EXPECT_EQ(diagnosis.chains[1].verdict, Verdict::unjudged);
  EXPECT_EQ(diagnosis.chains[2].verdict, Verdict::sound) << "and chain 3 has stored enough";
  const Finding* few = find(diagnosis.chains[1].findings, "too-few-draws");
  ASSERT_TRUE(few);
  EXPECT_TRUE(few->text.starts_with("it has 1 draw, too few")) << few->text;
  EXPECT_NE(few->advice.find("burn_in"), std::string::npos) << "24 were stored";
  EXPECT_NE(to_text(diagnosis).find("2 of 4 chains are sound; too few draws to judge: chains 0, 1"),
            std::string::npos)
      << to_text(diagnosis);
  EXPECT_TRUE(chain_warnings(diagnosis).empty());
}

TEST_F(Diagnosis, StepsThatGoNowhereAreToBeRaised) {
  for (std::uint32_t c = 0; c < 4; ++c) {
    StepSums& s = monitor(c).sampling;
    monitor(c).first_step_size = monitor(c).last_step_size = monitor(c).warmup_end_step_size = 1e-12;
    monitor(c).smallest_step_size = monitor(c).largest_step_size = 1e-12;
    s.turned = 5000, s.turn_angle = 5000 * 1e-11;
  }
  const Finding* small = find(chain(0).findings, "hardly-turns");
  ASSERT_TRUE(small) << to_text(diagnosis);
  EXPECT_EQ(small->advice, "raise step_size");
  const auto said = chain_warnings(diagnosis);
  EXPECT_NE(std::find_if(said.begin(), said.end(),
                         [](const std::string& w) {
                           return w.starts_with("chains 0, 1, 2, 3: their steps are so small");
                         }),
            said.end());
  // A thousandth of a radian is enough where there are many steps.
  for (std::uint32_t c = 0; c < 4; ++c) {
    StepSums& s = monitor(c).sampling;
    s.steps = s.turned = 5000000, s.refusals = {4900000, 100000}, s.turn_angle = 5000000 * 9e-4;
  }
  EXPECT_FALSE(find(chain(0).findings, "hardly-turns"));
}

TEST_F(Diagnosis, ASearchThatBeganFarTooHighIsNamedAsTheCause) {
  std::string config = test::content_of(folder / "config.yaml");
  folder.write("config.yaml", config.replace(config.find("psmile"), 6, "psmile-auto"));
  monitor(1).first_step_size = monitor(1).largest_step_size = 1e3;
  monitor(1).training_log_likelihood = -1.1e22;
  chain(0);
  const Finding* began = find(diagnosis.chains[1].findings, "began-too-large");
  ASSERT_TRUE(began) << to_text(diagnosis);
  EXPECT_TRUE(began->advice.starts_with("lower step_size")) << began->advice;
  EXPECT_NE(to_text(diagnosis).find("-1.100e+20"), std::string::npos) << to_text(diagnosis);
}

TEST_F(Diagnosis, SamplingWorseThanNoNetworkIsSaidOfTheRun) {
  folder.write("eval/metrics.json",
               R"({"metrics": [{"name": "LPPD", "ensemble_initialization": -0.4, "sampling": -6.7e23}]})");
  chain(0);
  ASSERT_TRUE(find(diagnosis.findings, "worse-than-no-network")) << to_text(diagnosis);
  EXPECT_FALSE(find(diagnosis.findings, "worse-than-start")) << "said once";
  EXPECT_NE(run_warnings(diagnosis).at(0).find("LPPD -6.700e+23, where -1.42"), std::string::npos)
      << run_warnings(diagnosis).at(0);
  folder.write(
      "eval/metrics.json",
      R"({"draws": 96, "metrics": [{"name": "LPPD", "ensemble_initialization": -0.4, "sampling": null}]})");
  chain(0);
  EXPECT_TRUE(find(diagnosis.findings, "worse-than-no-network")) << to_text(diagnosis);
}

TEST_F(Diagnosis, OfDamagedFilesSaysNothingButTheDamage) {
  monitor(1).sampling.refusals = {1000, 4000};
  chain(0);
  folder.write("samples/chain-01.npy", "not an array");
  folder.write("eval/metrics.json",
               R"({"metrics": [{"name": "LPPD", "ensemble_initialization": -0.4, "sampling": -1}]})");
  diagnosis = diagnose_run(folder.path());
  ASSERT_EQ(diagnosis.chains[1].findings.size(), 1u) << to_text(diagnosis);
  EXPECT_EQ(diagnosis.chains[1].findings[0].cause, Cause::damaged);
  EXPECT_EQ(to_text(diagnosis).find("lower step_size"), std::string::npos) << to_text(diagnosis);
  EXPECT_EQ(chain_warnings(diagnosis).size(), 1u);
}

TEST_F(Diagnosis, AgreesWithTheStatusAboutARunThatWasKilled) {
  folder.write("status.json", "{\"status\": \"running\", \"version\": \"" + provenance::version() + "\"}");
  chain(0);
  EXPECT_EQ(diagnosis.status, "killed");
}

TEST_F(Diagnosis, OfConstantPredictionsOfMovingParametersIsARemark) {
  const auto write = [&](int parameters) {
    folder.write("eval/diagnostics.json",
                 R"({"draws_per_chain": 24, "chains_used": [0, 2, 3],
    "parameters": {"chain_median_rhat": [1, 1, 1], "chain_still": [0, 0, 0], "with_infinite": 1, "constant": )" +
                     std::to_string(parameters) +
                     R"(},
    "predictions": {"chain_median_rhat": ["nan", "nan", "nan"], "constant": 3, "with_nan": 0},
    "quantities": [{"name": "theta[4]", "infinite_draw": {"chain": 1, "draw": 7}}]})");
    chain(0);
  };
  write(0);
  EXPECT_TRUE(find(diagnosis.findings, "constant-predictions")) << to_text(diagnosis);
  EXPECT_FALSE(find(diagnosis.findings, "constant"));
  const Finding* infinite = find(diagnosis.findings, "nan-draws");
  ASSERT_TRUE(infinite);
  EXPECT_NE(infinite->text.find("(draw 7 of chain 2, theta[4])"), std::string::npos) << infinite->text;
  write(5);
  const Finding* constant = find(diagnosis.findings, "constant");
  ASSERT_TRUE(constant);
  EXPECT_EQ(constant->advice, "raise step_size") << "hardly a step was refused";
}

TEST_F(Diagnosis, HoldsAChainAgainstItsOwnMember) {
  folder.write("eval/chains.json", R"([
    {"chain": 0, "draws_evaluated": 24, "test_lppd": -0.4, "test_rmse": 0.4, "start_test_lppd": -0.8},
    {"chain": 1, "draws_evaluated": 24, "test_lppd": -0.9, "test_rmse": 0.4, "start_test_lppd": -0.8},
    {"chain": 2, "draws_evaluated": 24, "test_lppd": -1.4, "test_rmse": 0.5, "start_test_lppd": -0.8},
    {"chain": 3, "draws_evaluated": 24, "test_lppd": -0.4, "test_rmse": 0.4}])");
  chain(0);
  EXPECT_EQ(diagnosis.count(Verdict::sound), 3u) << to_text(diagnosis);
  const Finding* member = find(diagnosis.chains[2].findings, "worse-than-member");
  ASSERT_TRUE(member);
  EXPECT_NE(member->text.find("(LPPD -1.400) than the member it started from (-0.800)"), std::string::npos)
      << member->text;
}

TEST_F(Diagnosis, TellsUnfinishedAndFailedChainsApart) {
  records[1].status = ChainStatus::running;
  records[1].step = 2500;
  records[2].status = ChainStatus::failed;
  records[2].reason = "60 of its last 100 steps before step 6000 were not finite (log-density)";
  monitor(2).sampling.refusals = {4000, 0, 1000};
  chain(0);
  EXPECT_EQ(diagnosis.chains[0].verdict, Verdict::sound);
  EXPECT_EQ(diagnosis.chains[1].verdict, Verdict::incomplete);
  EXPECT_EQ(diagnosis.chains[2].verdict, Verdict::failed);
  const Finding* failed = find(diagnosis.chains[2].findings, "failed");
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->advice.find("lower step_size"), std::string::npos) << failed->advice;
  const Finding* incomplete = find(diagnosis.findings, "incomplete");
  ASSERT_TRUE(incomplete);
  EXPECT_NE(incomplete->advice.find("--resume"), std::string::npos);
  EXPECT_NE(to_text(diagnosis).find("2500 of 6000 steps"), std::string::npos) << to_text(diagnosis);
}

TEST_F(Diagnosis, ReadsConvergenceByTheChainsNumber) {
  // Chain 1 is left out: the second entry is chain 2's.
  folder.write("eval/diagnostics.json",
               R"({"draws_per_chain": 24, "chains_used": [0, 2, 3],
    "parameters": {"chain_median_rhat": [1.2, 1.3, 1.4], "chain_still": [0, 5, 0], "constant": 0, "with_nan": 1},
    "predictions": {"chain_median_rhat": [1.01, 1.7, null], "rhat": {"median": 1.02}, "ess_bulk": {"median": 20},
                    "constant": 2, "with_nan": 0}})");
  chain(0);
  EXPECT_EQ(diagnosis.chains[0].chainwise_rhat_predictions, 1.01);
  EXPECT_TRUE(std::isnan(diagnosis.chains[1].chainwise_rhat_predictions));
  EXPECT_EQ(diagnosis.chains[2].chainwise_rhat_predictions, 1.7);
  EXPECT_EQ(diagnosis.chains[2].chainwise_rhat_parameters, 1.3);
  EXPECT_TRUE(std::isnan(diagnosis.chains[3].chainwise_rhat_predictions));
  EXPECT_TRUE(find(diagnosis.chains[2].findings, "still"));
  const Finding* moving = find(diagnosis.chains[2].findings, "not-settled");
  ASSERT_TRUE(moving);
  EXPECT_EQ(moving->weight, Finding::Weight::warning);
  EXPECT_TRUE(find(diagnosis.findings, "constant"));
  EXPECT_TRUE(find(diagnosis.findings, "nan-draws"));
}

TEST_F(Diagnosis, ComparesWithTheStartAndLooksAtCoverage) {
  folder.write("eval/metrics.json",
               R"({"metrics": [{"name": "LPPD", "ensemble_initialization": 0.5, "sampling": 0.2}]})");
  folder.write("eval/sampling.json", R"({"points": 400, "intervals": [{"nominal": 0.9, "observed": 0.8}]})");
  chain(0);
  EXPECT_TRUE(find(diagnosis.findings, "worse-than-start"));
  EXPECT_TRUE(find(diagnosis.findings, "too-narrow"));
  const auto json = nlohmann::json::parse(to_json(diagnosis));
  EXPECT_EQ(json["chains"].size(), 4u);
  EXPECT_EQ(json["findings"][0]["code"], "worse-than-start");
  folder.write("eval/sampling.json", R"({"points": 400, "intervals": [{"nominal": 0.9, "observed": 0.87}]})");
  chain(0);
  EXPECT_FALSE(find(diagnosis.findings, "too-narrow")) << "within chance";
}

}  // namespace
}  // namespace smile
