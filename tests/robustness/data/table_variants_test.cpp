// SPDX-License-Identifier: Apache-2.0
// Tables as people have them: each is read as it is meant, or refused in a line that names it, both in
// training and when the same file is predicted.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "smile/data/dataset.hpp"
#include "smile/data/table.hpp"
#include "smile/error.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

using test::TemporaryFolder;
using Names = std::vector<std::string>;

struct Variant {
  const char* name;
  const char* file;
  std::string text;        ///< rows of "x, z, y", 0 … 19, follow where it ends with "…"
  const char* error = "";  ///< part of it; empty: is read
  TableOptions options = {};
  DatasetOptions dataset = {.task = Task::regression};
};
std::ostream& operator<<(std::ostream& out, const Variant& v) {
  return out << v.name;
}

std::string rows(char delimiter, int columns = 3, const std::string& end = "\n", bool index = false) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    if (index) text += std::to_string(i) + delimiter;
    for (int j = 0; j < columns; ++j)
      text += (j ? std::string(1, delimiter) : "") + std::to_string((i * (3 + j) + j) % 17) +
              (j == 1 ? ".5" : "");
    text += end;
  }
  return text;
}

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_FALSE(error.mend().empty());
    return error.what();
  }
  return "";
}

class TableVariants : public testing::TestWithParam<Variant> {};

TEST_P(TableVariants, are_read_or_named_in_training_and_prediction_alike) {
  const Variant& v = GetParam();
  const TemporaryFolder folder;
  const auto path = folder.write(v.file, v.text);
  Dataset data;
  const std::string error = message([&] { data = load_dataset(path, v.options, v.dataset); });
  if (*v.error) {
    EXPECT_NE(error.find(v.error), std::string::npos) << error;
    return;
  }
  ASSERT_EQ(error, "");
  EXPECT_EQ(data.train.rows + data.valid.rows + data.test.rows, 20U);
  EXPECT_EQ(data.info.inputs(), 2U);
  // What was trained on is predicted: every number is the same again.
  PredictionRows again;
  TableOptions options = v.options;
  ASSERT_EQ(message([&] { again = load_prediction_rows(path, options, data.info); }), "");
  ASSERT_EQ(again.rows, 20U);
  ASSERT_EQ(again.targets.size(), 20U);
  for (std::size_t k = 0; k < data.info.train_rows.size(); ++k)
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_EQ(again.features[2 * data.info.train_rows[k] + j], data.train.features[2 * k + j]);
  save_dataset_info(data.info, folder / "splits.npz");
  EXPECT_EQ(load_dataset_info(folder / "splits.npz").feature_names, data.info.feature_names);
}

