// SPDX-License-Identifier: Apache-2.0
/// Predictions as CSV, NPY or JSON, row by row.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smile/deliver/predict.hpp"

namespace smile::experiment {

struct PredictionColumns {
  /// Names of the numbers of a row, in order. The row's own number comes before them.
  std::vector<std::string> numbers;
  /// Classes of the column `predicted`, which comes after `row`; empty where there is no such column.
  std::vector<std::string> labels;
  /// Bytes of the longest name of a row's file; 0 where there is no such column. It comes after `row`.
  std::size_t longest_name = 0;
};

struct PredictionLine {
  std::size_t row;
  std::string_view name;  ///< as the file system has it; ignored without names
  std::size_t label;      ///< a class; ignored without labels
  std::span<const double> numbers;
};

class PredictionWriter {
 public:
  virtual ~PredictionWriter() = default;
  virtual void add(const PredictionLine& line) = 0;
  /// Gives the file its name. Without it nothing is left.
  virtual void finish() = 0;
};

}  // namespace smile::experiment
