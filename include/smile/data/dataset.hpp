// SPDX-License-Identifier: Apache-2.0
/// A table split, scaled and labelled: what a model trains on, and how to undo the scaling (spec 2.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smile/data/split_files.hpp"
#include "smile/data/table.hpp"
#include "smile/targets/likelihood.hpp"

namespace smile {

/// Whose mean and standard deviation scale the features and the regression target.
enum class NormalizeWith {
  train,  ///< the training rows': no test row has a say
  all,    ///< all rows', as the authors do
};
template <>
struct Named<NormalizeWith> {
  static constexpr Alternative<NormalizeWith> all[] = {{NormalizeWith::train, "train"},
                                                       {NormalizeWith::all, "all"}};
};

/// How the rows, images or characters of a data set are dealt out.
struct SplitFractions {
  double train = 0.7, valid = 0.1, test = 0.2;
};

struct DatasetOptions {
  Task task = Task::mean_regression;
  std::optional<std::string> target_column = {};          ///< name or index from 0; empty: the last column
  std::optional<std::vector<std::string>> features = {};  ///< names or indices; empty: all but the target
  SplitFractions split = {};
  SplitFiles split_files = {};  ///< which rows are in which part, in place of the fractions
  bool normalize = true;        ///< scale the features and the regression target
  NormalizeWith normalize_with = NormalizeWith::train;
  std::uint64_t seed = 0;
  /// Only the first so many rows of the shuffled file; the class counts stay those of the whole file.
  std::optional<std::uint64_t> max_rows = {};
};

/// x_scaled = (x − mean)/sd; where sd = 0 (constant column) x_scaled = 0.
struct ColumnScaling {
  std::vector<double> feature_mean, feature_sd;  ///< @shape [inputs]; sd over n (population)
  std::vector<double> feature_fill;  ///< @shape [inputs]; what a missing value becomes: the column's mean
  double target_mean = 0, target_sd = 1;  ///< 0 and 1 for classification

  double scaled_target(double y) const { return (y - target_mean) / target_sd; }
  double original_target(double scaled) const { return scaled * target_sd + target_mean; }
  /// @param features @shape [rows, inputs] row-major, scaled in place; NaN (missing) becomes the mean
  void scale_features(std::span<double> features) const;
};

/// Original labels by class 0 … C−1, from the whole file.
struct LabelMap {
  std::vector<std::string> names;  ///< "3", "5", … or words; numeric labels in numeric order, words sorted
  std::vector<std::size_t> counts;
  std::size_t classes() const { return names.size(); }
};

/// What a set of images adds to DatasetInfo.
struct ImageInfo {
  std::size_t channels = 0, height = 0, width = 0;
  std::vector<double> channel_mean, channel_sd;  ///< @shape [channels]; x = (pixel/255 − mean)/sd
  /// idx, cifar10, cifar100 or folder: whose labels are meant; empty in runs of older versions.
  std::string format = {};
  std::size_t size() const { return channels * height * width; }
};

/// What a text adds to DatasetInfo.
struct TextInfo {
  std::vector<std::string> vocabulary;  ///< characters by token, as UTF-8
  std::size_t context = 0;              ///< tokens of a window
  std::size_t train_begin = 0, train_end = 0, valid_begin = 0, valid_end = 0, test_begin = 0,
              test_end = 0;  ///< parts, in tokens
};

/// Everything but the rows: what a prediction later needs, and where the splits came from.
struct DatasetInfo {
  std::string source;
  Task task = Task::mean_regression;
  std::uint64_t seed = 0;
  std::vector<std::string> feature_names;
  std::string target_name;
  bool has_header = false;
  std::vector<std::size_t> feature_columns;  ///< positions in the file, from 0
  std::size_t target_position = 0;           ///< position in the file, from 0
  std::size_t file_columns = 0;
  std::vector<std::string> column_names;  ///< of all columns of the file; empty in runs of earlier states
  std::vector<std::vector<std::string>> feature_categories;  ///< words by code; empty where numeric
  /// @shape [inputs]; range in the training rows, not scaled; empty in runs of earlier states
  std::vector<double> feature_lowest, feature_highest;
  ColumnScaling normalisation;
  LabelMap labels;  ///< empty for regression
  std::vector<std::uint32_t> train_rows, valid_rows,
      test_rows;                   ///< rows of the table, from 0, in shuffled order
  std::uint64_t checksum = 0;      ///< of the scaled features and targets of all parts; 0: not known
  std::optional<ImageInfo> image;  ///< images only; they have no features, columns or target scale
  std::optional<TextInfo> text;    ///< text only; its parts are here, not in the lists of rows

