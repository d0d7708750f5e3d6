// SPDX-License-Identifier: Apache-2.0
/// `smile init`: what it writes passes the check without a warning and runs as it is; what it assumes is
/// told.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "../pipeline/program.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using test::content_of;
using test::Outcome;
using test::smile;
using test::TemporaryFolder;
using Words = std::vector<std::string>;

const Words kShort = {"--set",       "training.sampler.n_chains=2",
                      "--set",       "training.sampler.warmup_steps=100",
                      "--set",       "training.sampler.n_samples=200",
                      "--set",       "training.warmstart.max_epochs=10",
                      "--no-report", "--quiet"};

/// Initialises, checks and runs. @return what `init` printed
std::string first_result(const fs::path& table, const Words& arguments = {}) {
  TemporaryFolder folder;
  const std::string file = folder / "first.yaml", run = folder / "run";
  Words words = {"init", table.string(), "--out", file};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Outcome init = smile(words);
  EXPECT_EQ(init.status, 0) << init.error;
  if (init.status != 0) return init.error;
  const std::string text = content_of(file);
  const Outcome check = smile({"check", file});
  EXPECT_EQ(check.status, 0) << check.error << text;
  words = {"run", file, "--out", run};
  words.insert(words.end(), kShort.begin(), kShort.end());
  const Outcome outcome = smile(words);
  EXPECT_EQ(outcome.status, 0) << outcome.error << text;
  EXPECT_EQ(content_of(file), text) << "the file was touched";
  const Outcome predicted = smile({"predict", run, "--data", table.string(), "--out", folder / "p.csv"});
  EXPECT_EQ(predicted.status, 0) << "the table it was trained on: " << predicted.error;
  return init.out + text;
}

void expect(const std::string& told, const Words& parts) {
  for (const std::string& part : parts) EXPECT_NE(told.find(part), std::string::npos) << part << "\n" << told;
}

/// Those of the awkward tables that can be read at all; the others are refused with their reason.
TEST(Init, AwkwardTablesHaveAFirstResult) {
  const fs::path folder = fs::path(SMILE_TEST_DATA_DIR) / "awkward";
  std::size_t results = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    SCOPED_TRACE(name);
    const char* refusal = name.starts_with("11-")   ? "no data"
                          : name.starts_with("12-") ? "has 1 row, too few"
                          : name.starts_with("14-") ? ":6:6: expected 6 fields, found 5"
                                                    : nullptr;
    if (!refusal) {
      first_result(entry.path());
      ++results;
      continue;
    }
    TemporaryFolder out;
    const Outcome init = smile({"init", entry.path().string(), "--out", out / "x.yaml"});
    EXPECT_EQ(init.status, 2);
    EXPECT_TRUE(init.is_one_line_error()) << init.error;
    expect(init.error, {refusal});
    EXPECT_FALSE(fs::exists(out / "x.yaml"));
  }
  EXPECT_EQ(results, 11U);
}

TEST(Init, TablesOfTheRepositoryHaveAFirstResult) {
  for (const auto& entry : fs::directory_iterator(fs::path(SMILE_SOURCE_DIR) / "data" / "uci")) {
    SCOPED_TRACE(entry.path().filename());
    if (fs::file_size(entry.path()) < 500000) first_result(entry.path());
  }
}

/// A customer table as it comes out of an office: each column is what it is.
std::string customers(char separator = ',', const char* point = ".") {
  std::string text =
      "customer_id;joined;name;town;age;income;visits;active;remark;half;fixed;spoilt;churned\n";
  const char* towns[] = {"Ulm", "Köln", "Bonn"};
  for (int i = 0; i < 60; ++i) {
    text += std::to_string(1000 + 7 * i) + ";2024-0" + std::to_string(1 + i % 9) + "-11;Name " +
            std::to_string(i) + ";" + towns[i % 3] + ";" + (i == 7 ? "" : std::to_string(20 + i % 40)) + ";" +
            std::to_string(20 + i % 13) + point + "5;" + std::to_string(i % 8) + ";" +
            (i % 2 ? "yes" : "no") + ";said " + std::to_string(i * i) + ";" +
            (i % 4 ? "" : std::to_string(i % 5)) + ";1;" + (i == 9 ? "unknown" : std::to_string(i % 11)) +
            ";" + (i % 3 ? "no" : "yes") + "\n";
  }
  std::replace(text.begin(), text.end(), ';', separator);
  return text;
}

