// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "smile/data/table.hpp"
#include "smile/error.hpp"
#include "smile/files/npy.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

using test::TemporaryFolder;

/// All blocks of a file, joined.
Table in_blocks(const std::filesystem::path& path, std::size_t rows, const TableOptions& options = {}) {
  TableBlocks blocks(path, options);
  Table all, block;
  while (blocks.next(rows, block)) {
    EXPECT_LE(block.rows, rows);
    all.rows += block.rows;
    all.columns = block.columns;
    all.column_names = block.column_names;
    all.values.insert(all.values.end(), block.values.begin(), block.values.end());
    all.lines.insert(all.lines.end(), block.lines.begin(), block.lines.end());
    all.dropped_lines.insert(all.dropped_lines.end(), block.dropped_lines.begin(), block.dropped_lines.end());
  }
  return all;
}

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Several windows long, with records of several lines and all kinds of line ends, so that every kind of
/// window edge occurs.
constexpr std::size_t kRows = 120000;

TEST(TableBlocks, a_csv_file_of_many_windows_is_read_as_a_whole_one) {
  const TemporaryFolder folder;
  std::string text = "\"a\",\"b,\nb\",c\r\n";
  std::vector<std::size_t> lines;
  std::size_t line = 3;
  for (std::size_t i = 0; i < kRows; ++i) {
    lines.push_back(line);
    text += std::to_string(i) + ",\"" + std::to_string(0.5 * double(i)) + "\"," + std::to_string(i % 7);
    if (i % 5 == 0)
      text += "\r\n\r\n", line += 2;  // a blank line
    else if (i % 5 == 1)
      text += "\n", ++line;
    else
      text += "\r\n", ++line;
  }
  ASSERT_GT(text.size(), std::size_t{2} << 20);
  const auto path = folder.write("t.csv", text);
  for (const Table& table : {in_blocks(path, 997), read_table(path)}) {
    ASSERT_EQ(table.rows, kRows);
    EXPECT_EQ(table.column_names, (std::vector<std::string>{"a", "b,\nb", "c"}));
    EXPECT_EQ(table.lines, lines);
    for (std::size_t i = 0; i < kRows; ++i) {
      ASSERT_EQ(table.values[3 * i], double(i));
      ASSERT_EQ(table.values[3 * i + 1], 0.5 * double(i));
      ASSERT_EQ(table.values[3 * i + 2], double(i % 7));
    }
  }
}

TEST(TableBlocks, a_record_longer_than_a_window) {
  const TemporaryFolder folder;
  const std::string digits(std::size_t{3} << 20, '0');
  const Table table = in_blocks(folder.write("t.csv", "1,\"0." + digits + "\"\n2,3\n"), 1);
  EXPECT_EQ(table.values, (std::vector<double>{1, 0, 2, 3}));
  const Table plain = in_blocks(folder.write("t.data", "1 0." + digits + "\n2 3"), 1);
  EXPECT_EQ(plain.values, (std::vector<double>{1, 0, 2, 3}));
}

TEST(TableBlocks, a_data_file_and_an_array_of_many_windows) {
  const TemporaryFolder folder;
  std::string text;
  std::vector<double> values;
  for (std::size_t i = 0; i < kRows; ++i) {
    text += std::to_string(i) + " \t " + std::to_string(2 * i) + (i % 3 ? "\n" : "\r\n");
    values.push_back(double(i));
    values.push_back(double(2 * i));
  }
  EXPECT_EQ(in_blocks(folder.write("t.data", text), 1001).values, values);
  write_npy(folder / "t.npy", {kRows, 2}, std::span<const double>(values));
  const Table array = in_blocks(folder / "t.npy", 1001);
  EXPECT_EQ(array.values, values);
  EXPECT_EQ(array.lines.back(), kRows);
}

TEST(TableBlocks, errors_far_down_name_their_line) {
  const TemporaryFolder folder;
  std::string text = "a,b\n";
  for (std::size_t i = 0; i < kRows; ++i) text += std::to_string(i) + ",0.25000000000000\n";
  const std::string line = std::to_string(kRows + 2);
  const auto refusal = [&](const std::string& last) {
    const auto path = folder.write("t.csv", text + last);
    return error_of([&] { in_blocks(path, 1000); });
  };
  EXPECT_NE(refusal("7,x\n").find("t.csv:" + line + ":2: 'x' is not a number"), std::string::npos);
  EXPECT_NE(refusal("7,8,9\n").find("t.csv:" + line + ":3: expected 2 fields, found 3"), std::string::npos);
  EXPECT_NE(refusal("7,\"8\n").find("t.csv:" + line + ":2: a quoted field does not end"), std::string::npos);
  EXPECT_NE(refusal(std::string("7,\0\n", 4)).find("t.csv:" + line + ":2: binary content"),
            std::string::npos);
}

TEST(TableBlocks, rows_left_out_are_known_with_their_block) {
  const TemporaryFolder folder;
  TableOptions options;
  options.missing = MissingPolicy::drop;
  const Table table = in_blocks(folder.write("t.csv", "1,\n2,3\n,4\n,\n4,5\n6,\n"), 1, options);
  EXPECT_EQ(table.values, (std::vector<double>{2, 3, 4, 5}));
  EXPECT_EQ(table.lines, (std::vector<std::size_t>{2, 5}));
  EXPECT_EQ(table.dropped_lines, (std::vector<std::size_t>{1, 3, 6}));
  EXPECT_NE(error_of([&] { in_blocks(folder.write("u.csv", "1,\n2,\n3,x\n"), 1); }), "no error");
  EXPECT_NE(error_of([&] { in_blocks(folder.write("u.csv", "1,\n,2\n"), 1, options); }).find("every row has"),
            std::string::npos);
}

}  // namespace
}  // namespace smile
