/// Predictions as CSV, NPY or JSON, row by row.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "smile/experiment/predict.hpp"

namespace smile::experiment {

struct PredictionColumns {
  /// Names of the numbers of a row, in order. The row's own number comes before them.
  std::vector<std::string> numbers;
  /// Classes of the column `predicted`, which comes after `row`; empty where there is no such column.
  std::vector<std::string> labels;
};

class PredictionWriter {
 public:
  virtual ~PredictionWriter() = default;
  /// @param label  a class; ignored without labels
  virtual void add(std::size_t row, std::size_t label, std::span<const double> numbers) = 0;
  /// Gives the file its name. Without it nothing is left.
  virtual void finish() = 0;

  static std::unique_ptr<PredictionWriter> create(PredictionFormat format, const std::filesystem::path& path,
                                                  PredictionColumns columns);
};

}  // namespace smile::experiment
