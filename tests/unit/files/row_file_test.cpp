// SPDX-License-Identifier: Apache-2.0
#include "smile/files/row_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "support/temporary_folder.hpp"

namespace smile {

struct Visit {
  std::uint64_t step = 0;
  std::string phase;
  double depth = 7;
  int attempt = -1;
};

template <>
struct Columns<Visit> {
  static constexpr RowColumn<Visit> all[] = {{"step", &Visit::step},
                                             {"phase", &Visit::phase},
                                             {"depth", &Visit::depth},
                                             {"attempt", &Visit::attempt}};
};

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class RowFile : public testing::Test {
 protected:
  std::vector<Visit> read(const std::string& text) const {
    const auto path = folder_.path() / "rows.csv";
    std::ofstream(path) << text;
    return read_rows<Visit>(path);
  }
  const test::TemporaryFolder folder_;
};

TEST_F(RowFile, WhatIsWrittenIsRead) {
  EXPECT_EQ(header_line<Visit>(), "step,phase,depth,attempt\n");
  EXPECT_EQ(line_of(Visit{3, "warmup", 1.0 / 3, 1}), "3,warmup,0.33333333,1\n");
  EXPECT_EQ(line_of(Visit{4, "", kNan, 0}), "4,,,0\n");
  const double inf = std::numeric_limits<double>::infinity();
  const auto rows = read(header_line<Visit>() + line_of(Visit{18446744073709551615u, "sampling", -inf, -2}) +
                         line_of(Visit{4, "", kNan, 0}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].step, 18446744073709551615u);
  EXPECT_EQ(rows[0].phase, "sampling");
  EXPECT_EQ(rows[0].depth, -inf);
  EXPECT_EQ(rows[0].attempt, -2);
  EXPECT_TRUE(std::isnan(rows[1].depth)) << "an empty cell is not the number a new row has";
}

TEST_F(RowFile, ColumnsAreFoundByName) {
  const auto rows = read("depth,colour,step\n0.5,red,8\n");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].step, 8u);
  EXPECT_EQ(rows[0].depth, 0.5);
  EXPECT_EQ(rows[0].attempt, -1) << "the file has no such column";
}

TEST_F(RowFile, NothingBehindADamagedLineIsRead) {
  const std::string good = header_line<Visit>() + "1,warmup,2,0\n";
  EXPECT_EQ(read(good + "2,warm").size(), 1u);
  EXPECT_EQ(read(good + "x,warmup,2,0\n3,warmup,2,0\n").size(), 1u);
  EXPECT_EQ(read(good + "\n").size(), 1u);
  EXPECT_EQ(read("").size(), 0u);
  EXPECT_EQ(read_rows<Visit>(folder_.path() / "none").size(), 0u);
}

}  // namespace
}  // namespace smile
