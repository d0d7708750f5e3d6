// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "smile/data/table.hpp"
#include "smile/error.hpp"
#include "smile/files/npy.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

using test::TemporaryFolder;
using Names = std::vector<std::string>;
using Values = std::vector<double>;

Table csv(const std::string& content, const TableOptions& options = {}) {
  const TemporaryFolder folder;
  return read_table(folder.write("t.csv", content), options);
}
Table blanks(const std::string& content, const TableOptions& options = {}) {
  const TemporaryFolder folder;
  return read_table(folder.write("t.data", content), options);
}
/// The error without the folder's name.
template <class Read>
std::string error_of(Read read) {
  try {
    read();
  } catch (const Error& error) {
    const std::string text = error.what();
    const std::size_t file = text.find("/t.");
    return file == std::string::npos ? text : text.substr(file + 1);
  }
  return "no error";
}

TEST(Table, reads_numbers_in_all_their_forms) {
  const Table t = csv("1,-2,+3,.5,6.,7e2,8E-1,-0,0012,1e-310\n");
  EXPECT_EQ(t.values, (Values{1, -2, 3, 0.5, 6, 700, 0.8, 0, 12, 1e-310}));
  EXPECT_FALSE(t.has_header);
  EXPECT_EQ(t.column_names[9], "column10");
}

TEST(Table, refuses_what_is_no_number) {
  for (const std::string bad :
       {"1x", "0x10", "1 2", "--1", "+-1", "1e", "e5", ".", "-", "1.2.3", "0,5,6", "1_0"}) {
    EXPECT_NE(error_of([&] { csv("1;2\n3;" + bad + "\n"); }).find("t.csv:2:2: '" + bad + "' is not a number"),
              std::string::npos)
        << bad << ": " << error_of([&] { csv("1;2\n3;" + bad + "\n"); });
  }
  EXPECT_EQ(error_of([] { csv("1,2\n3,inf\n"); }),
            "t.csv:2:2: 'inf' is not a finite number; correct the field or remove the row");
  EXPECT_EQ(error_of([] { csv("1,2\n3,1e999\n"); }),
            "t.csv:2:2: '1e999' is beyond the range of double precision; correct the field or change the "
            "column's unit");
}

