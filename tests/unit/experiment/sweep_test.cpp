// SPDX-License-Identifier: Apache-2.0
#include "smile/experiment/sweep.hpp"

#include <gtest/gtest.h>

#include <set>

#include "smile/error.hpp"

namespace smile {
namespace {

const std::string kConfig =
    "data: {path: data/airfoil.data, task: mean_regr}\ntraining: {sampler: {name: smile}}\n";

Config at(const SweepPoint& point) {
  return parse_config(kConfig, "base.yaml", point.settings);
}

std::string message(const std::string& text) {
  try {
    for (const SweepPoint& point : parse_sweep(text, "sweep.yaml")) at(point);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_status(), 2);
    return error.what();
  }
  return "accepted";
}

TEST(Sweep, IsTheProductInTheOrderOfTheFileWithTheLastKeyFastest) {
  const std::vector<SweepPoint> points = parse_sweep(R"(training:
  sampler:
    step_size: [0.01, 0.001]
data:
  path: ['data/airfoil.data', 'data/energy.data']
rng: [1, 2, 3]
)",
                                                     "sweep.yaml");
  ASSERT_EQ(points.size(), 12u);
  EXPECT_EQ(points[0].name, "step_size=0.01,path=airfoil,rng=1");
  EXPECT_EQ(points[1].name, "step_size=0.01,path=airfoil,rng=2");
  EXPECT_EQ(points[3].name, "step_size=0.01,path=energy,rng=1");
  EXPECT_EQ(points[6].name, "step_size=0.001,path=airfoil,rng=1");
  EXPECT_EQ(points[11].name, "step_size=0.001,path=energy,rng=3");
  std::set<std::string> names;
  for (const SweepPoint& point : points) names.insert(point.name);
  EXPECT_EQ(names.size(), points.size());
  const Config config = at(points[11]);
  EXPECT_EQ(config.training.sampler.step.step_size, 0.001);
  EXPECT_EQ(config.data.path, "data/energy.data");
  EXPECT_EQ(config.rng, 3u);
  EXPECT_EQ(config.place("rng"), "sweep.yaml:6: rng");
}

TEST(Sweep, ListValuedKeysTakeListsOfLists) {
  const std::vector<SweepPoint> points =
      parse_sweep("model: {hidden_structure: [[16, 1], [8, 8, 1]]}", "sweep.yaml");
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1].name, "hidden_structure=8-8-1");
  EXPECT_EQ(at(points[1]).model.hidden_structure, (std::vector<std::int64_t>{8, 8, 1}));
  EXPECT_EQ(message("model:\n  hidden_structure: [16, 1]"),
            "sweep.yaml:2: model.hidden_structure: the key takes a list, so `[16, 1]` is one value, not "
            "several; write a "
            "list of lists: `[[16, 1]]`");
  EXPECT_EQ(message("model:\n  hidden_structure: [[16, 1]]"), "accepted");
}

TEST(Sweep, SectionsMayBeListsOfMappings) {
  const std::vector<SweepPoint> points = parse_sweep(R"(training:
  sampler:
    smile_tuning:
      - {reset_prob: 0.98, adaption_prob: 0.1}
      - {reset_prob: 0.95, adaption_prob: 0.1}
experiment_name: ['resets']
)",
                                                     "sweep.yaml");
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].name, "reset_prob=0.98");
  EXPECT_EQ(points[1].name, "reset_prob=0.95");
  EXPECT_EQ(at(points[1]).training.sampler.microcanonical.tuner.reset_prob, 0.95);
  EXPECT_EQ(at(points[1]).experiment_name, "resets");
}

TEST(Sweep, NamesTellKeysOfOneNameApart) {
  const std::vector<SweepPoint> points = parse_sweep(
      "training: {sampler: {batch_size: [32, null]}, warmstart: {batch_size: [16, 64]}}", "sweep.yaml");
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[0].name, "sampler.batch_size=32,warmstart.batch_size=16");
  EXPECT_FALSE(at(points[2]).training.sampler.batch_size.has_value());
}

TEST(Sweep, NamesAreUniqueAndFitForAFolder) {
  const std::vector<SweepPoint> points =
      parse_sweep("data: {path: [a/x.csv, b/x.csv, '../c d*.csv']}", "sweep.yaml");
  std::set<std::string> names;
  for (const SweepPoint& point : points) {
    names.insert(point.name);
    EXPECT_EQ(point.name.find_first_of("/ *\n"), std::string::npos) << point.name;
  }
  EXPECT_EQ(names.size(), 3u);
}

TEST(Sweep, KeepsTheTypeOfQuotedValues) {
  EXPECT_EQ(message("rng: ['1']"),
            "sweep.yaml:1: rng: the quoted text `\"1\"` is not an integer; write `1` without quotes (an "
            "integer ≥ 0)");
}

TEST(Sweep, ErrorsNamePlaceAndMend) {
  EXPECT_EQ(message("training:\n  sampler:\n    stepsize: [0.1, 0.2]"),
            "sweep.yaml:3: training.sampler.stepsize: unknown key; did you mean `step_size`?");
  EXPECT_EQ(message("training:\n  sampler:\n    step_size: []"),
            "sweep.yaml:3: training.sampler.step_size: the list is empty; write at least one value");
  EXPECT_EQ(message("rng: [1, 1]"), "sweep.yaml:1: rng: `1` appears twice; remove one of them");
  EXPECT_EQ(message("rng: [1, -1]"), "sweep.yaml:1: rng: `-1` is out of range; expected an integer ≥ 0");
  EXPECT_EQ(
      message("training:\n  sampler:\n    smile_tuning: [{reset_probe: 0.9}]"),
      "sweep.yaml:3: training.sampler.smile_tuning.reset_probe: unknown key; did you mean `reset_prob`?");
  std::string many;
  for (int i = 0; i < 400; ++i) many += std::to_string(i) + ", ";
  const std::string list = "[" + many + "400]";
  EXPECT_EQ(message("rng: " + list + "\ntraining: {sampler: {warmup_steps: " + list + "}}"),
            "sweep.yaml: the product has more than 100000 points; split the search file");
}

}  // namespace
}  // namespace smile
