// SPDX-License-Identifier: Apache-2.0
// Run folders that travel: what reads a run finds its data after a move, or says in one line what it needs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../pipeline/program.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;

class Moved : public testing::Test {
 protected:
  /// A run whose configuration names its data relative to the folder in which it is started.
  void SetUp() override {
    fs::create_directories(folder_ / "project/data");
    fs::copy_file(airfoil(), folder_ / "project/data/air foil.data");
    folder_.write("project/run.yaml", small_config("data/air foil.data"));
    const Outcome outcome = in("project", {"run", "run.yaml", "--out", "runs/one", "--quiet"});
    ASSERT_EQ(outcome.status, 0) << outcome.error;
  }
  /// The program, started in a folder.
  Outcome in(const std::string& where, const std::vector<std::string>& arguments) const {
    return smile(arguments, [&] { EXPECT_EQ(::chdir((folder_ / where).c_str()), 0); });
  }
  /// Everything that reads a run. @return what must need no data is first
  static std::vector<std::vector<std::string>> readers(const std::string& run, const std::string& new_rows) {
    return {{"status", run},
            {"diagnose", run},
            {"report", run},
            {"predict", run, "--data", new_rows, "--quiet"},
            {"export", run, "--format", "npz", "--quiet"},
            {"evaluate", run, "--quiet"},
            {"run", run + "/config.yaml", "--out", run, "--resume", "--quiet"}};
  }
  static constexpr std::size_t kWithoutData = 5;
  TemporaryFolder folder_;
};

TEST_F(Moved, WithItsDataEverythingWorksFromAnywhere) {
  const std::string metrics = content_of(folder_ / "project/runs/one/eval/metrics.json");
  fs::rename(folder_ / "project", folder_ / "moved");
  const std::string run = (folder_ / "moved/runs/one").string();
  const std::string data = (folder_ / "moved/data/air foil.data").string();
  for (const auto& command : readers(run, data)) {
    const Outcome outcome = in(".", command);
    EXPECT_EQ(outcome.status, 0) << command[0] << ": " << outcome.error;
  }
#ifdef SMILE_WITH_NETCDF
  const Outcome exported = in(".", {"export", run, "--format", "netcdf", "--training-rows", "--quiet"});
  EXPECT_EQ(exported.status, 0) << exported.error;
#endif
  EXPECT_EQ(content_of(fs::path(run) / "eval/metrics.json"), metrics);
  EXPECT_EQ(nlohmann::json::parse(content_of(fs::path(run) / "status.json"))["status"], "complete");
  // The configuration from which it was made, seen from another folder.
  EXPECT_EQ(in(".", {"run", folder_ / "moved/run.yaml", "--out", run, "--resume", "--quiet"}).status, 0);
}

TEST_F(Moved, WithoutItsDataOneLineSaysWhichFileIsNeeded) {
  fs::create_directories(folder_ / "elsewhere");
  fs::rename(folder_ / "project/data/air foil.data", folder_ / "elsewhere/airfoil.copy");
  const std::string run = (folder_ / "project/runs/one").string();
  const std::string data = (folder_ / "elsewhere/airfoil.copy").string();
  const auto commands = readers(run, data);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Outcome outcome = in(".", commands[i]);
    if (i < kWithoutData) {
      EXPECT_EQ(outcome.status, 0) << commands[i][0] << ": " << outcome.error;
      continue;
    }
    EXPECT_EQ(outcome.status, 2) << commands[i][0];
    EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
    EXPECT_NE(outcome.error.find("air foil.data"), std::string::npos) << outcome.error;
    EXPECT_NE(outcome.error.find("--data"), std::string::npos) << outcome.error;
    auto with_data = commands[i];
    with_data.insert(with_data.end(), {"--data", data});
    EXPECT_EQ(in(".", with_data).status, 0) << in(".", with_data).error;
  }
  // A file of the same name in a folder.
  fs::rename(data, folder_ / "elsewhere/air foil.data");
  EXPECT_EQ(in(".", {"evaluate", run, "--quiet", "--data", folder_ / "elsewhere"}).status, 0);
}

TEST_F(Moved, DataOfAnotherChecksumIsRefused) {
  const std::string run = (folder_ / "project/runs/one").string();
  std::string other = content_of(airfoil());
  other.back() = other[other.size() - 2] == '1' ? '2' : '1';
  const auto path = folder_.write("other.data", other);
  const std::string metrics = content_of(fs::path(run) / "eval/metrics.json");
  for (const auto& command : {std::vector<std::string>{"evaluate", run, "--data", path},
                              {"run", run + "/config.yaml", "--out", run, "--resume", "--data", path}}) {
    // The right file is where it was; still what was asked for is told to be wrong, unless it is not needed.
    fs::rename(folder_ / "project/data", folder_ / "hidden");
    const Outcome outcome = in(".", command);
    fs::rename(folder_ / "hidden", folder_ / "project/data");
    EXPECT_EQ(outcome.status, 2) << outcome.error;
    EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
    EXPECT_NE(outcome.error.find("other.data: is not the file that the run was started with"),
              std::string::npos)
        << outcome.error;
  }
  EXPECT_EQ(content_of(fs::path(run) / "eval/metrics.json"), metrics);
}

TEST_F(Moved, AConfigurationWithTheNewPathGoesOnAndOneOfOtherDataDoesNot) {
  fs::rename(folder_ / "project/data", folder_ / "store");
  const std::string run = (folder_ / "project/runs/one").string();
  const auto config = folder_.write("new.yaml", small_config((folder_ / "store/air foil.data").string()));
  const Outcome same = in(".", {"run", config, "--out", run, "--resume", "--quiet"});
  EXPECT_EQ(same.status, 0) << same.error;
  const auto table = folder_.write("table.data", content_of(airfoil()) + "1 2 3 4 5 6\n");
  const auto wrong = folder_.write("wrong.yaml", small_config(table.string()));
  const Outcome other = in(".", {"run", wrong, "--out", run, "--resume", "--quiet"});
  EXPECT_EQ(other.status, 2);
  EXPECT_TRUE(other.is_one_line_error()) << other.error;
  EXPECT_NE(other.error.find("data.path"), std::string::npos) << other.error;
}

TEST(Places, APathIsAlsoFoundFromTheFolderOfTheConfiguration) {
  TemporaryFolder folder;
  fs::create_directories(folder / "project");
  fs::create_directories(folder / "work");
  fs::copy_file(airfoil(), folder / "project/table.data");
  folder.write("project/run.yaml", small_config("table.data"));
  const Outcome outcome = smile({"run", "../project/run.yaml", "--out", "run", "--quiet"},
                                [&] { EXPECT_EQ(::chdir((folder / "work").c_str()), 0); });
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(smile({"evaluate", folder / "work/run", "--quiet"}).status, 0);
}

}  // namespace
}  // namespace smile::test
