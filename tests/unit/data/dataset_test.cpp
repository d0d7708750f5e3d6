// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "smile/data/dataset.hpp"
#include "smile/error.hpp"
#include "smile/random/stream.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

using test::TemporaryFolder;

/// Two features and a target; the second feature is far from standard.
Table numbers(std::size_t rows) {
  Table t;
  t.source = "t.data";
  t.column_names = {"a", "b", "y"};
  t.rows = rows;
  t.columns = 3;
  t.categories.resize(3);
  Stream stream({.seed = 9, .purpose = Purpose::split}, 77);
  for (std::size_t i = 0; i < rows; ++i) {
    const double a = stream.normal();
    t.values.insert(t.values.end(), {a, 1e6 + 20 * stream.uniform(), 3 * a + 5});
    t.lines.push_back(i + 1);
  }
  return t;
}

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Dataset, sizes_are_those_of_the_paper) {
  for (const auto& [rows, train, valid] : {std::tuple{1503, 1052, 150}, {768, 537, 76}, {100, 70, 10}}) {
    const Dataset d = assemble_dataset(numbers(static_cast<std::size_t>(rows)), {});
    EXPECT_EQ(d.train.rows, static_cast<std::size_t>(train));
    EXPECT_EQ(d.valid.rows, static_cast<std::size_t>(valid));
    EXPECT_EQ(d.test.rows, static_cast<std::size_t>(rows - train - valid));
  }
}

TEST(Dataset, fractions_that_round_badly_keep_their_rows) {
  const Dataset d = assemble_dataset(numbers(100), {.split = {.train = 0.29, .valid = 0.58, .test = 0.13}});
  EXPECT_EQ(d.train.rows, 29U);
  EXPECT_EQ(d.valid.rows, 58U);
}

TEST(Dataset, parts_are_disjoint_shuffled_and_seeded) {
  const Table t = numbers(200);
  const Dataset a = assemble_dataset(t, {.seed = 3}), b = assemble_dataset(t, {.seed = 3}),
                c = assemble_dataset(t, {.seed = 4});
  std::set<std::uint32_t> seen;
  for (const auto* rows : {&a.info.train_rows, &a.info.valid_rows, &a.info.test_rows})
    seen.insert(rows->begin(), rows->end());
  EXPECT_EQ(seen.size(), 200U);
  EXPECT_EQ(a.info.train_rows, b.info.train_rows);
  EXPECT_NE(a.info.train_rows, c.info.train_rows);
  EXPECT_FALSE(std::is_sorted(a.info.train_rows.begin(), a.info.train_rows.end()));
  // The rows are those that the indices name.
  const ColumnScaling& n = a.info.normalisation;
  for (std::size_t i = 0; i < a.test.rows; ++i) {
    EXPECT_NEAR(a.test.features[2 * i] * n.feature_sd[0] + n.feature_mean[0], t.at(a.info.test_rows[i], 0),
                1e-12);
    EXPECT_NEAR(n.original_target(a.test.targets[i]), t.at(a.info.test_rows[i], 2), 1e-12);
  }
}

TEST(Dataset, training_rows_have_mean_zero_and_sd_one) {
  const Dataset d = assemble_dataset(numbers(300), {});
  for (std::size_t j = 0; j < 3; ++j) {
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < d.train.rows; ++i) {
      const double x = j == 2 ? d.train.targets[i] : d.train.features[2 * i + j];
      mean += x, square += x * x;
    }
    mean /= static_cast<double>(d.train.rows);
    EXPECT_NEAR(mean, 0, 1e-9);
    EXPECT_NEAR(square / static_cast<double>(d.train.rows), 1, 1e-9);
  }
}

TEST(Dataset, test_rows_have_no_say_in_the_scaling) {
  Table t = numbers(100);
  const Dataset before = assemble_dataset(t, {});
  for (const auto* rows : {&before.info.test_rows, &before.info.valid_rows})
    for (std::uint32_t i : *rows)
      for (std::size_t j = 0; j < 3; ++j) t.values[i * 3 + j] *= 1000;
  const Dataset after = assemble_dataset(t, {});
  EXPECT_EQ(after.info.normalisation.feature_mean, before.info.normalisation.feature_mean);
  EXPECT_EQ(after.info.normalisation.feature_sd, before.info.normalisation.feature_sd);
  EXPECT_EQ(after.info.normalisation.target_mean, before.info.normalisation.target_mean);
  EXPECT_EQ(after.train.features, before.train.features);
  // With `all` they have.
  EXPECT_NE(assemble_dataset(t, {.normalize_with = NormalizeWith::all}).info.normalisation.feature_mean,
            before.info.normalisation.feature_mean);
}

