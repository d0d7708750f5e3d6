/// Predictions for new rows from the draws of a run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "experiment/draws.hpp"
#include "smile/data/atomic_file.hpp"
#include "smile/error.hpp"
#include "smile/evaluation/classification.hpp"
#include "smile/experiment/config_options.hpp"
#include "smile/targets/task_likelihood.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using experiment::ChainDraws;
using experiment::Experiment;

/// A CSV field: quoted where it holds a delimiter, a quote or a line end (RFC 4180).
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted(1, '"');
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  quoted.push_back('"');
  return quoted;
}

/// Moments of the mixture: variance = mean of σ² (aleatoric) + variance of the means (epistemic).
std::string predict_regression(const Experiment& e, const std::shared_ptr<const FcnData<float>>& rows,
                               std::span<const ChainDraws> chains, std::size_t threads) {
  const std::size_t n = rows->rows();
  const bool own_sigma = e.config.task() == Task::regression;
  std::vector<double> mean(n), squares(n), noise(n);  // Welford's sums
  std::size_t count = 0;
  experiment::for_each_prediction(
      e.spec, rows, chains, threads,
      [&](std::size_t, std::size_t, std::span<const float> position, std::span<const float> outputs) {
        ++count;
        const double global = own_sigma ? 0 : clipped_sigma(double(position.back())).sigma;
        for (std::size_t i = 0; i < n; ++i) {
          const double m = double(outputs[own_sigma ? 2 * i : i]);
          const double sigma = own_sigma ? clipped_sigma(double(outputs[2 * i + 1])).sigma : global;
          const double deviation = m - mean[i];
          mean[i] += deviation / double(count);
          squares[i] += deviation * (m - mean[i]);
          noise[i] += sigma * sigma;
        }
      },
      [](std::size_t) { return true; });
  const auto& scale = e.info.normalisation;
  std::string text = "row,mean,sd,aleatoric_sd,epistemic_sd\n";
  for (std::size_t i = 0; i < n; ++i) {
    const double aleatoric = noise[i] / double(count), epistemic = squares[i] / double(count);
    text += fmt::format("{},{:.9g},{:.9g},{:.9g},{:.9g}\n", i, scale.original_target(mean[i]),
                        std::sqrt(aleatoric + epistemic) * scale.target_sd,
                        std::sqrt(aleatoric) * scale.target_sd, std::sqrt(epistemic) * scale.target_sd);
  }
  return text;
}

std::string predict_classification(const Experiment& e, const std::shared_ptr<const FcnData<float>>& rows,
                                   std::span<const ChainDraws> chains, std::size_t threads) {
  const std::size_t n = rows->rows(), classes = e.spec.outputs();
  UncertaintyAccumulator uncertainty(n, classes);
  std::vector<double> probability(n * classes);
  std::size_t count = 0;
  experiment::for_each_prediction(
      e.spec, rows, chains, threads,
      [&](std::size_t, std::size_t, std::span<const float>, std::span<const float> outputs) {
        ++count;
        uncertainty.add(outputs);
        std::vector<double> p(classes);
        for (std::size_t i = 0; i < n; ++i) {
          const auto logits = outputs.subspan(i * classes, classes);
          const double largest = double(*std::max_element(logits.begin(), logits.end()));
          double sum = 0;
          for (std::size_t c = 0; c < classes; ++c) sum += p[c] = std::exp(double(logits[c]) - largest);
          for (std::size_t c = 0; c < classes; ++c) probability[i * classes + c] += p[c] / sum;
        }
      },
      [](std::size_t) { return true; });
  const auto entropy = uncertainty.entropy(), information = uncertainty.mutual_information();
  std::string text = "row,predicted";
  for (const auto& name : e.info.labels.names) text += fmt::format(",{}", field("p_" + name));
  text += ",entropy,mutual_information\n";
  for (std::size_t i = 0; i < n; ++i) {
    const auto begin = probability.begin() + std::ptrdiff_t(i * classes);
    const auto best = std::size_t(std::max_element(begin, begin + std::ptrdiff_t(classes)) - begin);
    text += fmt::format("{},{}", i, field(e.info.labels.names[best]));
    for (std::size_t c = 0; c < classes; ++c)
      text += fmt::format(",{:.9g}", begin[std::ptrdiff_t(c)] / double(count));
    text += fmt::format(",{:.9g},{:.9g}\n", entropy[i], information[i]);
  }
  return text;
}

}  // namespace

std::string predict_run(const std::string& directory, const std::string& data_file,
                        const std::string& out_file) {
  const fs::path run(directory);
  if (!fs::exists(run / "config.yaml"))
    throw Error(directory, "the folder holds no run (no config.yaml)", "give the folder of a run");
  Experiment e;  // predictions need neither the training data nor the prior
  e.config = load_config((run / "config.yaml").string());
  e.info = load_dataset_info(run / "dataset_splits.npz");
  e.spec = fcn_spec(e.config, e.info.inputs());
  e.layout = e.spec.layout();
  const PredictionRows rows = load_prediction_rows(data_file, table_options(e.config), e.info);
  const auto data = std::make_shared<const FcnData<float>>(rows.rows, e.info.inputs(), rows.features,
                                                           std::vector<double>(rows.rows));
  const auto records = experiment::read_records(e, run);
  const auto chains = experiment::open_draws(e, run, records);
  const std::size_t threads = experiment::thread_count({}, 64);
  const std::string text = e.is_regression() ? predict_regression(e, data, chains, threads)
                                             : predict_classification(e, data, chains, threads);
  const std::string out = out_file.empty() ? (run / "predictions.csv").string() : out_file;
  write_file_atomically(out, text);
  return out;
}

}  // namespace smile