std::string words(const std::string& head) {
  std::string text = head;
  const char* colours[] = {"red", "green", "blue"};
  for (int i = 0; i < 20; ++i)
    text += std::string(colours[i % 3]) + "," + (i % 2 ? "s" : "t") + "," + (i % 5 ? "e" : "p") + "\n";
  return text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

INSTANTIATE_TEST_SUITE_P(
    Read, TableVariants,
    testing::Values(
        Variant{"plain", "t.csv", "x,z,y\n" + rows(',')},
        Variant{"byte_order_mark", "t.csv", "\xef\xbb\xbfx,z,y\n" + rows(',')},
        Variant{"mark_and_no_header", "t.csv", "\xef\xbb\xbf" + rows(',')},
        Variant{"crlf", "t.csv", "x,z,y\r\n" + rows(',', 3, "\r\n")},
        Variant{"lines_end_with_cr", "t.csv", "x,z,y\r" + rows(',', 3, "\r")},
        Variant{"lines_of_blanks_end_with_cr", "t.data", rows(' ', 3, "\r")},
        Variant{"quoted_names", "t.csv", "\"x\",\"z\",\"y\"\n" + rows(',')},
        Variant{"names_beyond_ascii", "t.csv", "größe,\xe9\xab\x98,y\n" + rows(',')},
        Variant{"blanks_round_names", "t.csv", " x , z , y \n" + rows(',')},
        Variant{"semicolons", "t.csv", "x;z;y\n" + rows(';')},
        Variant{"tabs", "t.csv", "x\tz\ty\n" + rows('\t')},
        Variant{"tabs_in_tsv", "t.tsv", "x\tz\ty\n" + rows('\t')},
        Variant{"tabs_in_txt", "t.txt", "x\tz\ty\n" + rows('\t')},
        Variant{"separator_announced", "t.csv", "sep=;\nx;z;y\n" + rows(';')},
        Variant{"separator_at_all_ends", "t.csv", "x,z,y,\n" + rows(',', 3, ",\n")},
        Variant{"separators_alone_at_the_end", "t.csv", "x,z,y\n" + rows(',') + ",,\n,,\n"},
        Variant{"blank_lines", "t.csv", "\n\nx,z,y\n\n" + rows(',', 3, "\n\n")},
        Variant{"comments", "t.csv", "# made; by me, today\nx,z,y\n" + rows(',') + "# end\n"},
        Variant{"names_behind_a_hash", "t.data", "# x z y\n" + rows(' ')},
        Variant{"names_at_a_hash", "t.csv", "#x,z,y\n" + rows(',')},
        Variant{"comments_above_names_behind_a_hash", "t.txt", "# saved by numpy\n# x z y\n" + rows(' ')},
        Variant{"index_of_pandas", "t.csv", ",x,z,y\n" + rows(',', 3, "\n", true)},
        Variant{"index_of_pandas_saved_twice", "t.csv", "Unnamed: 0,x,z,y\n" + rows(',', 3, "\n", true)},
        Variant{"row_names_of_r", "t.txt", "\"x\" \"z\" \"y\"\n" + rows(' ', 3, "\n", true)},
        Variant{"names_like_missing_values", "t.csv", "Na,None,y\n" + rows(',')},
        Variant{"names_of_one_kind", "t.csv", "x,x,y\n" + rows(',')},
        Variant{"a_name_like_the_target", "t.csv", "y,z,y\n" + rows(',')},
        Variant{"a_column_without_a_name", "t.csv", "x,,y\n" + rows(',')},
        Variant{"names_are_numbers", "t.csv", "2019,2020,2021\n" + rows(','), "", {.header = true}},
        Variant{"words_without_names",
                "t.csv",
                words(""),
                "",
                {.categorical = {"0", "1"}},
                {.task = Task::classification}},
        Variant{"words_with_names",
                "t.csv",
                words("colour,size,kind\n"),
                "",
                {.categorical = {"colour", "size"}},
                {.task = Task::classification}},
        Variant{"exponents_and_signs", "t.csv", "x,z,y\n" + replaced(rows(','), "0,1.5", "+0e-3,1.5E+0")}),
    [](const auto& v) { return std::string(v.param.name); });

Variant with(const char* name, const std::string& cell, const char* error) {
  return {name, "t.csv", "x;z;y\n" + replaced(rows(';'), "0;1.5", cell + ";1.5"), error};
}

INSTANTIATE_TEST_SUITE_P(
    Named, TableVariants,
    testing::Values(
        Variant{"latin1_name", "t.csv",
                "gr\xf6\xdf"
                "e,z,y\n" +
                    rows(','),
                "is not UTF-8"},
        Variant{"latin1_in_the_last_line", "t.csv", "x,z,y\n" + rows(',') + "1,2,\xb5\n",
                "t.csv:22:3: byte 181"},
        Variant{"utf16", "t.csv",
                std::string("\xff\xfe"
                            "x\0,\0",
                            6),
                "UTF-16"},
        Variant{"utf16_without_a_mark", "t.csv", std::string("x\0,\0y\0\n\0", 8), "UTF-16"},
        Variant{"a_spreadsheet", "t.csv", "PK\x03\x04", "ZIP archive"},
        Variant{"ragged", "t.csv", "x,z,y\n" + rows(',') + "1,2\n", "t.csv:22:3: expected 3 fields, found 2"},
        Variant{"a_name_too_few", "t.csv", "x,z\n" + replaced(rows(','), "0,1.5", "5,1.5"),
                "expected 2 fields, found 3"},
        Variant{"names_twice", "t.csv", "x,z,y\n" + rows(',') + "x,z,y\n",
                "t.csv:22:1: 'x' is not a number: the line repeats"},
        with("thousands", "1,000", "has separators of thousands"),
        with("thousands_of_others", "1.234.567", "is not a number"),
        with("thousands_of_switzerland", "1'000", "has separators of thousands"),
        with("thousands_with_blanks", "1 000", "has separators of thousands"),
        with("decimal_comma", "3,14", "has a decimal comma"),
        with("fortran", "1.0D+02", "has a Fortran exponent"), with("hexadecimal", "0xFF", "hexadecimal"),
        with("infinite", "-Inf", "is not a finite number"),
        with("infinity", "Infinity", "is not a finite number"),
        with("too_large", "1e400", "beyond the range of double"), with("truth", "True", "a truth value"),
        with("a_date", "2024-01-31", "a date or a time"), with("a_time", "12:30:00", "a date or a time"),
        with("a_date_with_strokes", "31/01/2024", "a date or a time"),
        with("percent", "12%", "a percent sign"), with("currency", "$5", "a sign of currency"),
        with("a_unit", "5 kg", "is not a number"),
        with("a_minus_sign",
             "\xe2\x88\x92"
             "5",
             "minus sign"),
        with("a_spreadsheets_error", "#DIV/0!", "an error of a spreadsheet"),
        with("missing", "#N/A", "missing value '#N/A'")),
    [](const auto& v) { return std::string(v.param.name); });

TEST(TableVariants, a_cell_far_from_all_others_is_told) {
  const TemporaryFolder folder;
  for (const char* cell : {"1e30", "-999999999", "1e300"}) {
    const auto path =
        folder.write("t.csv", "x;z;y\n" + replaced(rows(';'), "0;1.5", std::string(cell) + ";1.5"));
    Dataset data;
    const std::string error =
        message([&] { data = load_dataset(path, {}, DatasetOptions{.task = Task::regression}); });
    if (!error.empty()) {
      EXPECT_NE(error.find("t.csv:2:1: the value is too large"), std::string::npos) << error;
      continue;
    }
    ASSERT_EQ(data.warnings.size(), 1U);
    EXPECT_NE(data.warnings[0].find("in line 2, while half of its rows lie between"), std::string::npos)
        << data.warnings[0];
  }
}

TEST(TableVariants, rows_to_be_predicted_that_training_has_seen_nothing_like_are_counted) {
  const TemporaryFolder folder;
  const Dataset data =
      load_dataset(folder.write("t.csv", "x,z,y\n" + rows(',')), {.missing = MissingPolicy::mean},
                   DatasetOptions{.task = Task::regression});
  PredictionReader reader(folder.write("new.csv", "x,z,y\n3,4,5\n1e30,4,\n-2,4,NA\n3,,2\n# end\n,,\n"),
                          {.missing = MissingPolicy::mean}, data.info);
  PredictionRows block;
  ASSERT_TRUE(reader.next(100, block));
  ASSERT_EQ(block.rows, 4U);
  ASSERT_EQ(block.targets.size(), 4U);
  EXPECT_FALSE(std::isnan(block.targets[0]));
  EXPECT_TRUE(std::isnan(block.targets[1]));
  EXPECT_TRUE(std::isnan(block.targets[2]));
  const auto remarks = reader.remarks();
  ASSERT_EQ(remarks.size(), 4U) << testing::PrintToString(remarks);
  EXPECT_EQ(remarks[0], "1 missing value replaced by the mean of the training rows");
  EXPECT_NE(
      remarks[1].find("2 rows with a feature outside of its range in the training rows, 1 by more than the "
                      "range's width (first: line 3, 'x' is 1e+30, in training "),
      std::string::npos)
      << remarks[1];
  EXPECT_EQ(remarks[2], "1 line beginning with # left out");
  EXPECT_EQ(remarks[3], "1 line without a value left out");
}

TEST(TableVariants, codes_with_leading_zeros_are_words_and_labels_of_their_own) {
  const TemporaryFolder folder;
  std::string text = "zip,y\n";
  for (int i = 0; i < 30; ++i)
    text +=
        std::string(i % 2 ? "00501" : "501") + "," + std::array{"01", "1", "10"}[std::size_t(i % 3)] + "\n";
  const auto path = folder.write("t.csv", text);
  const Dataset data = load_dataset(path, {.categorical = {"zip"}}, {.task = Task::classification});
  EXPECT_EQ(data.info.feature_categories[0], (Names{"00501", "501"}));
  EXPECT_EQ(data.info.labels.names, (Names{"01", "1", "10"}));
  const PredictionRows again =
      load_prediction_rows(folder.write("n.csv", "zip,y\n501,1.0\n00501,01\n"), {}, data.info);
  EXPECT_EQ(again.targets, (std::vector<double>{1, 0}));
  EXPECT_NE(message([&] {
              load_prediction_rows(folder.write("n.csv", "zip\n0501\n"), {}, data.info);
            }).find("'0501' did not occur"),
            std::string::npos);
}

/// A .npy file of records from its header and its bytes.
std::string npy(const std::string& descr, const std::string& shape, const std::string& bytes,
                const char* order = "False") {
  std::string header = "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.resize((10 + header.size() + 64) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += char(header.size() & 0xff);
  file += char(header.size() >> 8);
  return file + header + bytes;
}
template <class T>
std::string raw(T value, bool swapped = false) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return swapped ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
}

