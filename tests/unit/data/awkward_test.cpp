// SPDX-License-Identifier: Apache-2.0
// Each file of tests/data/awkward behaves as its description says.
#include <gtest/gtest.h>

#include <cmath>

#include "smile/data/dataset.hpp"
#include "smile/data/table.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

using Values = std::vector<double>;

std::filesystem::path awkward(const std::string& name) {
  return std::filesystem::path(SMILE_TEST_DATA_DIR) / "awkward" / name;
}
Table read(const std::string& name, const TableOptions& options = {}) {
  return read_table(awkward(name), options);
}

template <class Read>
std::string error_of(Read read_it) {
  try {
    read_it();
  } catch (const Error& error) {
    const std::string text = error.what();
    return text.substr(text.find("awkward/") + 8);
  }
  return "no error";
}

const Values kAirfoilRow1{800, 0, 0.3048, 71.3, 0.00266337, 126.201};
Values row(const Table& t, std::size_t i) {
  const auto first = t.values.begin() + static_cast<std::ptrdiff_t>(i * t.columns);
  return {first, first + static_cast<std::ptrdiff_t>(t.columns)};
}

TEST(Awkward, quoted_header) {
  const Table t = read("01-quoted-header.csv");
  EXPECT_EQ(t.rows, 8U);
  EXPECT_EQ(t.columns, 6U);
  EXPECT_EQ(t.column_names[0], "frequency, Hz");
  EXPECT_EQ(t.column_names[2], "chord \"c\", m");
  EXPECT_EQ(t.lines[0], 2U);
  EXPECT_EQ(row(t, 0), kAirfoilRow1);
}

TEST(Awkward, crlf) {
  const Table t = read("02-crlf.csv");
  EXPECT_EQ(t.rows, 8U);
  EXPECT_EQ(t.columns, 7U);
  EXPECT_EQ(t.values.back(), 3.76);
  EXPECT_EQ(t.column_names.back(), "resistance");
}

TEST(Awkward, missing_values) {
  EXPECT_EQ(
      error_of([] { read("03-missing-values.csv"); }),
      "03-missing-values.csv:4:3: missing value in column 'x3'; fill it in, or set 'data.missing: drop' "
      "or 'data.missing: mean'");
  const Table dropped = read("03-missing-values.csv", {.missing = MissingPolicy::drop});
  EXPECT_EQ(dropped.rows, 8U);
  EXPECT_EQ(dropped.dropped_lines, (std::vector<std::size_t>{4, 7, 9, 11}));
  EXPECT_EQ(read("03-missing-values.csv", {.missing = MissingPolicy::mean}).missing_values, 4U);
}

TEST(Awkward, text_column) {
  EXPECT_EQ(
      error_of([] { read("04-text-column.csv"); }),
      "04-text-column.csv:2:6: 'north' is not a number; correct the field, or say that the column holds "
      "words: 'data.categorical: [orientation]'");
  const Table t = read("04-text-column.csv", {.categorical = {"orientation"}});
  EXPECT_EQ(t.columns, 9U);
  EXPECT_EQ(t.categories[5], (std::vector<std::string>{"east", "north", "south", "west"}));
  EXPECT_EQ(t.at(0, 5), 1);
}

TEST(Awkward, constant_column) {
  const Dataset d =
      load_dataset(awkward("05-constant-column.csv"), {}, {.task = Task::classification, .seed = 1});
  EXPECT_EQ(d.info.labels.classes(), 2U);
  for (const DataPart* part : {&d.train, &d.valid, &d.test})
    for (std::size_t i = 0; i < part->rows; ++i) {
      EXPECT_EQ(part->features[i * d.info.inputs() + 1], 0);
      for (std::size_t j = 0; j < d.info.inputs(); ++j)
        EXPECT_TRUE(std::isfinite(part->features[i * d.info.inputs() + j]));
    }
  bool warned = false;
  for (const std::string& warning : d.warnings)
    warned = warned || warning.find("'column2' is constant") != warning.npos;
  EXPECT_TRUE(warned);
}

TEST(Awkward, duplicate_rows) {
  EXPECT_EQ(read("06-duplicate-rows.data").rows, 8U);
}

TEST(Awkward, byte_order_mark) {
  const Table t = read("07-bom.csv");
  EXPECT_EQ(t.rows, 6U);
  EXPECT_EQ(t.columns, 6U);
  EXPECT_FALSE(t.has_header);
  EXPECT_EQ(row(t, 0), kAirfoilRow1);
}

TEST(Awkward, trailing_delimiter) {
  const Table t = read("08-trailing-delimiter.csv");
  EXPECT_EQ(t.rows, 6U);
  EXPECT_EQ(t.columns, 6U);
  EXPECT_EQ(t.column_names.back(), "level");
  EXPECT_EQ(row(t, 0), kAirfoilRow1);
}

TEST(Awkward, scientific_notation) {
  const Table t = read("09-scientific.csv");
  EXPECT_EQ(t.rows, 5U);
  EXPECT_EQ(row(t, 0), kAirfoilRow1);
  EXPECT_EQ(row(t, 1), (Values{1000, 0, 0.3048, 71.3, 0.00266337, 125.201}));
  EXPECT_EQ(row(t, 2), (Values{1250, 0, 0.3048, 71.3, 0.00266337, 125.951}));
  EXPECT_EQ(row(t, 3), (Values{1600, 0, 0.3048, 71.3, 0.00266337, 127.591}));
  EXPECT_EQ(row(t, 4), (Values{2000, 1e-310, 0.3048, 71.3, 0.00266337, 127.461}));
}

TEST(Awkward, decimal_comma) {
  EXPECT_EQ(error_of([] { read("10-decimal-comma.csv"); }),
            "10-decimal-comma.csv:2:3: '0,3048' has a decimal comma; write decimal points, or set "
            "'data.decimal: comma'");
  const Table t = read("10-decimal-comma.csv", {.decimal_comma = true});
  EXPECT_EQ(t.rows, 6U);
  EXPECT_EQ(row(t, 0), kAirfoilRow1);
}

TEST(Awkward, empty_file) {
  EXPECT_EQ(error_of([] { read("11-empty.csv"); }),
            "11-empty.csv: no data; the file is empty; give one with at least one row");
}

TEST(Awkward, single_row) {
  const Table t = read("12-single-row.data");
  EXPECT_EQ(t.rows, 1U);
  EXPECT_EQ(t.columns, 9U);
  EXPECT_EQ(error_of([&] { assemble_dataset(t, {}); }),
            "12-single-row.data: 1 row leave the train part empty; give more rows or change the fractions");
}

TEST(Awkward, labels_with_an_offset_and_a_gap) {
  const Dataset d = load_dataset(awkward("13-labels-offset.csv"), {}, {.task = Task::classification});
  EXPECT_EQ(d.info.labels.names, (std::vector<std::string>{"3", "5", "6", "7", "8"}));
  std::size_t rows = 0;
  for (std::size_t count : d.info.labels.counts) rows += count;
  EXPECT_EQ(rows, 15U);
  for (double label : d.train.targets) EXPECT_LT(label, 5);
}

TEST(Awkward, ragged_rows) {
  EXPECT_EQ(error_of([] { read("14-ragged.data"); }),
            "14-ragged.data:6:6: expected 6 fields, found 5 (likewise line 8: found 7); give every row the "
            "same number "
            "of fields");
}

}  // namespace
}  // namespace smile
