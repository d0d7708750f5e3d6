// SPDX-License-Identifier: Apache-2.0
/// Predictions for new rows from the draws of a run.
#include "smile/deliver/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "deliver/prediction_source.hpp"
#include "deliver/prediction_writer.hpp"
#include "deliver/row_predictor.hpp"
#include "experiment/stored_run.hpp"
#include "run/output_guard.hpp"
#include "smile/error.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using experiment::Experiment;
using experiment::StoredRun;

/// "csv, npy or json", with something before each.
std::string formats_text(std::string_view before) {
  std::string text;
  const auto formats = prediction_formats();
  for (std::size_t i = 0; i < formats.size(); ++i)
    text += fmt::format("{}{}{}",
                        i == 0                   ? ""
                        : i + 1 < formats.size() ? ", "
                                                 : " or ",
                        before, formats[i].name);
  return text;
}

/// By --format, else by the ending of the file; a file without an ending gets the first.
const PredictionFormat& format_of(const PredictOptions& options) {
  std::string name = options.format;
  if (name.empty() && !options.out.empty()) {
    name = fs::path(options.out).extension().string();
    if (!name.empty()) name.erase(0, 1);
  }
  if (name.empty()) return prediction_formats().front();
  for (const PredictionFormat& format : prediction_formats())
    if (name == format.name) return format;
  if (!options.format.empty())
    throw Error("--format", "'" + name + "' is not a format of predictions", "choose " + formats_text(""));
  throw Error("--out " + options.out, "the ending `." + name + "` is not that of a format of predictions",
              "let the name end in " + formats_text(".") + ", or say which it is with --format");
}

fs::path output_path(const StoredRun& run, const PredictOptions& options, const PredictionFormat& format) {
  if (!options.out.empty()) return options.out;
  return RunPaths(run.path).new_predictions().replace_extension(format.name);
}

}  // namespace

PredictSummary predict_run(const std::string& directory, const PredictOptions& options) {
  const PredictionFormat& format = format_of(options);
  experiment::check_quantiles(options.quantiles, "--quantiles");
  StoredRun run = experiment::open_stored_run(directory, options.incomplete);
  for (experiment::ChainDraws& chain : run.chains) chain.thin(std::max<std::size_t>(1, options.every));
  const Experiment& e = run.experiment;
  experiment::require_predictable(run);
  RunOptions threading;
  threading.threads = options.threads;
  const std::size_t threads = experiment::thread_count(e, threading, 64);
  const auto source = experiment::open_prediction_source(e, options.data);
  const auto predictor = experiment::make_row_predictor(run, threads, options.stop, options.quantiles);

  const fs::path path = output_path(run, options, format);
  OutputGuard guard;
  guard.reads_run(run.path).reads(options.data);
  for (const fs::path& file : source->files()) guard.reads(file);
  guard.check(path);
  experiment::PredictionColumns columns = predictor->columns();
  columns.longest_name = source->longest_name();
  const auto writer = format.make(path, std::move(columns));
  PredictSummary summary = experiment::predict_all(
      *source, *predictor, *writer, options, e.config.data.data_type == DataKind::image ? "images" : "rows");
  writer->finish();
  summary.file = path.string();
  summary.remarks.insert(summary.remarks.begin(), run.remarks.begin(), run.remarks.end());
  return summary;
}

}  // namespace smile
