// SPDX-License-Identifier: Apache-2.0
#include "batches.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "smile/experiment/network_engine.hpp"

namespace smile::deep {
namespace {

using torch::Tensor;

constexpr std::size_t kChunkRows = 250;     // images or rows of an evaluation pass together
constexpr std::size_t kChunkTokens = 4096;  // tokens of an evaluation pass together

const ImageRows& part_of(const ImageDataset& data, Part part) {
  return part == Part::train ? data.train : part == Part::valid ? data.valid : data.test;
}
const TokenWindows& part_of(const TextDataset& data, Part part) {
  return part == Part::train ? data.train : part == Part::valid ? data.valid : data.test;
}
const DataPart& part_of(const Dataset& data, Part part) {
  return part == Part::train ? data.train : part == Part::valid ? data.valid : data.test;
}

std::vector<std::int64_t> shape_of(const ImageShape& shape, std::size_t rows) {
  return {std::int64_t(rows), std::int64_t(shape.channels), std::int64_t(shape.height),
          std::int64_t(shape.width)};
}

std::span<float> floats(Tensor& tensor) {
  return {tensor.data_ptr<float>(), std::size_t(tensor.numel())};
}
std::span<std::int64_t> integers(Tensor& tensor) {
  return {tensor.data_ptr<std::int64_t>(), std::size_t(tensor.numel())};
}

/// Windows of a chunk: as many as make up kChunkTokens.
std::size_t chunk_windows(const TokenWindows& windows) {
  return std::max<std::size_t>(1, kChunkTokens / windows.context());
}

}  // namespace

Batches::Batches(const NetworkData& data, Task task, torch::Device device)
    : data_(std::make_shared<const NetworkData>(data)), device_(device) {
  if (!data_->table) return;
  for (const Part part : {Part::train, Part::valid, Part::test}) {
    const DataPart& rows = part_of(*data_->table, part);
    const std::int64_t width = rows.rows > 0 ? std::int64_t(rows.features.size() / rows.rows) : 0;
    const auto copy = [](const std::vector<double>& values) {
      return torch::from_blob(const_cast<double*>(values.data()), {std::int64_t(values.size())},
                              torch::kDouble);
    };
    inputs_[int(part)] = copy(rows.features).to(torch::kFloat).view({std::int64_t(rows.rows), width});
    targets_[int(part)] = copy(rows.targets).to(task == Task::classification ? torch::kLong : torch::kFloat);
  }
}

Batches::Batches(Tensor inputs, Tensor targets)
    : data_(std::make_shared<const NetworkData>()), device_(inputs.device()) {
  inputs_[int(Part::train)] = std::move(inputs);
  targets_[int(Part::train)] = std::move(targets);
}

std::size_t Batches::rows(Part part) const {
  if (data_->images) return part_of(*data_->images, part).size();
  if (data_->text) return std::size_t(std::lround(part_of(*data_->text, part).observations()));
  const Tensor& inputs = inputs_[int(part)];
  return inputs.defined() ? std::size_t(inputs.size(0)) : 0;
}

std::size_t Batches::points(Part part) const {
  return data_->text ? part_of(*data_->text, part).tokens() - 1 : rows(part);
}

std::size_t Batches::points_per_row() const {
  return data_->text ? data_->text->train.context() : 1;
}

BatchOrder Batches::order(std::size_t batch_size, BatchMode mode, StreamKey key) const {
  if (!data_->text) return BatchOrder(rows(Part::train), batch_size, mode, key);
  const TokenWindows& train = data_->text->train;
  return BatchOrder::windows(rows(Part::train), train.tokens() - train.context(), batch_size, key);
}

Batch Batches::windows(Part part, std::span<const std::uint32_t> offsets, std::size_t length) const {
  Batch batch;
  batch.rows = offsets.size();
  const std::vector<std::int64_t> shape{std::int64_t(offsets.size()), std::int64_t(length)};
  batch.inputs = torch::empty(shape, torch::kLong);
  batch.targets = torch::empty(shape, torch::kLong);
  part_of(*data_->text, part).assemble(offsets, length, integers(batch.inputs), integers(batch.targets));
  batch.inputs = batch.inputs.to(device_);
  batch.targets = batch.targets.to(device_);
  return batch;
}

Batch Batches::of(Part part, std::span<const std::uint32_t> rows) const {
  if (data_->text) return windows(part, rows, data_->text->train.context());
  Batch batch;
  batch.rows = rows.size();
  if (data_->images) {
    const ImageRows& images = part_of(*data_->images, part);
    batch.inputs = torch::empty(shape_of(images.shape(), rows.size()), torch::kFloat);
    images.assemble(rows, floats(batch.inputs));
    batch.targets = torch::empty({std::int64_t(rows.size())}, torch::kLong);
    const auto labels = integers(batch.targets);
    for (std::size_t i = 0; i < rows.size(); ++i) labels[i] = images.labels()[rows[i]];
  } else {
    Tensor index = torch::empty({std::int64_t(rows.size())}, torch::kLong);
    std::copy(rows.begin(), rows.end(), integers(index).begin());
    batch.inputs = inputs_[int(part)].index_select(0, index);
    batch.targets = targets_[int(part)].index_select(0, index);
  }
  batch.inputs = batch.inputs.to(device_);
  batch.targets = batch.targets.to(device_);
  return batch;
}

Batch Batches::augmented(std::span<const std::uint32_t> rows, StreamKey key, std::uint64_t number) const {
  Batch batch;
  batch.rows = rows.size();
  const ImageRows& images = data_->images->train;
  batch.inputs = torch::empty(shape_of(images.shape(), rows.size()), torch::kFloat);
  images.assemble_augmented(rows, key, number, floats(batch.inputs));
  batch.targets = torch::empty({std::int64_t(rows.size())}, torch::kLong);
  const auto labels = integers(batch.targets);
  for (std::size_t i = 0; i < rows.size(); ++i) labels[i] = images.labels()[rows[i]];
  batch.inputs = batch.inputs.to(device_);
  batch.targets = batch.targets.to(device_);
  return batch;
}

std::size_t Batches::chunks(Part part) const {
  if (!data_->text) return (rows(part) + kChunkRows - 1) / kChunkRows;
  const TokenWindows& text = part_of(*data_->text, part);
  const std::size_t whole = (text.tokens() - 1) / text.context();  // windows of full length
  return (whole + chunk_windows(text) - 1) / chunk_windows(text) + (text.windows() > whole ? 1 : 0);
}

Batch Batches::chunk(Part part, std::size_t i) const {
  std::vector<std::uint32_t> places;
  if (data_->text) {
    const TokenWindows& text = part_of(*data_->text, part);
    const std::size_t whole = (text.tokens() - 1) / text.context(), together = chunk_windows(text);
    const std::size_t first = i * together;
    if (first >= whole) {  // the last window, which is shorter
      const auto last = text.window(whole);
      places.push_back(std::uint32_t(last.offset));
      return windows(part, places, last.length);
    }
    for (std::size_t w = first; w < std::min(whole, first + together); ++w)
      places.push_back(std::uint32_t(text.window(w).offset));
    return windows(part, places, text.context());
  }
  const std::size_t first = i * kChunkRows;
  if (!data_->images) {  // without a copy
    const auto begin = std::int64_t(first), size = std::int64_t(std::min(kChunkRows, rows(part) - first));
    return {inputs_[int(part)].narrow(0, begin, size).to(device_),
            targets_[int(part)].narrow(0, begin, size).to(device_), std::size_t(size)};
  }
  places.resize(std::min(rows(part), first + kChunkRows) - first);
  std::iota(places.begin(), places.end(), std::uint32_t(first));
  return of(part, places);
}

}  // namespace smile::deep
