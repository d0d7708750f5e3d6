// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "data/image_readers.hpp"
#include "data/image_sources.hpp"
#include "smile/data/images.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

using data::ImageSources;
using data::ReadImages;
using data::shape_text;

const char* name_of(ImageFormat format) {
  switch (format) {
    case ImageFormat::idx:
      return "idx";
    case ImageFormat::cifar10:
      return "cifar10";
    case ImageFormat::cifar100:
      return "cifar100";
    case ImageFormat::folder:
      return "folder";
    case ImageFormat::detect:
      break;
  }
  return "";
}

ReadImages read(const ImageSources& sources, const std::vector<std::filesystem::path>& files,
                const std::vector<std::string>& classes, const ImageOptions& options) {
  switch (sources.format) {
    case ImageFormat::idx:
      return data::read_idx(files[0], files[1]);
    case ImageFormat::folder:
      return data::read_class_folders(files[0], classes, options.side);
    default:
      return data::read_cifar(files, sources.format == ImageFormat::cifar100);
  }
}

void resize_all(ImageSet& set, std::size_t side) {
  if (set.shape.height == side && set.shape.width == side) return;
  ImageSet out{{set.shape.channels, side, side}, {}, std::move(set.labels)};
  out.pixels.reserve(out.size() * out.shape.size());
  for (std::size_t i = 0; i < out.labels.size(); ++i) {
    const auto image = resize_image(std::span(set.pixels).subspan(i * set.shape.size(), set.shape.size()),
                                    set.shape, side, side);
    out.pixels.insert(out.pixels.end(), image.begin(), image.end());
  }
  set = std::move(out);
}

/// The file that a label comes from.
std::string label_file(const ImageSources& sources, bool test) {
  const auto& files = test ? sources.test : sources.train;
  return files.back().string();
}

/// Number of classes of IDX files, whose format has no bound: all labels of the training file must be of use.
std::size_t idx_classes(const ImageSources& sources, const std::vector<std::uint32_t>& labels) {
  std::vector<std::size_t> count(256);
  for (const std::uint32_t label : labels) ++count[label];
  std::size_t classes = 256;
  while (classes > 0 && count[classes - 1] == 0) --classes;
  // A label far from the others is damage; one class without an image, as in some relatives of MNIST, is not.
  std::size_t below = classes - 1;
  while (below > 0 && count[below - 1] == 0) --below;
  if (below > 0 && classes - 1 - below > 10) {
    const auto item = std::find(labels.begin(), labels.end(), classes - 1) - labels.begin();
    throw Error(label_file(sources, false),
                "the label of item " + std::to_string(item) + " is " + std::to_string(classes - 1) +
                    ", out of the range 0 to " + std::to_string(below - 1) + " of the others",
                "copy or download the file again, or set model.out_dim");
  }
  return classes;
}

void check_labels(const ImageSources& sources, const std::vector<std::uint32_t>& labels, std::size_t first,
                  std::size_t last, std::size_t classes, bool test) {
  for (std::size_t i = first; i < last; ++i)
    if (labels[i] >= classes)
      throw Error(label_file(sources, test),
                  "the label of item " + std::to_string(i - first) + " is " + std::to_string(labels[i]) +
                      ", out of the range 0 to " + std::to_string(classes - 1),
                  "copy or download the file again, or correct the number of classes of the model");
}

std::uint64_t checksum_of(const ImageSet& set) {
  std::uint64_t hash = 14695981039346656037ULL;
  const auto add = [&](const auto& values) {
    const char* bytes = reinterpret_cast<const char*>(values.data());
    const std::size_t size = values.size() * sizeof(values[0]);
    for (std::size_t i = 0; i < size; i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + i, std::min<std::size_t>(8, size - i));
      hash = (hash ^ word) * 1099511628211ULL;
      hash ^= hash >> 32;
    }
  };
  add(set.pixels);
  add(set.labels);
  return hash == 0 ? 1 : hash;
}

/// Sizes of the parts of `rows` shuffled images.
struct Sizes {
  std::size_t train, valid, test;
};
Sizes part_sizes(std::size_t rows, bool own_test, const ImageOptions& options) {
  const auto [train, valid, test] = options.split;
  const double whole = own_test ? train + valid : train + valid + test;
  const auto part = [&](double fraction) {
    return static_cast<std::size_t>(std::floor(fraction / whole * double(rows) + 1e-9));
  };
  Sizes sizes{part(train), 0, 0};
  sizes.valid = own_test ? rows - sizes.train : part(valid);
  sizes.test = own_test ? 0 : rows - sizes.train - sizes.valid;
  for (const auto& [name, size] : {std::pair<const char*, std::size_t>{"train", sizes.train},
                                   {"valid", sizes.valid},
                                   {"test", own_test ? 1 : sizes.test}})
    if (size == 0)
      throw Error(options.path.string(),
                  std::to_string(rows) + (rows == 1 ? " image leaves" : " images leave") + " the " + name +
                      " part empty",
                  "give more images or change the fractions");
  return sizes;
}

ImageNormalisation normalisation_of(const ImageSources& sources, const ImageShape& shape, bool wanted) {
  if (!wanted || shape.channels == 1) return ImageNormalisation::unit(shape.channels);
  return sources.format == ImageFormat::folder ? ImageNormalisation::imagenet() : ImageNormalisation::cifar();
}

}  // namespace