TEST(Init, EachColumnIsWhatItIs) {
  TemporaryFolder folder;
  const std::string told = first_result(folder.write("customers.csv", customers()));
  expect(
      told,
      {"the target is the last column, 'churned'", "task class: 'churned' holds words, 2 classes",
       "'customer_id' is left out: it numbers or names the rows",
       "'joined' is left out: it holds dates or times",
       "'name' is left out: it holds 60 different words in 60 rows", "'remark' is left out",
       "'half' is left out: it is empty in 45 of 60 rows", "'fixed' is left out: it has one value only",
       "'spoilt' is left out: it holds numbers, but for 1 cell such as 'unknown' in line 11",
       "missing: drop: 1 row with an empty cell left out", "  features: [town, age, income, visits, active]",
       "  categorical: [town, active]", "  header: true", "  missing: drop"});
  const std::string other = first_result(folder / "customers.csv", {"--target", "income"});
  expect(other, {"task mean_regr: 'income' holds numbers", "  target_column: income",
                 "  categorical: [town, active, churned]"});
  expect(first_result(folder.write("comma.csv", customers(';', ","))), {"  decimal: comma"});
  expect(first_result(folder.write("comma.data", customers(';', ","))),
         {"  delimiter: semicolon", "  decimal: comma"});
}

TEST(Init, TablesWithoutNamesOrWithOddOnes) {
  TemporaryFolder folder;
  std::string rows, words, iris, index = ",x 1,\"a, b\",y\n";
  const char* kinds[] = {"Iris-setosa", "Iris-versicolor", "Iris-virginica"};
  for (int i = 0; i < 60; ++i) {
    const std::string cells =
        std::to_string(i % 7) + "," + std::to_string(i % 5) + "." + std::to_string(i % 9);
    iris += cells + "," + kinds[i % 3] + "\n";
    index += std::to_string(i) + "," + cells + "," + std::to_string(i % 13) + ".25\n";
    words += std::string(i % 2 ? "x" : "b") + "," + (i % 3 ? "s" : "y") + "," + (i % 5 ? "e" : "p") + "\n";
  }
  expect(first_result(folder.write("iris.data", iris)),
         {"  delimiter: comma", "  header: false", "holds words, 3 classes", "  target_column: \"2\""});
  expect(first_result(folder.write("index.csv", index)),
         {"'column1' is left out: it numbers or names the rows", "[\"x 1\", \"a, b\"]",
          "  target_column: \"y\""});
  expect(first_result(folder.write("mushroom.csv", words)),
         {"the first line is taken for a row", "  header: false", "  categorical: [\"0\", \"1\"]"});
}

TEST(Init, WhatCannotBeIsRefusedInALine) {
  TemporaryFolder folder;
  const auto refusal = [&](const std::string& table, const Words& arguments = {}) {
    Words words = {"init", folder.write("t.csv", table), "--out", folder / "out.yaml"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const Outcome init = smile(words);
    EXPECT_EQ(init.status, 2);
    EXPECT_TRUE(init.is_one_line_error()) << init.error;
    EXPECT_FALSE(fs::exists(folder / "out.yaml"));
    return init.error;
  };
  const std::string good =
      "x,name,when,y\n1,a,2024-01-01,3\n2,b,2024-01-02,4\n3,c,2024-01-03,5\n4,d,2024-01-04,6\n5,e,2024-01-05,"
      "9\n";
  expect(refusal(good, {"--target", "z"}),
         {"--target: there is no column 'z'; the columns are x, name, when, y"});
  expect(refusal(good, {"--target", "name"}), {"5 different words in 5 rows, too many to be classes"});
  expect(refusal(good, {"--target", "when"}), {"holds dates or times"});
  expect(refusal("y\n1\n2\n3\n5\n4\n"), {"has no column beside 'y' to predict it from"});
  expect(refusal("a,b\n1,1\n1,1\n1,1\n1,1\n1,1\n"), {"has no column that could be predicted"});
  expect(refusal("x,y\n1,2\n"), {"has 1 row, too few"});
  // Nothing is replaced unasked, least of all the table.
  const std::string table = folder.write("kept.csv", good), file = folder.write("kept.yaml", "mine");
  expect(smile({"init", table, "--out", file}).error,
         {"is there already; give another name with --out, or --replace"});
  EXPECT_EQ(content_of(file), "mine");
  EXPECT_EQ(smile({"init", table, "--out", table}).status, 2);
  EXPECT_EQ(smile({"init", table, "--out", table, "--replace"}).status, 2);
  EXPECT_EQ(content_of(table), good);
  EXPECT_EQ(smile({"init", table, "--out", file, "--replace"}).status, 0);
  const Outcome printed = smile({"init", table, "--out", "-"});
  EXPECT_EQ(printed.status, 0);
  expect(printed.out, {"data:\n  path: "});
  expect(printed.error, {"the target is 'y', by its name"});
}

}  // namespace
}  // namespace smile
