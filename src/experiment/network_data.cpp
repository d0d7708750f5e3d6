// SPDX-License-Identifier: Apache-2.0
#include "experiment/network_data.hpp"

#include <algorithm>
#include <numeric>

#include "experiment/experiment.hpp"
#include "smile/config/options.hpp"

namespace smile::experiment {
namespace {

void cut_test_rows(const Config& config, Dataset& dataset) {
  const std::size_t width =
      dataset.test.rows > 0 ? dataset.test.features.size() / dataset.test.rows : std::size_t{0};
  dataset.test.rows = evaluated_rows(config.evaluation_args, dataset.test.rows);
  dataset.test.features.resize(dataset.test.rows * width);
  dataset.test.targets.resize(dataset.test.rows);
}

ImageOptions image_options(const Config& config) {
  const DataConfig& data = config.data;
  ImageOptions options;
  options.format = data.image_format;
  if (config.model.row().has_key("out_dim") && config.given.contains("model.out_dim"))
    options.classes = std::size_t(config.model.out_dim);
  options.path = data.path;
  if (data.test_path) options.test_path = *data.test_path;
  options.torchvision = data.torchvision;
  if (data.image_size) options.side = std::size_t(*data.image_size);
  options.normalize = data.dataset.normalize;
  options.split = data.dataset.split;
  options.seed = config.rng;
  options.max_rows = data.dataset.max_rows;
  return options;
}

TextOptions text_options(const Config& config) {
  TextOptions options;
  options.path = config.data.path;
  options.context = std::size_t(config.model.context_len);
  options.split = config.data.dataset.split;
  options.max_characters = config.data.dataset.max_rows;
  return options;
}

template <class Data>
void hand_over(Data& data, DatasetInfo& info, std::vector<std::string>& warnings) {
  info = data.info;
  warnings.insert(warnings.end(), data.warnings.begin(), data.warnings.end());
}

}  // namespace

SplitTable load_split_table(const Config& config, const std::shared_ptr<const Table>& given) {
  const DatasetOptions options = dataset_options(config);
  return split_table(
      given ? given
            : std::make_shared<const Table>(read_dataset_table(config.data.path, config.data.table, options)),
      options);
}

NetworkData load_network_data(const Config& config, DatasetInfo& info, std::vector<std::string>& warnings,
                              const std::shared_ptr<const Table>& given) {
  NetworkData data;
  if (config.data.data_type == DataKind::tabular) {
    Dataset dataset = assemble_dataset(load_split_table(config, given));
    hand_over(dataset, info, warnings);
    cut_test_rows(config, dataset);
    data.table = std::make_shared<const Dataset>(std::move(dataset));
  } else if (config.data.data_type == DataKind::image) {
    ImageDataset images = load_image_dataset(image_options(config));
    hand_over(images, info, warnings);
    if (config.data.flatten) {
      Dataset dataset = flatten(images);
      cut_test_rows(config, dataset);
      data.table = std::make_shared<const Dataset>(std::move(dataset));
      return data;
    }
    const auto rows = images.test.rows().first(evaluated_rows(config.evaluation_args, images.test.size()));
    images.test = ImageRows(images.images, std::vector<std::uint32_t>(rows.begin(), rows.end()),
                            ImageNormalisation{info.image->channel_mean, info.image->channel_sd});
    data.images = std::make_shared<const ImageDataset>(std::move(images));
  } else {
    TextDataset text = load_text_dataset(text_options(config));
    hand_over(text, info, warnings);
    const std::size_t points = evaluated_rows(config.evaluation_args, text.test.tokens() - 1);
    text.test =
        TokenWindows(text.tokens, text.test.begin(), text.test.begin() + points + 1, text.test.context());
    data.text = std::make_shared<const TextDataset>(std::move(text));
  }
  return data;
}

DataPart targets_of(const NetworkData& data, Part part) {
  DataPart targets;
  if (data.table) {
    const Dataset& table = *data.table;
    const DataPart& all = part == Part::train ? table.train : part == Part::valid ? table.valid : table.test;
    targets.targets = all.targets;
  } else if (data.images) {
    const ImageRows& rows = part == Part::train   ? data.images->train
                            : part == Part::valid ? data.images->valid
                                                  : data.images->test;
    targets.targets.assign(rows.labels().begin(), rows.labels().end());
  } else {
    const TokenWindows& windows = part == Part::train   ? data.text->train
                                  : part == Part::valid ? data.text->valid
                                                        : data.text->test;
    // Every token of the part but the first.
    const auto& tokens = *data.text->tokens;
    targets.targets.assign(tokens.begin() + std::ptrdiff_t(windows.begin()) + 1,
                           tokens.begin() + std::ptrdiff_t(windows.end()));
  }
  targets.rows = targets.targets.size();
  return targets;
}

}  // namespace smile::experiment