TEST(Dataset, all_scales_with_every_row_and_none_with_no_row) {
  const Table t = numbers(50);
  std::vector<double> column;
  for (std::size_t i = 0; i < t.rows; ++i) column.push_back(t.at(i, 1));
  const Dataset all = assemble_dataset(t, {.normalize_with = NormalizeWith::all});
  EXPECT_DOUBLE_EQ(all.info.normalisation.feature_mean[1], moments_of(column).mean);
  const Dataset none = assemble_dataset(t, {.normalize = false});
  EXPECT_EQ(none.train.features[1], t.at(none.info.train_rows[0], 1));
  EXPECT_EQ(none.train.targets[0], t.at(none.info.train_rows[0], 2));
}

TEST(Dataset, a_limit_takes_the_first_rows_of_the_shuffled_file) {
  const Table t = numbers(500);
  const Dataset d = assemble_dataset(t, {.seed = 2, .max_rows = 50});
  const Dataset whole = assemble_dataset(t, {.seed = 2});
  EXPECT_EQ(d.train.rows + d.valid.rows + d.test.rows, 50U);
  EXPECT_TRUE(std::equal(d.info.train_rows.begin(), d.info.train_rows.end(), whole.info.train_rows.begin()));
  EXPECT_EQ(assemble_dataset(t, {.max_rows = 501}).train.rows, 350U);
}

