// SPDX-License-Identifier: Apache-2.0
#include "deliver/row_predictor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "evaluation/argmax.hpp"
#include "evaluation/mixture_passes.hpp"
#include "evaluation/row_predictive.hpp"
#include "experiment/draws.hpp"
#include "experiment/phase_progress.hpp"
#include "run/network_record.hpp"
#include "smile/ensemble/parallel.hpp"
#include "smile/error.hpp"
#include "smile/evaluation/classification.hpp"
#include "smile/evaluation/metrics.hpp"
#include "smile/evaluation/mixture.hpp"
#include "smile/statistics/summaries.hpp"
#include "smile/targets/task_likelihood.hpp"

namespace smile::experiment {
namespace {

/// Rows are predicted in blocks: their draws' means and standard deviations fit in kBlockBytes.
constexpr std::size_t kBlockBytes = std::size_t{64} << 20, kMostRows = 4096;

bool has_target(const PredictionBlock& rows, std::size_t i) {
  return !rows.targets.empty() && !std::isnan(rows.targets[i]);
}

/// What both kinds need.
class DrawsPredictor : public RowPredictor {
 public:
  DrawsPredictor(const StoredRun& run, std::size_t threads, const std::atomic<bool>* stop)
      : run_(run), e_(run.experiment), threads_(threads), stop_(stop) {}
  std::size_t scored() const override { return scored_; }

 protected:
  /// The network's outputs for the rows, block after block of draws.
  void for_each_draw(const PredictionBlock& rows, const OutputBlockSink& sink) {
    if (!complete_) complete_ = complete_draws(e_, *rows.network, run_.path);
    const bool all = for_each_block(
        *rows.network, Part::test, run_.chains, threads_, sink,
        [this](std::size_t) { return !(stop_ && stop_->load()); }, *complete_);
    if (!all)
      throw Error(run_.path.string(), "stopped before the last row", "start it again", ErrorKind::run);
  }

  const StoredRun& run_;
  const Experiment& e_;
  const std::size_t threads_;
  const std::atomic<bool>* const stop_;
  std::size_t scored_ = 0;

 private:
  std::optional<CompleteDraw> complete_;
};

class RegressionPredictor final : public DrawsPredictor {
 public:
  RegressionPredictor(const StoredRun& run, std::size_t threads, const std::atomic<bool>* stop,
                      std::vector<double> quantiles)
      : DrawsPredictor(run, threads, stop),
        quantiles_(std::move(quantiles)),
        reader_(e_.config.task(), 1),  // classes: none
        own_sigma_(reader_.has_own_sigma()),
        draws_(run.draws()) {}

  PredictionColumns columns() const override {
    PredictionColumns columns;
    columns.numbers = {"mean", "sd", "aleatoric_sd", "epistemic_sd"};
    for (const double p : quantiles_) columns.numbers.push_back(fmt::format("q{:g}", p));
    return columns;
  }
  std::size_t block_rows() const override {
    const std::size_t bytes = draws_ * sizeof(float) * (own_sigma_ ? 2 : 1);
    return std::clamp<std::size_t>(kBlockBytes / bytes, 1, kMostRows);
  }

  void predict(const PredictionBlock& rows, PredictionWriter& writer) override {
    gather(rows);
    const std::size_t width = 4 + quantiles_.size();
    std::vector<double> results(rows.rows * width), scaled(rows.rows * width);
    std::vector<double> log_density(rows.targets.empty() ? 0 : rows.rows);
    ensemble::parallel_for(rows.rows, threads_, [&](std::size_t i) {
      const auto line = std::span(scaled).subspan(i * width, width);
      if (own_sigma_) evaluation::sigmas_of(std::span(sds_).subspan(i * draws_, draws_));
      const NormalMixture mixture = mixture_of(i);
      summarise(mixture, line);
      if (has_target(rows, i)) log_density[i] = log_density_of(mixture, rows.targets[i]);
    });
    const ColumnScaling& scale = e_.info.normalisation;
    for (std::size_t i = 0; i < rows.rows; ++i) {
      const auto line = std::span<const double>(scaled).subspan(i * width, width);
      const auto result = std::span(results).subspan(i * width, width);
      for (std::size_t j = 0; j < width; ++j)
        result[j] =
            j >= 1 && j <= 3 ? line[j] * scale.target_sd : scale.original_target(line[j]);  // sds, places
      writer.add({rows.records[i], {}, 0, result});
      if (has_target(rows, i)) score(rows.targets[i], line, log_density[i]);
    }
  }

  std::vector<std::pair<std::string, double>> scores() const override {
    const double n = double(scored_);
    std::vector<std::pair<std::string, double>> scores{
        {metric::kLppd, log_density_sum_ / n},
        {metric::kRmseOwnUnit, std::sqrt(squared_error_ / n) * e_.info.normalisation.target_sd}};
    if (has_interval()) scores.emplace_back(coverage_label(*highest() - *lowest()), double(covered_) / n);
    return scores;
  }

