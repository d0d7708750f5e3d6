// SPDX-License-Identifier: Apache-2.0
// Wrong configurations of `smile analytic`: one line, with the place, the value and the mend.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "smile/benchmark/analytic.hpp"
#include "smile/error.hpp"
#include "smile/files/npy.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

const std::string kGood =
    "targets: [icg]\n"
    "noises: [isotropic]\n"
    "steps: 1000\n"
    "chains: 2\n"
    "methods:\n"
    "  - {name: psmile-naive, step_size: {from: 1e-3, to: 1e-1, points: 3}}\n";

class BadAnalyticConfig : public testing::Test {
 protected:
  AnalyticConfig load(const std::string& text) {
    std::ofstream(folder_.path() / "a.yaml") << text;
    return load_analytic_config(folder_.path() / "a.yaml");
  }
  /// The good text with one piece replaced.
  std::string with(const std::string& old, const std::string& fresh) {
    std::string text = kGood;
    const auto at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return text.replace(at, old.size(), fresh);
  }
  std::string complaint(const std::string& text) {
    try {
      load(text);
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      EXPECT_NE(message.find("a.yaml:"), std::string::npos) << message;
      EXPECT_EQ(error.exit_status(), 2);
      return message;
    }
    ADD_FAILURE() << "accepted:\n" << text;
    return "";
  }
  test::TemporaryFolder folder_;
};

TEST_F(BadAnalyticConfig, the_good_one_is_good) {
  const AnalyticConfig config = load(kGood);
  ASSERT_EQ(config.methods.size(), 1u);
  ASSERT_EQ(config.methods[0].step_sizes.size(), 3u);
  EXPECT_DOUBLE_EQ(config.methods[0].step_sizes[1], 1e-2);
}

TEST_F(BadAnalyticConfig, each_mistake_is_named) {
  struct Case {
    std::string old, fresh, expected;
  };
  const std::vector<Case> cases{
      {"[icg]", "[icq]", "did you mean `icg`"},
      {"[icg]", "[]", "targets"},
      {"[icg]", "icg", "not a list"},
      {"[icg]", "[icg, icg]", "twice"},
      {"[isotropic]", "[isotrope]", "did you mean `isotropic`"},
      {"steps: 1000", "noise_scale: -16", "noise_scale: `-16` is out of range"},
      {"steps: 1000", "condition_number: 0.5", "condition_number: `0.5` is out of range"},
      {"steps: 1000", "student_t_df: 2", "student_t_df: `2` is out of range"},
      {"steps: 1000", "student_t_df: 1.5", "student_t_df: `1.5` is out of range"},
      {"steps: 1000", "lognormal_sigma: [0.1, -0.1]", "lognormal_sigma: `-0.1` is out of range"},
      {"steps: 1000", "distributions: [cauchy]", "distributions"},
      {"steps: 1000", "stepz: 1000", "did you mean `steps`"},
      {"steps: 1000", "steps: 0", "steps: `0` is out of range"},
      {"steps: 1000", "steps: many", "`many` is not a number"},
      {"steps: 1000", "covariance: s.npy", "no target uses the key"},
      {"chains: 2", "chains: 0", "chains: `0` is out of range"},
      {"chains: 2", "chains: 2.5", "chains: `2.5` is out of range"},
      {"chains: 2", "chains: 2\nchains: 3", "twice"},
      {"from: 1e-3, to: 1e-1", "from: 1e-1, to: 1e-3", "the grid of step sizes is reversed"},
      {"from: 1e-3, to: 1e-1", "from: 1e-3, to: 1e-3", "the grid of step sizes is reversed"},
      {"from: 1e-3", "from: 0", "`0` is out of range"},
      {"points: 3", "points: 0", "`0` is out of range"},
      {"step_size: {from: 1e-3, to: 1e-1, points: 3}", "step_size: [0.1, 0.01]", "do not ascend"},
      {"step_size: {from: 1e-3, to: 1e-1, points: 3}", "step_size: -1", "`-1` is out of range"},
      {", step_size: {from: 1e-3, to: 1e-1, points: 3}", "", "step_size: the key is missing"},
      {"psmile-naive", "psmile-naïve", "name"},
      {"psmile-naive", "mclmc", "decoherence_length: the key is missing"},
      {"name: psmile-naive", "name: sgld, friction: 0.1", "sgld has no friction"},
      {"name: psmile-naive", "name: psmile-naive, integrator: leapfrog", "integrator"},
      {"[icg]", "[gaussian]", "covariance: the key is missing"},
  };
  for (const Case& wrong : cases) {
    const std::string message = complaint(with(wrong.old, wrong.fresh));
    EXPECT_NE(message.find(wrong.expected), std::string::npos) << wrong.fresh << " gave: " << message;
  }
}

TEST_F(BadAnalyticConfig, a_covariance_that_is_none) {
  const std::string text = with("[icg]", "[gaussian]\ncovariance: s.npy");
  const auto run = [&](std::vector<std::size_t> shape, const std::vector<double>& values) -> std::string {
    write_npy(folder_.path() / "s.npy", shape, values);
    try {
      run_analytic(load(text), {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(run({2, 3}, {1, 0, 0, 0, 1, 0}).find("no square matrix"), std::string::npos);
  EXPECT_NE(run({2, 2}, {1, 0.5, 0.4, 1}).find("not symmetric"), std::string::npos);
  EXPECT_NE(run({2, 2}, {1, 2, 2, 1}).find("not positive definite"), std::string::npos);
  EXPECT_EQ(run({2, 2}, {2, 0.5, 0.5, 1}), "");
}

}  // namespace
}  // namespace smile
