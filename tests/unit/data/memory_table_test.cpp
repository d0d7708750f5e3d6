// SPDX-License-Identifier: Apache-2.0
// Tables over a caller's arrays: the same data set as from a file, without copies.
#include "smile/data/memory_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "smile/data/dataset.hpp"
#include "smile/error.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Features [rows, 2] in single precision, a target in double, words apart.
struct Arrays {
  std::vector<float> features;
  std::vector<double> target;
  std::vector<std::int64_t> codes;
  std::size_t rows;

  explicit Arrays(std::size_t n) : rows(n) {
    for (std::size_t i = 0; i < n; ++i) {
      features.push_back(float(i % 7) / 4);
      features.push_back(float(i * i % 13));
      target.push_back(0.1 * double(i % 11) + double(features[2 * i]));
      codes.push_back(std::int64_t(i % 3));
    }
  }
  std::vector<MemoryColumn> columns() const {
    return {{"a", features.data(), 8, NumberType::float32, {}},
            {"b", features.data() + 1, 8, NumberType::float32, {}},
            {"wind", codes.data(), 8, NumberType::int64, {"east", "north", "west"}},
            {"y", target.data(), 8, NumberType::float64, {}}};
  }
  std::string csv() const {
    static const char* const words[] = {"east", "north", "west"};
    std::string text = "a,b,wind,y\n";
    char line[200];
    for (std::size_t i = 0; i < rows; ++i) {
      std::snprintf(line, sizeof line, "%.9g,%.9g,%s,%.17g\n", double(features[2 * i]),
                    double(features[2 * i + 1]), words[codes[i]], target[i]);
      text += line;
    }
    return text;
  }
};

TEST(MemoryTable, is_the_data_set_of_a_file_with_the_same_numbers) {
  const Arrays arrays(90);
  const test::TemporaryFolder folder;
  const Dataset of_file =
      load_dataset(folder.write("t.csv", arrays.csv()), {.categorical = {"wind"}}, {.seed = 5});
  const auto table = memory_table(arrays.columns(), arrays.rows, true, MissingPolicy::error);
  const Dataset of_memory = assemble_dataset(*table, {.seed = 5});
  EXPECT_EQ(of_memory.info.checksum, of_file.info.checksum);
  EXPECT_EQ(of_memory.train.features, of_file.train.features);
  EXPECT_EQ(of_memory.test.targets, of_file.test.targets);
  EXPECT_EQ(of_memory.info.feature_categories, of_file.info.feature_categories);
  EXPECT_EQ(of_memory.info.feature_names, of_file.info.feature_names);
}

TEST(MemoryTable, rows_are_predicted_as_those_of_a_file) {
  const Arrays arrays(90), other(30);
  const test::TemporaryFolder folder;
  const DatasetInfo info =
      assemble_dataset(*memory_table(arrays.columns(), arrays.rows, true, MissingPolicy::error), {}).info;
  const PredictionRows of_file = load_prediction_rows(folder.write("t.csv", other.csv()), {}, info);
  PredictionReader reader(memory_table(other.columns(), other.rows, true, MissingPolicy::error),
                          MissingPolicy::error, info);
  PredictionRows block;
  std::vector<double> features, targets;
  std::vector<std::size_t> records;
  while (reader.next(7, block)) {
    features.insert(features.end(), block.features.begin(), block.features.end());
    targets.insert(targets.end(), block.targets.begin(), block.targets.end());
    records.insert(records.end(), block.records.begin(), block.records.end());
  }
  EXPECT_EQ(features, of_file.features);
  EXPECT_EQ(targets, of_file.targets);
  EXPECT_EQ(records, of_file.records);

  auto words = arrays.columns();
  std::swap(words[0].words, words[2].words);
  EXPECT_NE(error_of([&] {
              PredictionReader(memory_table({words[0], words[1], words[2]}, 2, true, MissingPolicy::error),
                               MissingPolicy::error, info);
            }).find("not the code of a word"),
            std::string::npos);
}

TEST(MemoryTable, impossible_arrays_are_errors) {
  Arrays arrays(20);
  const auto make = [&](MissingPolicy missing) {
    return memory_table(arrays.columns(), arrays.rows, true, missing);
  };
  arrays.features[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(error_of([&] { make(MissingPolicy::error); }),
            "memory:4:2: missing value (NaN); fill it in, leave the row out, or set missing to mean");
  EXPECT_NE(error_of([&] { make(MissingPolicy::drop); }).find("rows of arrays are not dropped"),
            std::string::npos);
  EXPECT_TRUE(std::isnan(make(MissingPolicy::mean)->at(3, 1)));
  arrays.features[7] = std::numeric_limits<float>::infinity();
  EXPECT_NE(error_of([&] { make(MissingPolicy::mean); }).find("memory:4:2: the value is not finite"),
            std::string::npos);
  arrays.features[7] = 1;
  arrays.codes[2] = 3;
  EXPECT_NE(error_of([&] { make(MissingPolicy::error); }).find("memory:3:3: 3 is not the code of a word"),
            std::string::npos);
  EXPECT_NE(error_of([&] { memory_table(arrays.columns(), 0, true, MissingPolicy::error); }).find("no data"),
            std::string::npos);
  EXPECT_NE(error_of([&] { load_dataset(kMemoryPath, {}, {}); }).find("arrays in memory, which no file"),
            std::string::npos);
}

TEST(MemoryTable, without_a_test_part_the_validation_rows_are_tested_on) {
  const Arrays arrays(50);
  const auto table = memory_table(arrays.columns(), arrays.rows, true, MissingPolicy::error);
  const Dataset d = assemble_dataset(*table, {.split = {.train = 0.9, .valid = 0.1, .test = 0}});
  EXPECT_EQ(d.info.train_rows.size(), 45u);
  EXPECT_EQ(d.info.valid_rows.size(), 5u);
  EXPECT_EQ(d.info.test_rows, d.info.valid_rows);
  EXPECT_EQ(d.test.targets, d.valid.targets);
  ASSERT_EQ(d.warnings.size(), 1u);
  EXPECT_NE(d.warnings[0].find("early stopping has seen them"), std::string::npos);
  // 41 rows: floor(0.9 · 41) + floor(0.1 · 41) = 40; no row is lost.
  const auto odd = memory_table(arrays.columns(), 41, true, MissingPolicy::error);
  EXPECT_EQ(assemble_dataset(*odd, {.split = {.train = 0.9, .valid = 0.1, .test = 0}}).train.rows, 37u);
}

}  // namespace
}  // namespace smile