TEST(NumpyTables, records_are_columns_with_names) {
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 4; ++i)
    bytes += raw(float(i) + 0.5f) + raw(std::int16_t(-i), true) + char(i % 2) + raw(std::uint64_t(7 + i));
  const Table t = read_table(folder.write(
      "t.npy",
      npy("[('x', '<f4'), ('it\\'s', '>i2'), ('flag', '|b1'), (('title', 'y'), '<u8')]", "(4,)", bytes)));
  EXPECT_EQ(t.column_names, (Names{"x", "it's", "flag", "y"}));
  EXPECT_TRUE(t.has_header);
  EXPECT_EQ(t.values, (std::vector<double>{0.5, 0, 0, 7, 1.5, -1, 1, 8, 2.5, -2, 0, 9, 3.5, -3, 1, 10}));
}

TEST(NumpyTables, fields_of_text_are_words) {
  const TemporaryFolder folder;
  std::string bytes;
  for (const char* word : {"ab", "c", "ab"}) {
    for (int k = 0; k < 2; ++k) bytes += raw(std::uint32_t(std::strlen(word) > std::size_t(k) ? word[k] : 0));
    bytes += raw(0.1) + std::string(word[0] == 'a' ? "on\0" : "off", 3);
  }
  const auto path =
      folder.write("t.npy", npy("[('kind', '<U2'), ('', '|V0'), ('x', '<f8'), ('s', 'S3')]", "(3,)", bytes));
  const Table t = read_table(path, {.categorical = {"kind", "s"}});
  EXPECT_EQ(t.column_names, (Names{"kind", "x", "s"}));
  EXPECT_EQ(t.categories[0], (Names{"ab", "c"}));
  EXPECT_EQ(t.values, (std::vector<double>{0, 0.1, 1, 1, 0.1, 0, 0, 0.1, 1}));
  EXPECT_NE(message([&] { read_table(path); })
                .find("t.npy:1:1: 'ab' is not a number; correct the field, or say that the "
                      "column holds words: 'data.categorical: [kind]'"),
            std::string::npos);
}