 private:
  std::vector<double>::const_iterator lowest() const {
    return std::min_element(quantiles_.begin(), quantiles_.end());
  }
  std::vector<double>::const_iterator highest() const {
    return std::max_element(quantiles_.begin(), quantiles_.end());
  }
  bool has_interval() const { return quantiles_.size() > 1 && std::abs(*lowest() + *highest() - 1) < 1e-9; }

  /// Sorts the outputs of all draws by row, a tile of rows and draws at a time, so that what is read and what
  /// is written stay in the cache. sds_ holds log σ until the rows are summarised.
  void gather(const PredictionBlock& rows) {
    means_.resize(rows.rows * draws_);
    sds_.resize(own_sigma_ ? rows.rows * draws_ : draws_);
    const std::size_t per_row = own_sigma_ ? 2 : 1;
    std::size_t before = 0;
    for_each_draw(rows, [&](const OutputBlock& block) {
      const std::size_t width = block.outputs.size() / block.count;
      ensemble::parallel_for((rows.rows + kTile - 1) / kTile, threads_, [&](std::size_t tile) {
        const std::size_t first = tile * kTile, count = std::min(kTile, rows.rows - first);
        for (std::size_t k = 0; k < block.count; k += kTile) {
          const auto outputs = block.outputs.subspan(k * width + first * per_row);
          const std::size_t draws = std::min(kTile, block.count - k);
          transpose(outputs, width, per_row, draws, count, means_.data() + first * draws_ + before + k);
          if (own_sigma_)
            transpose(outputs.subspan(1), width, per_row, draws, count,
                      sds_.data() + first * draws_ + before + k);
        }
      });
      if (!own_sigma_)
        for (std::size_t k = 0; k < block.count; ++k)
          sds_[before + k] = float(
              reader_.normal(block.outputs.subspan(k * width, width), 0, block.positions[k].span()).sigma());
      before += block.count;
    });
  }

  static constexpr std::size_t kTile = 16;
  /// to[i * draws_ + k] = from[k * width + i * stride]
  void transpose(std::span<const float> from, std::size_t width, std::size_t stride, std::size_t draws,
                 std::size_t rows, float* to) const {
    float tile[kTile][kTile];
    for (std::size_t k = 0; k < draws; ++k)
      for (std::size_t i = 0; i < rows; ++i) tile[i][k] = from[k * width + i * stride];
    for (std::size_t i = 0; i < rows; ++i) std::copy_n(tile[i], draws, to + i * draws_);
  }

  NormalMixture mixture_of(std::size_t row) const {
    return {std::span(means_).subspan(row * draws_, draws_),
            own_sigma_ ? std::span(sds_).subspan(row * draws_, draws_) : std::span(sds_)};
  }

  /// Moments of the mixture: variance = mean of σ² (aleatoric) + variance of the means (epistemic).
  void summarise(const NormalMixture& mixture, std::span<double> line) const {
    const evaluation::MixtureMoments moments = evaluation::mixture_moments(mixture);
    line[0] = moments.mean;
    line[1] = std::sqrt(moments.noise + moments.variance);
    line[2] = std::sqrt(moments.noise);
    line[3] = std::sqrt(moments.variance);
    for (std::size_t j = 0; j < quantiles_.size(); ++j)
      line[4 + j] = mixture_quantile(mixture, quantiles_[j]);
  }

  static double log_density_of(const NormalMixture& mixture, double target) {
    const double density = evaluation::mixture_at(mixture, target).density;
    if (density > 1e-280) return std::log(density);
    LogSumExp sum;  // so far from all draws that their densities vanish
    for (std::size_t s = 0; s < mixture.means.size(); ++s)
      sum.add(normal_log_likelihood(target, double(mixture.means[s]), std::log(double(mixture.sds[s])))
                  .log_likelihood);
    return sum.value() - std::log(double(mixture.means.size()));
  }

  void score(double target, std::span<const double> line, double log_density) {
    ++scored_;
    log_density_sum_ += log_density;
    squared_error_ += (line[0] - target) * (line[0] - target);
    if (!has_interval()) return;
    const double low = line[4 + std::size_t(lowest() - quantiles_.begin())],
                 high = line[4 + std::size_t(highest() - quantiles_.begin())];
    covered_ += low <= target && target <= high;
  }

  const std::vector<double> quantiles_;
  const RowPredictive reader_;
  const bool own_sigma_;
  const std::size_t draws_;
  std::vector<float> means_, sds_;  // @shape [rows, draws]; sds_ [draws] where σ is global
  std::size_t covered_ = 0;
  double log_density_sum_ = 0, squared_error_ = 0;
};

class ClassPredictor final : public DrawsPredictor {
 public:
  using DrawsPredictor::DrawsPredictor;