TEST(Table, names_quotes_and_line_ends_follow_rfc_4180) {
  const Table t = csv("\"a, b\",\"say \"\"x\"\"\",\"two\nlines\"\r\n\"1\", 2 ,3\r\n4,5,\"6\"");
  EXPECT_EQ(t.column_names, (Names{"a, b", "say \"x\"", "two\nlines"}));
  EXPECT_EQ(t.values, (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(t.lines, (std::vector<std::size_t>{3, 4}));
  EXPECT_EQ(error_of([] { csv("a,b\n1,\"2\n3,4\n"); }),
            "t.csv:2:2: a quoted field does not end; add the closing quote");
  EXPECT_EQ(error_of([] { csv("a,b\n\"1\"5,2\n"); }),
            "t.csv:2:1: text after the closing quote of a field; double the quotes inside a quoted field");
}

TEST(Table, finds_the_delimiter_or_takes_the_given_one) {
  EXPECT_EQ(csv("1;2;3\n").values, (Values{1, 2, 3}));
  EXPECT_EQ(csv("1\t2\t3\n").values, (Values{1, 2, 3}));
  EXPECT_EQ(csv("\"x;y\",b\n1,2\n").column_names, (Names{"x;y", "b"}));
  EXPECT_EQ(csv("1|2|3\n", {.delimiter = Delimiter{'|'}}).values, (Values{1, 2, 3}));
  EXPECT_EQ(blanks("1,2\n3,4\n", {.delimiter = Delimiter::comma}).rows, 2U);
  EXPECT_EQ(csv("5\n6\n").columns, 1U);
}

TEST(Table, decimal_commas_only_when_told) {
  EXPECT_EQ(csv("0,5;1,25\n2;3,5\n", {.decimal_comma = true}).values, (Values{0.5, 1.25, 2, 3.5}));
  EXPECT_EQ(csv("0,5\t1,25\n", {.decimal_comma = true}).values, (Values{0.5, 1.25}));
  EXPECT_EQ(error_of([] { csv("a;b\n1;0,5\n"); }),
            "t.csv:2:2: '0,5' has a decimal comma; write decimal points, or set 'data.decimal: comma'");
  EXPECT_NE(error_of([] { csv("a,b\n1,\"0,5\"\n"); }).find("t.csv:2:2: '0,5' has a decimal comma"),
            std::string::npos);
  EXPECT_NE(error_of([] {
              csv("1.234;2\n", {.decimal_comma = true});
            }).find("t.csv:1:1: '1.234' has a decimal point"),
            std::string::npos);
  EXPECT_NE(error_of([] {
              csv("1,2\n", {.delimiter = Delimiter::comma, .decimal_comma = true});
            }).find("cannot be told"),
            std::string::npos);
}

TEST(Table, header_is_detected_or_declared) {
  EXPECT_TRUE(csv("a,b\n1,2\n").has_header);
  EXPECT_FALSE(csv("1,2\n3,4\n").has_header);
  EXPECT_EQ(csv("2019,2020\n1,2\n", {.header = true}).column_names, (Names{"2019", "2020"}));
  EXPECT_EQ(csv("a,,c\n1,2,3\n", {.header = true}).column_names, (Names{"a", "column2", "c"}));
  EXPECT_EQ(blanks("a b\n1 2\n").column_names, (Names{"a", "b"}));
  // One name among numbers is more likely a spoilt number.
  EXPECT_EQ(error_of([] { csv("1,x\n1,2\n"); }),
            "t.csv:1:2: 'x' is not a number; correct the field, or say that the column holds words: "
            "'data.categorical: [column2]'; if line 1 names the columns, set 'data.header: true'");
  EXPECT_NE(error_of([] { csv("a,b\n1,2\n", {.header = false}); }).find("t.csv:1:1: 'a'"), std::string::npos);
}

TEST(Table, a_trailing_delimiter_is_dropped_only_where_every_line_has_one) {
  EXPECT_EQ(csv("a,b,\n1,2,\n3,4,\n").columns, 2U);
  EXPECT_EQ(csv("1,2,\n\n3,4,\n").columns, 2U);
  EXPECT_NE(error_of([] { csv("a,b,c\n1,2,\n3,4,5\n"); }).find("t.csv:2:3: missing value in column 'c'"),
            std::string::npos);
  EXPECT_NE(error_of([] { csv("1,2,\"\"\n"); }).find("t.csv:1:3: missing value"), std::string::npos);
  EXPECT_NE(error_of([] {
              csv("a,b\n1,2,\n3,4,\n");
            }).find("t.csv:2:3: expected 2 fields, found 3 (likewise line 3: found 3)"),
            std::string::npos);
}

TEST(Table, missing_values_follow_the_policy) {
  const std::string text = "a,b\n1,2\n,4\n5,NA\n7,?\n8,NaN\n9,null\n10,11\n";
  EXPECT_EQ(error_of([&] { csv(text); }),
            "t.csv:3:1: missing value in column 'a'; fill it in, or set 'data.missing: drop' or "
            "'data.missing: mean'");
  const Table dropped = csv(text, {.missing = MissingPolicy::drop});
  EXPECT_EQ(dropped.values, (Values{1, 2, 10, 11}));
  EXPECT_EQ(dropped.lines, (std::vector<std::size_t>{2, 8}));
  EXPECT_EQ(dropped.dropped_lines, (std::vector<std::size_t>{3, 4, 5, 6, 7}));
  const Table kept = csv(text, {.missing = MissingPolicy::mean});
  EXPECT_EQ(kept.rows, 7U);
  EXPECT_EQ(kept.missing_values, 5U);
  EXPECT_TRUE(std::isnan(kept.at(1, 0)));
  EXPECT_NE(error_of([] {
              csv("a,b\n1,\n,2\n", {.missing = MissingPolicy::drop});
            }).find("every row has a missing value"),
            std::string::npos);
}

TEST(Table, words_are_coded_in_order) {
  const Table t = csv("x,wind\n1,west\n2,east\n3,west\n4,none\n", {.categorical = {"wind"}});
  EXPECT_EQ(t.categories[1], (Names{"east", "none", "west"}));
  EXPECT_EQ(t.values, (Values{1, 2, 2, 0, 3, 2, 4, 1}));
  // Words compare as text; numbers among them sort by value.
  const Table numeric = csv("10,a\n2.0,b\n2,a\n9,a\n", {.header = false, .categorical = {"0", "-1"}});
  EXPECT_EQ(numeric.categories[0], (Names{"2", "2.0", "9", "10"}));
  // Labels compare as numbers where they are plain ones.
  const Table labels = csv("1,2.0\n2,2\n3,02\n4,10\n", {.header = false, .labels = "-1"});
  EXPECT_EQ(labels.categories[1], (Names{"02", "2", "10"}));
  // A word that stands in a dropped row only is none of the column's.
  const Table dropped =
      csv("1,a\n,b\n3,a\n", {.header = false, .missing = MissingPolicy::drop, .categorical = {"1"}});
  EXPECT_EQ(dropped.categories[1], (Names{"a"}));
}

TEST(Table, blanks_separate_data_files) {
  const Table t = blanks("\t 1  2\t\t3 \r\n\n   \n4 5 6");
  EXPECT_EQ(t.values, (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(t.lines, (std::vector<std::size_t>{1, 4}));
  EXPECT_EQ(error_of([] { blanks("1,2,3\n4,5,6\n"); }),
            "t.data:1:1: '1,2,3' is not a number; separate the fields by blanks, or name the file .csv");
}

TEST(Table, long_lines_have_no_limit) {
  std::string line, name;
  for (int i = 0; i < 30000; ++i) line += (i ? "," : "") + std::to_string(i);
  const Table t = csv(line + "\n" + line + "\n");
  EXPECT_EQ(t.columns, 30000U);
  EXPECT_EQ(t.at(1, 29999), 29999);
}

TEST(Table, columns_go_by_name_then_by_index) {
  const Names names{"a", "1", "c", "c"};
  EXPECT_EQ(column_index("a", names, "here"), 0U);
  EXPECT_EQ(column_index("1", names, "here"), 1U);
  EXPECT_EQ(column_index("2", names, "here"), 2U);
  EXPECT_EQ(column_index("-1", names, "here"), 3U);
  EXPECT_EQ(error_of([&] { column_index("c", names, "here"); }),
            "here: several columns are named 'c'; give the column's index from 0");
  EXPECT_EQ(error_of([&] { column_index("d", names, "here"); }),
            "here: there is no column 'd'; the columns are a, 1, c, c");
  EXPECT_EQ(error_of([&] { column_index("4", names, "here"); }),
            "here: there is no column 4; the file has 4 columns, 0 to 3");
}

TEST(Table, numpy_files_are_tables_too) {
  const TemporaryFolder folder;
  const auto read = [&](const NpyArray& array, const TableOptions& options = {}) {
    write_npy(folder / "t.npy", array);
    return read_table(folder / "t.npy", options);
  };
  const Values values{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(read(NpyArray({2, 3}, values)).values, values);
  EXPECT_EQ(read(NpyArray({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6})).values, values);
  EXPECT_EQ(read(NpyArray({2, 3}, std::vector<std::int32_t>{1, 2, 3, 4, 5, 6})).values, values);
  EXPECT_EQ(read(NpyArray({3, 2}, std::vector<std::int64_t>{1, 2, 3, 4, 5, 6})).rows, 3U);
  EXPECT_NE(error_of([&] { read(NpyArray({6}, values)); }).find("an array of 1 dimensions is no table"),
            std::string::npos);
  const NpyArray holes({2, 2}, Values{1, 2, std::nan(""), 4});
  EXPECT_NE(error_of([&] { read(holes); }).find("t.npy:2:1: missing value (NaN)"), std::string::npos);
  EXPECT_EQ(read(holes, {.missing = MissingPolicy::drop}).values, (Values{1, 2}));
  EXPECT_NE(error_of([&] {
              read(NpyArray({1, 2}, Values{1, INFINITY}));
            }).find("t.npy:1:2: the value is not finite"),
            std::string::npos);
}

}  // namespace
}  // namespace smile
