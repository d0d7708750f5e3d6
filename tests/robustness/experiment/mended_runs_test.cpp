// SPDX-License-Identifier: Apache-2.0
/// Runs of another version, under odd names, or with more chains than files may be open.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../../end_to_end/pipeline/program.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;

class MendedRun : public testing::Test {
 protected:
  fs::path complete_run(const std::string& name) {
    const auto config = folder_.write("config.yaml", small_config());
    EXPECT_EQ(smile({"run", config, "--out", folder_ / name, "--quiet"}).status, 0);
    return folder_ / name;
  }
  TemporaryFolder folder_;
};

TEST_F(MendedRun, ResumeRefusesAnotherVersionAsAllCommandsDo) {
  const fs::path run = complete_run("run");
  auto state = nlohmann::json::parse(content_of(run / "status.json"));
  state["version"] = "7.1.0";
  std::ofstream(run / "status.json") << state.dump();
  for (const auto& command :
       {std::vector<std::string>{"run", run / "config.yaml", "--out", run, "--resume"},
        std::vector<std::string>{"evaluate", run}, std::vector<std::string>{"status", run}}) {
    const Outcome outcome = smile(command);
    EXPECT_EQ(outcome.status, 2) << command[0] << outcome.error;
    EXPECT_NE(outcome.error.find("written by smile 7.1.0"), std::string::npos) << outcome.error;
  }
}

TEST_F(MendedRun, AChangedByteOfAMemberIsNoticedAndTheMemberTrainedAgain) {
  const fs::path run = complete_run("my run");
  const fs::path member = run / "warmstart/member-01.npy";
  const std::string good = content_of(member);
  std::string bad = good;
  bad[bad.size() - 10] ^= 1;
  std::ofstream(member, std::ios::binary) << bad;
  const std::vector<std::string> resume = {"run", run / "config.yaml", "--out", run, "--resume", "--quiet"};
  for (const auto& command : {resume, std::vector<std::string>{"evaluate", run}}) {
    const Outcome outcome = smile(command);
    EXPECT_EQ(outcome.status, 1) << command[0] << outcome.error;
    EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
    EXPECT_NE(outcome.error.find("member-01.npy: its parameters are not"), std::string::npos)
        << outcome.error;
  }
  fs::remove(member);
  EXPECT_EQ(smile(resume).status, 0);
  EXPECT_EQ(content_of(member), good);
}

TEST_F(MendedRun, ANameThatIsNotUtf8) {
  const fs::path run = complete_run("run");
  const std::string odd = (folder_ / "\xff").string();
  for (const auto& command :
       {std::vector<std::string>{"run", run / "config.yaml", "--out", odd},
        std::vector<std::string>{"export", run, "--format", "npz", "--out", odd + ".npz"},
        std::vector<std::string>{"predict", run, "--data", airfoil(), "--out", odd + ".csv"}}) {
    const Outcome outcome = smile(command);
    EXPECT_EQ(outcome.status, 2) << command[0] << outcome.error;
    EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
    EXPECT_NE(outcome.error.find("not UTF-8"), std::string::npos) << outcome.error;
  }
}

TEST_F(MendedRun, MoreChainsThanFilesMayBeOpen) {
  const auto config = folder_.write("config.yaml", small_config());
  const fs::path run = folder_ / "run";
  ASSERT_EQ(smile({"run", config, "--out", run, "--quiet", "--no-report", "--set",
                   "training.sampler.n_chains=200", "--set", "training.warmstart.include=false", "--set",
                   "training.sampler.warmup_steps=2", "--set", "training.sampler.n_samples=2", "--set",
                   "training.sampler.n_thinning=1", "--set", "evaluations=[LPPD]"})
                .status,
            0);
  const auto few = [] {
    const rlimit limit{160, 160};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  };
  const Outcome outcome = smile({"export", run, "--format", "npz", "--out", folder_ / "d.npz"}, few);
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(smile({"evaluate", run, "--quiet"}, few).status, 0);
}

}  // namespace
}  // namespace smile::test