  PredictionColumns columns() const override {
    PredictionColumns columns;
    columns.labels = e_.info.labels.names;
    for (const auto& name : e_.info.labels.names) columns.numbers.push_back("p_" + name);
    columns.numbers.insert(columns.numbers.end(), {"entropy", "mutual_information"});
    return columns;
  }
  std::size_t block_rows() const override { return kMostRows; }

  void predict(const PredictionBlock& rows, PredictionWriter& writer) override {
    const std::size_t classes = e_.info.labels.classes();
    // Rows in groups, each summed by one thread in the order of the draws.
    constexpr std::size_t kGroup = 64;
    std::vector<UncertaintyAccumulator> groups;
    for (std::size_t first = 0; first < rows.rows; first += kGroup)
      groups.emplace_back(std::min(kGroup, rows.rows - first), classes);
    for_each_draw(rows, [&](const OutputBlock& block) {
      const std::size_t width = block.outputs.size() / block.count;
      ensemble::parallel_for(groups.size(), threads_, [&](std::size_t g) {
        const std::size_t begin = g * kGroup * classes, size = std::min(kGroup * classes, width - begin);
        for (std::size_t k = 0; k < block.count; ++k)
          groups[g].add(block.outputs.subspan(k * width + begin, size));
      });
    });
    std::vector<double> probabilities, entropy, information;
    const auto append = [](std::vector<double>& all, const std::vector<double>& some) {
      all.insert(all.end(), some.begin(), some.end());
    };
    for (const UncertaintyAccumulator& group : groups) {
      append(probabilities, group.mean_probabilities());
      append(entropy, group.entropy());
      append(information, group.mutual_information());
    }
    std::vector<double> line(classes + 2);
    for (std::size_t i = 0; i < rows.rows; ++i) {
      for (std::size_t c = 0; c < classes; ++c) line[c] = probabilities[i * classes + c];
      line[classes] = entropy[i];
      line[classes + 1] = information[i];
      const std::size_t best = argmax(std::span<const double>(line).first(classes));
      writer.add({rows.records[i], rows.names.empty() ? std::string_view() : rows.names[i], best, line});
      if (!has_target(rows, i)) continue;
      const auto target = std::size_t(rows.targets[i]);
      ++scored_;
      right_ += best == target;
      log_density_sum_ += std::log(line[target]);
    }
  }

  std::vector<std::pair<std::string, double>> scores() const override {
    return {{metric::kLppd, log_density_sum_ / double(scored_)},
            {metric::kAccuracy, double(right_) / double(scored_)}};
  }

 private:
  std::size_t right_ = 0;
  double log_density_sum_ = 0;
};

}  // namespace

std::unique_ptr<RowPredictor> make_row_predictor(const StoredRun& run, std::size_t threads,
                                                 const std::atomic<bool>* stop,
                                                 std::vector<double> quantiles) {
  if (run.experiment.is_regression())
    return std::make_unique<RegressionPredictor>(run, threads, stop, std::move(quantiles));
  return std::make_unique<ClassPredictor>(run, threads, stop);
}

void require_predictable(const StoredRun& run) {
  const Experiment& e = run.experiment;
  const std::string where = run.path.string();
  if (e.config.data.data_type == DataKind::text)
    throw Error(where, "predictions are made for the rows of tables and for images",
                "write with smile generate; eval/predictions.npz has those of the test part");
  if (!e.is_native() && e.config.model.row().torch) require_network_engine(where, "its network");
  check_same_network_file(where, e.config);
}

void check_quantiles(const std::vector<double>& quantiles, const std::string& where) {
  for (const double p : quantiles)
    if (!(p > 0 && p < 1))
      throw Error(where, fmt::format("{:g} is not between 0 and 1", p),
                  "give probabilities such as 0.05,0.5,0.95");
}

PredictSummary predict_all(PredictionSource& source, RowPredictor& predictor, PredictionWriter& writer,
                           const PredictOptions& options, const std::string& unit) {
  PredictSummary summary;
  PhaseProgress progress(options.on_progress, "prediction", unit);
  for (PredictionBlock rows; source.next(predictor.block_rows(), rows);) {
    if (rows.rows == 0) continue;
    predictor.predict(rows, writer);
    summary.rows += rows.rows;
    rows.network.reset();  // before the next block is read
    progress.tell(summary.rows, std::max(summary.rows, source.total()), false);
  }
  progress.tell(summary.rows, summary.rows, true);
  summary.scored = predictor.scored();
  if (summary.scored > 0) summary.scores = predictor.scores();
  for (const std::string& remark : source.remarks()) summary.remarks.push_back(remark);
  if (summary.scored > 0 && summary.scored < summary.rows)
    summary.remarks.push_back(
        fmt::format("{} of {} rows have a target; the scores are theirs", summary.scored, summary.rows));
  return summary;
}

}  // namespace smile::experiment
