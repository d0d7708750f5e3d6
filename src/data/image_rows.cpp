// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "smile/data/images.hpp"
#include "smile/error.hpp"

namespace smile {

ImageNormalisation ImageNormalisation::unit(std::size_t channels) {
  return {std::vector<double>(channels, 0), std::vector<double>(channels, 1)};
}
ImageNormalisation ImageNormalisation::cifar() {
  return {{0.4914, 0.4822, 0.4465}, {0.247, 0.243, 0.261}};
}
ImageNormalisation ImageNormalisation::imagenet() {
  return {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}};
}

ImageRows::ImageRows(std::shared_ptr<const ImageSet> images, std::vector<std::uint32_t> rows,
                     const ImageNormalisation& normalisation)
    : images_(std::move(images)), rows_(std::move(rows)) {
  const std::size_t channels = images_->shape.channels;
  if (normalisation.mean.size() != channels || normalisation.sd.size() != channels)
    throw Error("image normalisation",
                std::to_string(normalisation.mean.size()) + " means and " +
                    std::to_string(normalisation.sd.size()) + " standard deviations for " +
                    std::to_string(channels) + " channels",
                "give one of each a channel");
  labels_.reserve(rows_.size());
  for (const std::uint32_t row : rows_) {
    if (row >= images_->size())
      throw Error("image rows",
                  "row " + std::to_string(row) + " is not one of " + std::to_string(images_->size()),
                  "give positions in the set");
    labels_.push_back(images_->labels[row]);
  }
  value_of_.resize(channels);
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t p = 0; p < 256; ++p)
      value_of_[c][p] = static_cast<float>((double(p) / 255 - normalisation.mean[c]) / normalisation.sd[c]);
}

void ImageRows::fill(std::size_t item, std::span<float> out) const {
  const auto pixels = images_->image(rows_[item]);
  const std::size_t plane = shape().height * shape().width;
  for (std::size_t c = 0; c < shape().channels; ++c)
    for (std::size_t i = c * plane; i < (c + 1) * plane; ++i) out[i] = value_of_[c][pixels[i]];
}

void ImageRows::assemble(std::span<const std::uint32_t> items, std::span<float> out) const {
  const std::size_t size = shape().size(), count = items.empty() ? this->size() : items.size();
  for (std::size_t k = 0; k < count; ++k) fill(items.empty() ? k : items[k], out.subspan(k * size, size));
}

namespace {

constexpr double kCropProbability = 0.95, kCropSide = 0.7;

/// A window of an image, mirrored or not, that is spread over the whole output.
struct View {
  bool mirrored = false;
  std::size_t top = 0, left = 0, height = 0, width = 0;
};

/// One axis of a bilinear view: two neighbours and the weight of the second.
struct Neighbours {
  std::size_t low, high;
  float weight;
};
std::vector<Neighbours> neighbours(std::size_t first, std::size_t from, std::size_t to) {
  std::vector<Neighbours> out(to);
  for (std::size_t i = 0; i < to; ++i) {
    const double centre = (double(i) + 0.5) * double(from) / double(to) - 0.5;
    const double place = std::clamp(centre, 0.0, double(from - 1));
    const auto low = static_cast<std::size_t>(place);
    out[i] = {first + low, first + std::min(low + 1, from - 1), static_cast<float>(place - double(low))};
  }
  return out;
}

View random_view(Stream& stream, const ImageShape& shape) {
  // All numbers are drawn whether they are used or not, so that one image's view moves no other's.
  View view;
  view.mirrored = stream.uniform() < 0.5;
  const bool cropped = stream.uniform() < kCropProbability;
  const double down = stream.uniform(), across = stream.uniform();
  view.height = shape.height;
  view.width = shape.width;
  if (!cropped) return view;
  const auto part = [](std::size_t side) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(kCropSide * double(side))));
  };
  view.height = part(shape.height);
  view.width = part(shape.width);
  view.top = static_cast<std::size_t>(down * double(shape.height - view.height + 1));
  view.left = static_cast<std::size_t>(across * double(shape.width - view.width + 1));
  return view;
}

}  // namespace

void ImageRows::assemble_augmented(std::span<const std::uint32_t> items, StreamKey key, std::uint64_t step,
                                   std::span<float> out) const {
  const ImageShape& shape = this->shape();
  const std::size_t count = items.empty() ? size() : items.size();
  Stream stream(key, step);
  for (std::size_t k = 0; k < count; ++k) {
    const View view = random_view(stream, shape);
    const auto rows = neighbours(view.top, view.height, shape.height);
    auto columns = neighbours(view.left, view.width, shape.width);
    if (view.mirrored) std::reverse(columns.begin(), columns.end());
    const auto pixels = images_->image(rows_[items.empty() ? k : items[k]]);
    float* next = out.data() + k * shape.size();
    for (std::size_t c = 0; c < shape.channels; ++c) {
      const std::uint8_t* plane = pixels.data() + c * shape.height * shape.width;
      const auto& value = value_of_[c];
      for (const Neighbours& y : rows) {
        const std::uint8_t *upper = plane + y.low * shape.width, *lower = plane + y.high * shape.width;
        for (const Neighbours& x : columns) {
          const float above = value[upper[x.low]] + x.weight * (value[upper[x.high]] - value[upper[x.low]]);
          const float below = value[lower[x.low]] + x.weight * (value[lower[x.high]] - value[lower[x.low]]);
          *next++ = above + y.weight * (below - above);
        }
      }
    }
  }
}

}  // namespace smile
