// SPDX-License-Identifier: Apache-2.0
#include "deliver/prediction_source.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include "experiment/draws.hpp"
#include "smile/config/options.hpp"
#include "smile/data/prediction_images.hpp"

namespace smile::experiment {
namespace {

class TableSource final : public PredictionSource {
 public:
  TableSource(const Experiment& e, const std::string& data)
      : e_(e), files_{data}, reader_(data, e.config.data.table, e.info) {}
  TableSource(const Experiment& e, std::shared_ptr<const Table> table)
      : e_(e), reader_(std::move(table), e.config.data.table.missing, e.info) {}

  bool next(std::size_t most, PredictionBlock& block) override {
    PredictionRows rows;
    if (!reader_.next(most, rows)) return false;
    block = PredictionBlock();
    block.rows = rows.rows;
    if (rows.rows == 0) return true;
    block.network = network_over(e_, rows);
    block.records = std::move(rows.records);
    block.targets = std::move(rows.targets);
    return true;
  }
  std::size_t total() const override { return reader_.rows_about(); }
  std::vector<std::filesystem::path> files() const override { return files_; }
  std::vector<std::string> remarks() const override { return reader_.remarks(); }

 private:
  const Experiment& e_;
  const std::vector<std::filesystem::path> files_;
  PredictionReader reader_;
};

class ImageSource final : public PredictionSource {
 public:
  ImageSource(const Experiment& e, const std::string& data)
      : e_(e), reader_(data, e.info, e.config.data.image_size.has_value()) {}

  bool next(std::size_t most, PredictionBlock& block) override {
    // A flattened image becomes a row of a table: numbers in double, and the engine's forms of them.
    constexpr std::size_t kBytes = std::size_t{64} << 20;
    const std::size_t of_image = e_.info.inputs() * (e_.config.data.flatten ? 4 * sizeof(double) : 1);
    PredictionImages images;
    if (!reader_.next(std::clamp<std::size_t>(kBytes / of_image, 1, most), images)) return false;
    block = PredictionBlock();
    block.rows = images.images.size();
    block.records.resize(block.rows);
    std::iota(block.records.begin(), block.records.end(), images.first);
    block.names = std::move(images.names);
    block.targets.assign(images.labels.begin(), images.labels.end());
    block.network = e_.config.data.flatten ? flat_network(images.images) : network_over(e_, images.images);
    return true;
  }
  std::size_t total() const override { return reader_.size(); }
  std::vector<std::filesystem::path> files() const override { return reader_.files(); }
  std::size_t longest_name() const override { return reader_.longest_name(); }
  std::vector<std::string> remarks() const override { return reader_.warnings(); }

 private:
  std::shared_ptr<const Network> flat_network(const ImageRows& images) const {
    PredictionRows rows;
    rows.rows = images.size();
    rows.features = flatten(images).features;
    return network_over(e_, rows);
  }

  const Experiment& e_;
  PredictionImageReader reader_;
};

}  // namespace

std::unique_ptr<PredictionSource> open_prediction_source(const Experiment& e, const std::string& data) {
  if (e.config.data.data_type == DataKind::image) return std::make_unique<ImageSource>(e, data);
  return std::make_unique<TableSource>(e, data);
}

std::unique_ptr<PredictionSource> open_prediction_source(const Experiment& e,
                                                         std::shared_ptr<const Table> table) {
  return std::make_unique<TableSource>(e, std::move(table));
}

}  // namespace smile::experiment
