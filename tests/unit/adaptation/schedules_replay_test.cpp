// SPDX-License-Identifier: Apache-2.0
// Replays schedules: step size and exploration flag of every step, and the steps whose draw is stored.
#include <gtest/gtest.h>

#include <map>

#include "smile/adaptation/schedule.hpp"
#include "support/vectors.hpp"

namespace smile {
namespace {

using test::Json;

Schedule schedule_of(const Json& input) {
  const std::string strangers =
      test::unknown_keys(input, {"schedule", "n", "init", "target", "n_cycles", "exploration"});
  if (!strangers.empty()) throw std::runtime_error(strangers);
  Schedule schedule;
  const std::string kind = input.at("schedule");
  if (kind == "linear")
    schedule.kind = ScheduleKind::linear;
  else if (kind == "cosine")
    schedule.kind = ScheduleKind::cosine;
  else if (kind != "constant")
    throw std::runtime_error("schedule: " + kind);
  schedule.initial = input.at("init");
  schedule.target = input.value("target", 0.0);
  schedule.cycles = input.value("n_cycles", std::uint64_t{1});
  schedule.exploration = input.value("exploration", 0.0);
  return schedule;
}

TEST(SchedulesReplay, every_case) {
  const Json file = test::load_vectors("schedules");
  ASSERT_EQ(test::unknown_keys(file, {"topic", "spec", "description", "tolerance", "stored", "cases"}), "");
  ASSERT_FALSE(file.at("cases").empty());
  std::map<std::string, const Json*> by_name;
  for (const Json& c : file["cases"]) {
    SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
    ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note", "reading"}), "");
    ASSERT_EQ(test::unknown_keys(c.at("expected"), {"eps", "explore"}), "");
    by_name[c["name"]] = &c;
    const Json& tol = (c.contains("tolerance") ? c["tolerance"] : file.at("tolerance")).at("float64");
    const Schedule schedule = schedule_of(c.at("input"));
    const std::uint64_t n = c["input"].at("n");
    ASSERT_EQ(c["expected"].at("eps").size(), n);
    for (std::uint64_t t = 0; t < n; ++t) {
      const auto point = schedule.at(t, n);
      EXPECT_EQ(test::mismatch(point.step_size, c["expected"]["eps"][t], test::tolerance(tol)), "")
          << "t = " << t;
      EXPECT_EQ(point.exploring, c["expected"].at("explore").at(t).get<bool>()) << "t = " << t;
    }
  }
  for (const Json& s : file.at("stored")) {
    SCOPED_TRACE("stored \"" + s.at("name").get<std::string>() + "\"");
    ASSERT_EQ(test::unknown_keys(s, {"name", "input", "expected", "note"}), "");
    ASSERT_EQ(test::unknown_keys(s.at("input"), {"case", "n_thinning"}), "");
    ASSERT_EQ(test::unknown_keys(s.at("expected"), {"stored"}), "");
    const Json& input = by_name.at(s["input"].at("case"))->at("input");
    const Schedule schedule = schedule_of(input);
    const std::uint64_t n = input.at("n");
    std::vector<double> stored;
    for (std::uint64_t t = 0; t < n; ++t)
      if (is_stored(t, s["input"].at("n_thinning"), schedule.at(t, n).exploring)) stored.push_back(double(t));
    EXPECT_EQ(stored, test::numbers(s["expected"].at("stored")));
  }
}

}  // namespace
}  // namespace smile