TEST(Dataset, files_say_which_rows_are_in_which_part) {
  const test::TemporaryFolder folder;
  const std::string test = folder.write("index_test_0.txt", "3.000000000000000000e+00\n0\n").string();
  const std::string train = folder.write("index_train_0.txt", "9 8 7\r\n6 5\n4 2 1\n").string();
  const std::string valid = folder.write("valid.txt", "7").string();
  using Rows = std::vector<std::uint32_t>;
  // The public form: validation rows come out of the training rows, an eighth of them.
  const Dataset both = assemble_dataset(numbers(10), {.split_files = {.test = test, .train = train}});
  EXPECT_EQ(both.info.test_rows, (Rows{3, 0}));
  EXPECT_EQ(both.info.valid_rows.size(), 1U);
  EXPECT_EQ(both.info.train_rows.size(), 7U);
  Rows all = both.info.train_rows;
  all.insert(all.end(), both.info.valid_rows.begin(), both.info.valid_rows.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (Rows{1, 2, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(both.test.rows, 2U);
  // All others are for training; files win over test_split: 0.
  const Dataset rest = assemble_dataset(numbers(10), {.split = {.train = 0.9, .valid = 0.1, .test = 0},
                                                      .split_files = {.test = test, .valid = valid}});
  EXPECT_EQ(rest.info.train_rows, (Rows{1, 2, 4, 5, 6, 8, 9}));
  EXPECT_EQ(rest.info.valid_rows, (Rows{7}));
  EXPECT_TRUE(rest.warnings.empty());
  // Which of the training rows validate depends on the seed.
  EXPECT_NE(assemble_dataset(numbers(100), {.split_files = {.test = test}, .seed = 1}).info.valid_rows,
            assemble_dataset(numbers(100), {.split_files = {.test = test}, .seed = 2}).info.valid_rows);
}

TEST(Dataset, files_of_rows_that_cannot_be_are_errors_with_their_line) {
  const test::TemporaryFolder folder;
  const auto complaint = [&](const char* test_rows, std::optional<std::string> train = {}) {
    const SplitFiles files{.test = folder.write("test.txt", test_rows).string(), .train = train};
    return error_of([&] { assemble_dataset(numbers(10), {.split_files = files}); });
  };
  const auto says = [](const std::string& all, const std::string& part) {
    return all.find(part) != std::string::npos;
  };
  const std::string train = folder.write("train.txt", "1 2\n5 4\n").string();
  EXPECT_PRED2(says, complaint("3\n10\n"), "test.txt:2:1: row 10 is not there: the table has rows 0 to 9");
  EXPECT_PRED2(says, complaint("3\n-1\n"), "test.txt:2:1: ");
  EXPECT_PRED2(says, complaint("3\n4 x\n"), "test.txt:2:3: ");
  EXPECT_PRED2(says, complaint("3 2.5"), "test.txt:1:3: ");
  EXPECT_PRED2(says, complaint("3 nan"), "test.txt:1:3: ");
  EXPECT_PRED2(says, complaint("3 1e300"), "test.txt:1:3: row 1e+300 is not there");
  EXPECT_PRED2(says, complaint("3\n\n3\n"), "test.txt:3:1: row 3 stands at ");
  EXPECT_PRED2(says, complaint("3\n5\n", train), "train.txt:2:1: row 5 stands at ");
  EXPECT_PRED2(says, complaint(" \n"), "no row is in this file");
  EXPECT_PRED2(says, complaint("0 1 2 3 4 5 6 7 8 9"), "every row is for testing");
  EXPECT_PRED2(says, complaint("0 1 2 3 4 5 6 7 8"), "leave the valid part empty");
  EXPECT_PRED2(says, complaint("3", (folder / "none.txt").string()), "none.txt");
  EXPECT_PRED2(says, error_of([&] { assemble_dataset(numbers(10), {.split_files = {.train = train}}); }),
               "data.split_files.test: ");
  EXPECT_PRED2(
      says, error_of([&] { assemble_dataset(numbers(10), {.split_files = {.test = train}, .max_rows = 5}); }),
      "exclude each other");
  Table holes = numbers(10);
  holes.values[2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_PRED2(says, error_of([&] { assemble_dataset(holes, {.split_files = {.test = train}}); }),
               "row numbers no longer hold");
}

TEST(Dataset, impossible_requests_are_errors) {
  const Table t = numbers(20);
  EXPECT_EQ(error_of([&] { assemble_dataset(t, {.split = {.train = 0.8}}); }),
            "data: the train, valid and test fractions sum to 1.1; make them sum to 1");
  EXPECT_EQ(error_of([&] { assemble_dataset(t, {.split = {.train = -0.7, .valid = 1.5}}); }),
            "data.train_split: -0.7 is no fraction; give a number from 0 to 1");
  EXPECT_EQ(error_of([&] { assemble_dataset(t, {.split = {.train = 0.8, .valid = 0}}); }),
            "t.data: 20 rows leave the valid part empty; give more rows or change the fractions");
  EXPECT_EQ(error_of([&] { assemble_dataset(numbers(9), {}); }),
            "t.data: 9 rows leave the valid part empty; give more rows or change the fractions");
  EXPECT_EQ(error_of([&] { assemble_dataset(t, {.target_column = "z"}); }),
            "data.target_column: there is no column 'z'; the columns are a, b, y");
  EXPECT_NE(error_of([&] {
              assemble_dataset(t, {.features = std::vector<std::string>{"a", "y"}});
            }).find("'y' is the target"),
            std::string::npos);
  EXPECT_NE(error_of([&] { assemble_dataset(t, {.task = Task::multilabel}); }).find("is for text"),
            std::string::npos);
  EXPECT_NE(error_of([&] { assemble_dataset(t, {.max_rows = 0}); }).find("a limit of 0 rows"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              assemble_dataset(numbers(3), {.split = {.train = 0.34, .valid = 0.34, .test = 0.32}});
            }).find("one training row has no standard deviation"),
            std::string::npos);
}

TEST(Dataset, a_constant_target_is_an_error_and_a_constant_feature_becomes_zero) {
  Table t = numbers(20);
  for (std::size_t i = 0; i < 20; ++i) t.values[3 * i + 1] = 0.1;
  const Dataset d = assemble_dataset(t, {});
  for (std::size_t i = 0; i < d.train.rows; ++i) EXPECT_EQ(d.train.features[2 * i + 1], 0);
  ASSERT_EQ(d.warnings.size(), 1U);
  EXPECT_EQ(d.warnings[0], "column 'b' is constant in the training rows and becomes 0");
  EXPECT_EQ(error_of([&] { assemble_dataset(t, {.target_column = "b"}); }),
            "t.data: the target column 'b' is constant in the training rows; choose another target_column");
}

TEST(Dataset, target_and_features_are_chosen_by_name_or_index) {
  const Table t = numbers(30);
  const Dataset d = assemble_dataset(t, {.target_column = "0", .features = std::vector<std::string>{"y"}});
  EXPECT_EQ(d.info.target_name, "a");
  EXPECT_EQ(d.info.feature_names, std::vector<std::string>{"y"});
  // y = 3a + 5, so both standardise to the same numbers.
  for (std::size_t i = 0; i < d.train.rows; ++i) EXPECT_NEAR(d.train.features[i], d.train.targets[i], 1e-9);
}

TEST(Dataset, missing_features_become_the_training_mean) {
  Table t = numbers(40);
  const Dataset whole = assemble_dataset(t, {});
  const std::uint32_t in_train = whole.info.train_rows[0], in_test = whole.info.test_rows[0];
  t.values[3 * in_train] = t.values[3 * in_test] = std::nan("");
  t.values[3 * whole.info.train_rows[1] + 2] = std::nan("");
  const Dataset d = assemble_dataset(t, {});
  EXPECT_EQ(d.train.rows + d.valid.rows + d.test.rows, 39U);
  std::size_t zeros = 0;
  for (const DataPart* part : {&d.train, &d.valid, &d.test})
    for (std::size_t i = 0; i < part->rows; ++i) zeros += part->features[2 * i] == 0;
  EXPECT_EQ(zeros, 2U);
  EXPECT_EQ(d.warnings.size(), 2U);
  // Without scaling the mean itself is filled in.
  const Dataset raw = assemble_dataset(t, {.normalize = false});
  std::size_t means = 0;
  for (const DataPart* part : {&raw.train, &raw.valid, &raw.test})
    for (std::size_t i = 0; i < part->rows; ++i)
      means += part->features[2 * i] == raw.info.normalisation.feature_fill[0];
  EXPECT_EQ(means, 2U);
}

TEST(Dataset, labels_keep_their_names_and_counts_of_the_whole_file) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += std::to_string(i) + "," + (i % 4 == 0 ? "good" : i == 7 ? "odd" : "bad") + "\n";
  const Dataset d = load_dataset(folder.write("t.csv", text), {.header = false},
                                 {.task = Task::classification, .max_rows = 20});
  EXPECT_EQ(d.info.labels.names, (std::vector<std::string>{"bad", "good", "odd"}));
  EXPECT_EQ(d.info.labels.counts, (std::vector<std::size_t>{29, 10, 1}));
  for (std::size_t i = 0; i < d.train.rows; ++i)
    EXPECT_EQ(d.train.targets[i], d.info.train_rows[i] % 4 == 0 ? 1 : d.info.train_rows[i] == 7 ? 2 : 0);
  EXPECT_EQ(d.info.normalisation.target_sd, 1);
}

TEST(Dataset, labels_that_are_no_classes_are_errors) {
  const TemporaryFolder folder;
  const DatasetOptions options{.task = Task::classification};
  const auto fraction = folder.write("t.csv", "1,0\n2,1\n3,1.5\n");
  EXPECT_NE(error_of([&] {
              load_dataset(fraction, {}, options);
            }).find("t.csv:3:2: label '1.5' is no whole number"),
            std::string::npos);
  const auto single = folder.write("t.csv", "1,0\n2,0\n3,0\n");
  EXPECT_NE(error_of([&] { load_dataset(single, {}, options); }).find("has one class only (0)"),
            std::string::npos);
}

// Identifiers, remarks, half-empty columns: what is neither a feature nor the target may hold anything.
TEST(Dataset, only_features_and_the_target_are_read) {
  const TemporaryFolder folder;
  std::string text = "id,age,remark,half,y\n";
  for (int i = 0; i < 40; ++i)
    text += "p" + std::to_string(i) + "," + std::to_string(20 + i % 7) + ",\"a, \"\"b\"\" 1e999\"," +
            (i % 2 ? "" : "3") + "," + std::to_string(i % 5) + "\n";
  const auto file = folder.write("t.csv", text);
  for (const MissingPolicy missing : {MissingPolicy::error, MissingPolicy::drop, MissingPolicy::mean}) {
    const Dataset d = load_dataset(file, {.missing = missing},
                                   {.task = Task::regression, .features = std::vector<std::string>{"age"}});
    EXPECT_EQ(d.train.rows + d.valid.rows + d.test.rows, 40u);
    EXPECT_TRUE(d.warnings.empty()) << d.warnings.front();
    const PredictionRows again = load_prediction_rows(file, {.missing = missing}, d.info);
    EXPECT_EQ(again.rows, 40u);
    EXPECT_EQ(again.dropped, 0u);
  }
  EXPECT_NE(error_of([&] {
              load_dataset(file, {},
                           {.task = Task::regression, .features = std::vector<std::string>{"agee"}});
            }).find("there is no column"),
            std::string::npos);
  EXPECT_NE(error_of([&] { load_dataset(file, {}, {.task = Task::regression}); }).find("is not a number"),
            std::string::npos);
}

// Networks compute in single precision, on shuffled parts: what does not fit is named where it stands in the
// file.
TEST(Dataset, values_beyond_single_precision_are_named_by_their_line) {
  const TemporaryFolder folder;
  std::string text = "x,y\n";
  for (int i = 2; i <= 41; ++i)
    text += (i == 7 ? std::string("1e300") : std::to_string(i % 5)) + "," + std::to_string(i % 3) + "\n";
  for (const bool normalize : {false, true}) {
    // Where it is in the training part its own standard deviation brings it back into range.
    for (std::uint64_t seed = 1; seed < 8; ++seed) {
      const std::string error = error_of([&] {
        load_dataset(folder.write("t.csv", text), {},
                     {.task = Task::regression, .normalize = normalize, .seed = seed});
      });
      if (!normalize || error != "no error") {
        EXPECT_NE(error.find("t.csv:7:1: the value is too large"), std::string::npos) << error;
      }
    }
  }
  text = "1,2\n2,1e39\n3,1\n4,2\n5,3\n6,1\n7,2\n8,1\n9,2\n10,1\n";
  EXPECT_NE(error_of([&] {
              load_dataset(folder.write("t.csv", text), {}, {.task = Task::regression, .normalize = false});
            }).find("t.csv:2:2: the value is too large"),
            std::string::npos);
}

TEST(Dataset, moments_survive_extreme_values) {
  const auto check = [](std::vector<double> values, double mean, double sd) {
    const Moments m = moments_of(values);
    EXPECT_NEAR(m.mean, mean, 1e-14 * std::fabs(mean));
    EXPECT_NEAR(m.sd, sd, 1e-14 * sd);
  };
  check({1e308, -1e308, 1e308, -1e308}, 0, 1e308);
  check({1e-300, 3e-300}, 2e-300, 1e-300);
  check({1e15, 1e15 + 1, 1e15 + 2, 1e15 + 3}, 1e15 + 1.5, std::sqrt(1.25));
  check({1e-310, 3e-310}, 2e-310, 1e-310);
  EXPECT_EQ(moments_of(std::vector<double>{0.1, 0.1, 0.1}).sd, 0);
  EXPECT_EQ(moments_of(std::vector<double>{0.1, 0.1, 0.1}).mean, 0.1);
  check({1, std::nan(""), 3, std::nan("")}, 2, std::sqrt(0.5));
}

TEST(Dataset, the_splits_file_brings_everything_back) {
  const TemporaryFolder folder;
  const auto path = folder.write("t.csv",
                                 "x,wind,quality\n1,west,3\n2,east,5\n3,west,8\n4,north,5\n5,east,3\n"
                                 "6,east,8\n7,west,3\n8,east,5\n9,west,8\n10,north,5\n");
  const DatasetInfo info = load_dataset(path, {.categorical = {"wind"}},
                                        {.task = Task::classification, .seed = 18446744073709551615ULL})
                               .info;
  save_dataset_info(info, folder / "dataset_splits.npz");
  const DatasetInfo back = load_dataset_info(folder / "dataset_splits.npz");
  EXPECT_EQ(back.train_rows, info.train_rows);
  EXPECT_EQ(back.valid_rows, info.valid_rows);
  EXPECT_EQ(back.test_rows, info.test_rows);
  EXPECT_EQ(back.normalisation.feature_mean, info.normalisation.feature_mean);
  EXPECT_EQ(back.normalisation.feature_sd, info.normalisation.feature_sd);
  EXPECT_EQ(back.normalisation.feature_fill, info.normalisation.feature_fill);
  EXPECT_EQ(back.labels.names, (std::vector<std::string>{"3", "5", "8"}));
  EXPECT_EQ(back.labels.counts, info.labels.counts);
  EXPECT_EQ(back.feature_names, info.feature_names);
  EXPECT_EQ(back.feature_categories, info.feature_categories);
  EXPECT_EQ(back.feature_columns, info.feature_columns);
  EXPECT_EQ(back.target_name, "quality");
  EXPECT_EQ(back.target_position, 2U);
  EXPECT_EQ(back.file_columns, 3U);
  EXPECT_EQ(back.has_header, true);
  EXPECT_EQ(back.source, info.source);
  EXPECT_EQ(back.task, Task::classification);
  EXPECT_EQ(back.seed, 18446744073709551615ULL);
}

TEST(Dataset, the_splits_file_of_a_regression_comes_back) {
  const TemporaryFolder folder;
  const DatasetInfo info = assemble_dataset(numbers(40), {}).info;
  save_dataset_info(info, folder / "dataset_splits.npz");
  const DatasetInfo back = load_dataset_info(folder / "dataset_splits.npz");
  EXPECT_EQ(back.labels.classes(), 0U);
  EXPECT_EQ(back.normalisation.target_mean, info.normalisation.target_mean);
  EXPECT_EQ(back.normalisation.target_sd, info.normalisation.target_sd);
  EXPECT_EQ(back.feature_categories.size(), 2U);
}

TEST(PredictionRows, columns_are_found_by_name_or_place) {
  const TemporaryFolder folder;
  std::string text = "a,wind,y\n";
  for (int i = 0; i < 20; ++i)
    text += std::to_string(i) + (i % 2 ? ",east," : ",west,") + std::to_string(i * i) + "\n";
  const Dataset d = load_dataset(folder.write("train.csv", text), {.categorical = {"wind"}}, {});
  const DatasetInfo& info = d.info;
  const auto scaled = [&](double a, double wind) {
    std::vector<double> row{a, wind};
    info.normalisation.scale_features(row);
    return row;
  };
  const auto read = [&](const std::string& content) {
    return load_prediction_rows(folder.write("new.csv", content), {}, info);
  };
  // Another order, a column more, no target.
  const PredictionRows by_name = read("extra,wind,a\n7,west,3\n7,east,4\n");
  EXPECT_EQ(by_name.rows, 2U);
  EXPECT_TRUE(by_name.targets.empty());
  EXPECT_EQ(std::vector<double>(by_name.features.begin(), by_name.features.begin() + 2), scaled(3, 1));
  EXPECT_EQ(by_name.lines, (std::vector<std::size_t>{2, 3}));
  // No header: by place, with and without the target.
  EXPECT_EQ(read("3,west\n").features, scaled(3, 1));
  const PredictionRows with_target = read("3,west,9\n");
  EXPECT_EQ(with_target.features, scaled(3, 1));
  ASSERT_EQ(with_target.targets.size(), 1U);
  EXPECT_NEAR(info.normalisation.original_target(with_target.targets[0]), 9, 1e-12);

  EXPECT_NE(error_of([&] { read("1,west,2,3\n"); }).find("has 4 columns where the training file had 3"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read("a,y\n1,2\n"); }).find("there is no column 'wind'; the columns are a, y"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read("a,wind\n1,up\n"); }).find("new.csv:2:2: 'up' did not occur"),
            std::string::npos);
}

TEST(PredictionRows, labels_are_mapped_as_in_training) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 30; ++i) text += std::to_string(i) + " " + std::to_string(3 + 2 * (i % 3)) + ".0\n";
  const Dataset d = load_dataset(folder.write("train.data", text), {}, {.task = Task::classification});
  const PredictionRows rows = load_prediction_rows(folder.write("new.data", "1 7\n2 3\n"), {}, d.info);
  EXPECT_EQ(rows.targets, (std::vector<double>{2, 0}));
  EXPECT_NE(error_of([&] {
              load_prediction_rows(folder.write("new.data", "1 4\n"), {}, d.info);
            }).find("new.data:1:2: '4' did not occur"),
            std::string::npos);
}

}  // namespace
}  // namespace smile