  /// Features of a table's row, or numbers of an image.
  std::size_t inputs() const { return image ? image->size() : feature_names.size(); }
};

/// Rows of one part, scaled.
struct DataPart {
  std::size_t rows = 0;
  std::vector<double> features;  ///< @shape [rows, inputs] row-major
  std::vector<double> targets;   ///< @shape [rows]; class numbers for classification
};

struct Dataset {
  DatasetInfo info;
  DataPart train, valid, test;
  std::vector<std::string>
      warnings;  ///< constant columns, dropped rows, classes absent from training; one line each
};

/// `data.path` of a run whose rows were given in memory; no file has that name.
inline constexpr const char* kMemoryPath = "memory:";

/// A table whose parts are dealt out and whose scaling is known. Its rows are scaled as they are read, so
/// that nothing of it is copied.
struct SplitTable {
  std::shared_ptr<const Table> table;
  DatasetInfo info;
  std::vector<double> targets;        ///< by row of the table: as they lie there, or class numbers; NaN: none
  std::vector<std::string> warnings;  ///< as of a Dataset

  /// A row of the table, scaled. @param features  @shape [inputs], overwritten  @return the target
  double read(std::uint32_t row, std::span<double> features) const;
  /// The targets of some rows, scaled.
  std::vector<double> scaled_targets(std::span<const std::uint32_t> rows) const;
};

/// Shuffles with (seed, Purpose::split), takes floor(f_train N), floor(f_valid N) and the rest, measures.
/// With `split_files` the rows of each part are those of its file, in that order; where no file has the
/// validation rows they are floor(N f_valid/(f_train + f_valid)) of the N training rows, shuffled. With
/// f_test = 0 there is no rest: the validation rows serve as test rows, too.
/// @throws Error for fractions that do not sum to 1 within 1e−9, an empty part, one training row to
/// standardise, a
///         constant regression target, a single class, labels that are no whole numbers, a task other than a
///         table's, a value that does not fit into single precision
SplitTable split_table(std::shared_ptr<const Table> table, const DatasetOptions& options);
/// The same with the rows of all parts copied.
Dataset assemble_dataset(const Table& table, const DatasetOptions& options);
Dataset assemble_dataset(const SplitTable& table);
/// Reads the columns that are features or the target. For classification the target column may hold words.
Table read_dataset_table(const std::filesystem::path& path, TableOptions table,
                         const DatasetOptions& options);
/// Reads and assembles.
Dataset load_dataset(const std::filesystem::path& path, TableOptions table, const DatasetOptions& options);

/// Mean and population standard deviation (two passes, no overflow or underflow on the way); sd = 0 exactly
/// where all values are equal. NaN values (missing) count as the mean. Needs one value that is not NaN.
struct Moments {
  double mean = 0, sd = 0;
};
Moments moments_of(std::span<const double> values);

/// dataset_splits.npz of a run directory.
void save_dataset_info(const DatasetInfo& info, const std::filesystem::path& path);
DatasetInfo load_dataset_info(const std::filesystem::path& path);

/// New rows for a trained model: the feature columns by name where the file has a header and the training
/// file had one, else by position. The target column may be there (then `targets` is filled, scaled or
/// mapped) or not.
struct PredictionRows {
  std::size_t rows = 0;
  std::vector<double> features = {};    ///< @shape [rows, inputs], scaled as in training
  std::vector<double> targets = {};     ///< @shape [rows], NaN where a row has none; or empty: no such column
  std::vector<std::size_t> lines = {};  ///< in the file, from 1
  std::vector<std::size_t> records = {};  ///< among the rows of the file, from 0, those left out counted
  std::size_t dropped = 0;                ///< rows left out under MissingPolicy::drop
  std::size_t filled = 0;                 ///< missing features that became the training mean
  std::size_t outside = 0;                ///< rows with a feature outside of its range in the training rows
  std::size_t far_outside = 0;            ///< of them, by more than the range's width
  std::string farthest = {};              ///< the first of those, in words; empty: none
};

/// Reads such a file in blocks, so that it may be larger than memory.
class PredictionReader {
 public:
  PredictionReader(const std::filesystem::path& path, TableOptions table, const DatasetInfo& info);
  /// Rows of a table in memory. @param table  not null
  PredictionReader(std::shared_ptr<const Table> table, MissingPolicy missing, const DatasetInfo& info);
  PredictionReader(PredictionReader&&) noexcept;
  ~PredictionReader();

  /// The next rows, at most `rows` of them (none where all were dropped); false at the end.
  /// @throws Error for missing columns (all are named), another number of columns, unknown words or labels
  bool next(std::size_t rows, PredictionRows& block);
  /// About how many rows the file has, known before it is read: its line ends, or what a header says; 0 where
  /// that would cost a pass of its own (a pipe).
  std::size_t rows_about() const;
  /// What should be said of the file, one line each: columns that are not used, cells that were filled, rows
  /// outside the training range, lines that are no rows.
  std::vector<std::string> remarks() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The whole file at once.
PredictionRows load_prediction_rows(const std::filesystem::path& path, TableOptions table,
                                    const DatasetInfo& info);

}  // namespace smile