ImageDataset load_image_dataset(const ImageOptions& options) {
  const ImageSources sources = data::find_images(options);
  ImageDataset out;
  out.warnings = sources.warnings;
  const auto keep_warnings = [&](const ReadImages& part) {
    out.warnings.insert(out.warnings.end(), part.warnings.begin(), part.warnings.end());
  };
  ReadImages training = read(sources, sources.train, {}, options);
  keep_warnings(training);
  ImageSet& set = training.images;
  const std::size_t train_files = set.size();
  const bool own_test = !sources.test.empty();
  if (own_test) {
    ReadImages testing = read(sources, sources.test, training.class_names, options);
    keep_warnings(testing);
    if (testing.images.shape != set.shape)
      throw Error(sources.test[0].string(),
                  "the test images are " + shape_text(testing.images.shape) + ", the training images " +
                      shape_text(set.shape),
                  sources.format == ImageFormat::folder ? "set data.image_size, to which all are resized"
                                                        : "give the files of one set");
    set.pixels.insert(set.pixels.end(), testing.images.pixels.begin(), testing.images.pixels.end());
    set.labels.insert(set.labels.end(), testing.images.labels.begin(), testing.images.labels.end());
  }
  if (set.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error(options.path.string(), "more than 2^32 images", "give fewer images");
  if (options.side) resize_all(set, *options.side);

  DatasetInfo& info = out.info;
  std::size_t classes =
      sources.format == ImageFormat::cifar10    ? 10
      : sources.format == ImageFormat::cifar100 ? 100
      : sources.format == ImageFormat::folder   ? training.class_names.size()
      : options.classes
          ? *options.classes
          : idx_classes(sources,
                        {set.labels.begin(), set.labels.begin() + static_cast<std::ptrdiff_t>(train_files)});
  check_labels(sources, set.labels, 0, train_files, classes, false);
  check_labels(sources, set.labels, train_files, set.size(), classes, true);
  if (classes < 2)
    throw Error(options.path.string(), "the images are all of one class", "give two classes or more");
  info.labels.names = training.class_names.empty() ? sources.class_names : training.class_names;
  for (std::size_t c = info.labels.names.size(); c < classes; ++c)
    info.labels.names.push_back(std::to_string(c));
  info.labels.counts.assign(classes, 0);
  for (const std::uint32_t label : set.labels) ++info.labels.counts[label];

  std::vector<std::uint32_t> order(train_files);
  random_permutation({.seed = options.seed, .chain = 0, .purpose = Purpose::split}, 0, order);
  if (options.max_rows && *options.max_rows < order.size()) order.resize(*options.max_rows);
  const Sizes sizes = part_sizes(order.size(), own_test, options);
  const auto valid_begin = order.begin() + static_cast<std::ptrdiff_t>(sizes.train);
  const auto test_begin = valid_begin + static_cast<std::ptrdiff_t>(sizes.valid);
  info.train_rows.assign(order.begin(), valid_begin);
  info.valid_rows.assign(valid_begin, test_begin);
  info.test_rows.assign(test_begin, order.end());
  for (std::size_t i = train_files; i < set.size(); ++i)
    info.test_rows.push_back(static_cast<std::uint32_t>(i));

  info.source = options.path.string();
  info.task = Task::classification;
  info.seed = options.seed;
  info.target_name = "label";
  const ImageNormalisation normalisation = normalisation_of(sources, set.shape, options.normalize);
  info.image = ImageInfo{set.shape.channels, set.shape.height, set.shape.width,
                         normalisation.mean, normalisation.sd, name_of(sources.format)};
  info.checksum = checksum_of(set);
  out.images = std::make_shared<const ImageSet>(std::move(set));
  out.train = ImageRows(out.images, info.train_rows, normalisation);
  out.valid = ImageRows(out.images, info.valid_rows, normalisation);
  out.test = ImageRows(out.images, info.test_rows, normalisation);
  const auto warn_of_missing = [&](const ImageRows& part, const std::string& kind) {
    std::vector<bool> seen(classes);
    for (const std::uint32_t label : part.labels()) seen[label] = true;
    for (std::size_t c = 0; c < classes; ++c)
      if (!seen[c]) out.warnings.push_back("class '" + info.labels.names[c] + "' has no " + kind + " image");
  };
  warn_of_missing(out.train, "training");
  // A test part drawn from all images may miss a class by chance; test files that miss one are perhaps not
  // all there.
  if (own_test) warn_of_missing(out.test, "test");
  return out;
}

DataPart flatten(const ImageRows& rows) {
  DataPart out;
  out.rows = rows.size();
  const std::size_t size = rows.shape().size();
  std::vector<float> image(size);
  out.features.reserve(out.rows * size);
  for (std::uint32_t i = 0; i < out.rows; ++i) {
    rows.assemble(std::span(&i, 1), image);
    out.features.insert(out.features.end(), image.begin(), image.end());
  }
  out.targets.assign(rows.labels().begin(), rows.labels().end());
  return out;
}

Dataset flatten(const ImageDataset& images) {
  Dataset out;
  out.info = images.info;
  out.warnings = images.warnings;
  out.train = flatten(images.train);
  out.valid = flatten(images.valid);
  out.test = flatten(images.test);
  return out;
}

}  // namespace smile
