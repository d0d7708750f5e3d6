// SPDX-License-Identifier: Apache-2.0
// A key of a new enumeration: what the page promises of one member, one Named and one row.
#include <gtest/gtest.h>

#include "config/schema.hpp"

namespace smile {

enum class Tide { ebb, flow };
template <>
struct Named<Tide> {
  static constexpr Alternative<Tide> all[] = {{Tide::ebb, "ebb"}, {Tide::flow, "flow", "the rising one"}};
};

namespace {

/// Stands for a member of Config.
Tide& tide() {
  static Tide value = Tide::ebb;
  return value;
}
std::vector<Tide>& tides() {
  static std::vector<Tide> values{Tide::flow};
  return values;
}

TEST(ExtendingKeys, AnEnumerationWithNamesIsAKeyWithoutAnotherLine) {
  const schema::Key key{"sea.tide",
                        schema::Member(+[](Config&) { return &tide(); }).and_unavailable({"slack"}),
                        "where the water goes"};
  Config config;
  EXPECT_EQ(schema::value_text(key, config), "ebb");
  EXPECT_EQ(schema::allowed_text(key), "one of `ebb`, `flow`");
  EXPECT_FALSE(schema::is_list(key));
  std::get<schema::NamedMember>(key.member.slot).set(config, {"flow"});
  EXPECT_EQ(tide(), Tide::flow);
  EXPECT_EQ(key.alternatives().at(1).doc, "the rising one");
  EXPECT_FALSE(schema::is_available(key.alternatives().at(2)));
}

TEST(ExtendingKeys, AListOfThemToo) {
  const schema::Key key{"sea.tides",
                        schema::Member(+[](Config&) { return &tides(); }).and_unavailable("slack", "neither"),
                        "all of a day"};
  Config config;
  EXPECT_TRUE(schema::is_list(key));
  EXPECT_EQ(schema::value_text(key, config), "[flow]");
  EXPECT_EQ(schema::allowed_text(key), "a list of `ebb`, `flow`");
  std::get<schema::NamedMember>(key.member.slot).set(config, {"ebb", "flow"});
  EXPECT_EQ(tides(), (std::vector{Tide::ebb, Tide::flow}));
  EXPECT_EQ(key.alternatives().back().doc, "neither");
}

}  // namespace
}  // namespace smile
