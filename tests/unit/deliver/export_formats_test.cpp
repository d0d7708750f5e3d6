// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "deliver/export_draws.hpp"
#include "smile/deliver/predict.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

TEST(ExportFormats, EachHasANameAnEndingAndAReader) {
  std::set<std::string> names, endings;
  for (const ExportFormat& format : export_formats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_TRUE(endings.insert(format.ending).second) << format.ending;
    EXPECT_FALSE(format.doc.empty() || format.read_by.empty()) << format.name;
    EXPECT_TRUE(format.write || !format.needs.empty()) << format.name;
  }
  EXPECT_TRUE(names.contains("npz"));
}

TEST(ExportFormats, ARowIsAllThatANewFormatNeeds) {
  add_export_format({.name = "lines",
                     .ending = "txt",
                     .read_by = "cat",
                     .doc = "for a test",
                     .write = [](const experiment::ExportDraws&, const ExportOptions&,
                                 const std::filesystem::path&, std::vector<std::string>&) {}});
  ExportOptions options;
  options.format = "parquet";
  try {
    export_run("none", options);
    ADD_FAILURE() << "an unknown format was taken";
  } catch (const Error& error) {
    EXPECT_NE(error.mend().find("lines"), std::string::npos) << error.mend();
  }
  options.format = "lines";
  try {
    export_run("none", options);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "none") << "the format is known; the run is not";
  }
}

TEST(PredictionFormats, AnUnknownEndingIsRefusedWithTheKnownOnes) {
  for (const char* out : {"p.parquet", "x.xlsx"}) {
    PredictOptions options;
    options.out = out;
    try {
      predict_run("none", options);
      ADD_FAILURE() << out;
    } catch (const Error& error) {
      for (const PredictionFormat& format : prediction_formats())
        EXPECT_NE(error.mend().find("." + std::string(format.name)), std::string::npos) << error.mend();
    }
  }
}

}  // namespace
}  // namespace smile