TEST(NumpyTables, matrices_of_any_order_and_element) {
  const TemporaryFolder folder;
  const std::vector<double> expected{1, 2, 3, 4, 5, 6};
  std::string bytes, columns, bytes8, big;
  for (int i = 1; i <= 6; ++i) bytes += raw(std::int16_t(i)), bytes8 += char(i), big += raw(double(i), true);
  for (const double v : {1., 4., 2., 5., 3., 6.}) columns += raw(v);
  EXPECT_EQ(read_table(folder.write("t.npy", npy("'<i2'", "(2, 3)", bytes))).values, expected);
  EXPECT_EQ(read_table(folder.write("t.npy", npy("'|i1'", "(2, 3)", bytes8))).values, expected);
  EXPECT_EQ(read_table(folder.write("t.npy", npy("'>f8'", "(2, 3)", big))).values, expected);
  const auto fortran = folder.write("t.npy", npy("'<f8'", "(2, 3)", columns, "True"));
  EXPECT_EQ(read_table(fortran).values, expected);
  TableBlocks blocks(fortran);
  Table block;
  ASSERT_TRUE(blocks.next(1, block));
  EXPECT_EQ(block.values, (std::vector<double>{1, 2, 3}));
  ASSERT_TRUE(blocks.next(1, block));
  EXPECT_EQ(block.values, (std::vector<double>{4, 5, 6}));
}

TEST(NumpyTables, what_is_no_table_is_named) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& descr, const std::string& shape,
                         const std::string& bytes = std::string(64, '\1')) {
    return message([&] { read_table(folder.write("t.npy", npy(descr, shape, bytes))); });
  };
  for (const auto& [descr, shape, what] : std::vector<std::array<std::string, 3>>{
           {"'|O'", "(2, 2)", "elements of type '|O' are no number and no text (Python objects)"},
           {"'<c16'", "(2, 2)", "elements of type '<c16'"},
           {"[('when', '<M8[ns]'), ('y', '<f8')]", "(2,)",
            "field 'when' of type '<M8[ns]' is no number and no text (dates)"},
           {"[('v', '<f4', (3,)), ('y', '<f8')]", "(2,)", "field 'v' has several values"},
           {"[('p', [('a', '<f8')]), ('y', '<f8')]", "(2,)", "field 'p' is a record itself"},
           {"[('x', '<f4'), ('y', '<f8')]", "(2, 2)", "2 dimensions of records is no table"},
           {"[('x', '<f4'), ('y', '<f8')]", "(9,)", "cut short"},
           {"[('x', '<f4'), ('y' '<f8')]", "(2,)", "damaged NumPy header"},
           {"[('x', 'f'), ('y', '<f8')]", "(2,)", "damaged NumPy header"},
           {"[]", "(2,)", "damaged NumPy header"}})
    EXPECT_NE(error(descr, shape).find(what), std::string::npos) << descr << ": " << error(descr, shape);
}

TEST(NumpyTables, headers_cut_anywhere_are_refused) {
  const TemporaryFolder folder;
  const std::string good = npy("[('x', '<f4'), ('k', '<U1'), ('y', '<f8')]", "(2,)", std::string(32, '\0'));
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(
        message([&] { read_table(folder.write("t.npy", good.substr(0, length)), {.categorical = {"k"}}); }),
        "");
}

}  // namespace
}  // namespace smile
