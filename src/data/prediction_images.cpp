// SPDX-License-Identifier: Apache-2.0
#include "smile/data/prediction_images.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <system_error>
#include <utility>

#include "data/image_readers.hpp"
#include "data/image_sources.hpp"
#include "files/gzip.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;

/// Luma of ITU-R BT.601, as image tools turn colours into grey.
std::vector<std::uint8_t> grey_of(const std::vector<std::uint8_t>& rgb) {
  const std::size_t n = rgb.size() / 3;
  std::vector<std::uint8_t> grey(n);
  for (std::size_t i = 0; i < n; ++i)
    grey[i] = std::uint8_t((299u * rgb[i] + 587u * rgb[n + i] + 114u * rgb[2 * n + i] + 500u) / 1000u);
  return grey;
}

}  // namespace

struct PredictionImageReader::State {
  ImageShape shape;  // the network's
  ImageNormalisation normalisation;
  std::string format;  // of the training images; empty: unknown
  std::vector<std::string> classes;
  bool resize = false;

  fs::path root;                      // of a folder
  std::vector<fs::path> files;        // photographs, or what `set` was read from
  std::optional<ImageSet> set;        // of a file of many images
  std::vector<std::uint32_t> labels;  // empty: unknown
  std::vector<std::string> warnings;
  std::size_t at = 0;

  std::size_t size() const { return set ? set->pixels.size() / set->shape.size() : files.size(); }
  std::string name(std::size_t i) const {
    return root.empty() ? files[i].filename().string() : files[i].lexically_relative(root).string();
  }

  void open_folder(const fs::path& folder) {
    root = folder;
    std::size_t others = 0;
    files = data::image_files(folder, others);
    const auto folders = data::class_folders(folder);
    others -= std::min(others, folders.size());
    const bool beside = !files.empty();
    for (const std::string& name : folders) {
      const auto known = std::find(classes.begin(), classes.end(), name);
      if (beside) {
        if (known != classes.end())
          throw Error(folder.string(), "there are images beside the folder of the class " + name,
                      "move one of them, or give the folder of the class alone");
        continue;
      }
      const auto images = data::image_files(folder / name, others);
      if (images.empty()) continue;
      if (known == classes.end())
        throw Error((folder / name).string(), "the training images have no class of this name",
                    "rename the folder, or give it alone to predict its images");
      files.insert(files.end(), images.begin(), images.end());
      labels.resize(files.size(), std::uint32_t(known - classes.begin()));
    }
    if (files.empty())
      throw Error(
          folder.string(), "there are no images in it",
          "give a folder of .jpg, .jpeg or .png files, or the very file of IDX images or CIFAR records");
    if (beside && !folders.empty())
      warnings.push_back(folder.string() +
                         ": its sub-folders are passed over, as there are images beside them");
    if (others > 0)
      warnings.push_back(folder.string() + ": " + std::to_string(others) +
                         " files that are no .jpg, .jpeg or .png were passed over");
    look_at_all(folder);
  }

  void open_file(const fs::path& path) {
    files = {path};
    const std::string bytes = data::read_maybe_gzip(path);
    const std::string where = path.string();
    if (data::is_picture(bytes) || data::is_image_name(path)) {
      look_at_all(path);
    } else if (data::is_idx(bytes)) {
      set = data::idx_images(bytes, where);
      check(set->shape, where);
      if (const auto beside = data::idx_labels_beside(path)) {
        files.push_back(*beside);
        take_labels(data::read_idx_labels(*beside), "idx", *beside);
      }
    } else if (shape.channels == 3) {
      open_cifar(bytes, path);
    } else {
      throw Error(where, "the file is no image and no IDX file",
                  "give a .jpg or .png, a folder of them, or IDX images");
    }
  }

  void open_cifar(const std::string& bytes, const fs::path& path) {
    constexpr std::size_t kCoarse = 1 + 3072, kFine = 2 + 3072;
    const bool fine = format == "cifar100" || (format.empty() && classes.size() == 100) ||
                      (bytes.size() % kFine == 0 && bytes.size() % kCoarse != 0);
    set.emplace();
    try {
      data::add_cifar(bytes, path.string(), fine, *set);
    } catch (const Error& error) {
      throw Error(error.where(), error.cause(),
                  "copy the file again, or give a .jpg or .png, a folder of them, or CIFAR records");
    }
    check(set->shape, path.string());
    take_labels(set->labels, fine ? "cifar100" : "cifar10", path);
  }

  /// Where they are the training's.
  void take_labels(std::vector<std::uint32_t> found, const std::string& of_format, const fs::path& path) {
    if (found.size() != size())
      throw Error(path.string(),
                  "has " + std::to_string(found.size()) + " labels, but " + files[0].string() + " has " +
                      std::to_string(size()) + " images",
                  "give the two files of one set");
    const bool known =
        std::all_of(found.begin(), found.end(), [&](std::uint32_t label) { return label < classes.size(); });
    if (known && (format.empty() || format == of_format))
      labels = std::move(found);
    else
      warnings.push_back(path.string() + ": its labels are left aside, as training had other classes");
  }

  void check(const ImageShape& found, const std::string& where) const {
    if (found == shape || (resize && found.channels == shape.channels)) return;
    throw Error(
        where,
        "the image is " + data::shape_text(found) + ", and the network takes " + data::shape_text(shape),
        "give images of that kind");
  }

  /// A photograph as the network takes it. @throws Error
  ImageSet read_photograph(const fs::path& path) const {
    DecodedImage image = read_image_file(path);
    ImageSet out{{3, image.height, image.width}, std::move(image.pixels), {}};
    if (shape.channels == 1) {
      out.pixels = grey_of(out.pixels);
      out.shape.channels = 1;
    }
    check(out.shape, path.string());
    return out;
  }

  void look_at_all(const fs::path& given) const {
    std::vector<std::string> broken;
    std::string first_cause;
    for (const fs::path& path : files) {
      try {
        read_photograph(path);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::run) throw;
        if (broken.empty()) first_cause = error.cause();
        broken.push_back(path.string());
      }
    }
    data::refuse_broken(given, broken, first_cause);
  }

  void add(std::span<const std::uint8_t> pixels, const ImageShape& from, ImageSet& to) const {
    if (from == shape) {
      to.pixels.insert(to.pixels.end(), pixels.begin(), pixels.end());
      return;
    }
    const auto resized = resize_image(pixels, from, shape.height, shape.width);
    to.pixels.insert(to.pixels.end(), resized.begin(), resized.end());
  }
};

PredictionImageReader::PredictionImageReader(const fs::path& path, const DatasetInfo& info, bool resize)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.shape = {info.image->channels, info.image->height, info.image->width};
  s.normalisation = {info.image->channel_mean, info.image->channel_sd};
  s.format = info.image->format;
  s.classes = info.labels.names;
  s.resize = resize;
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    s.open_folder(path);
  else
    s.open_file(path);
}
PredictionImageReader::PredictionImageReader(PredictionImageReader&&) noexcept = default;
PredictionImageReader::~PredictionImageReader() = default;

std::size_t PredictionImageReader::size() const {
  return state_->size();
}
std::size_t PredictionImageReader::longest_name() const {
  std::size_t longest = 0;
  for (std::size_t i = 0; !state_->set && i < size(); ++i)
    longest = std::max(longest, state_->name(i).size());
  return longest;
}
const std::vector<fs::path>& PredictionImageReader::files() const {
  return state_->files;
}
const std::vector<std::string>& PredictionImageReader::warnings() const {
  return state_->warnings;
}

bool PredictionImageReader::next(std::size_t most, PredictionImages& block) {
  State& s = *state_;
  if (s.at == s.size()) return false;
  block = PredictionImages();
  block.first = s.at;
  const std::size_t end = std::min(s.size(), s.at + most);
  auto set = std::make_shared<ImageSet>();
  set->shape = s.shape;
  for (std::size_t i = s.at; i < end; ++i) {
    if (s.set) {
      const std::size_t size = s.set->shape.size();
      s.add(std::span(s.set->pixels).subspan(i * size, size), s.set->shape, *set);
    } else {
      const ImageSet photograph = s.read_photograph(s.files[i]);
      s.add(photograph.pixels, photograph.shape, *set);
      block.names.push_back(s.name(i));
    }
  }
  const auto from = std::ptrdiff_t(s.at), to = std::ptrdiff_t(end);
  if (!s.labels.empty()) block.labels.assign(s.labels.begin() + from, s.labels.begin() + to);
  set->labels = block.labels.empty() ? std::vector<std::uint32_t>(end - s.at) : block.labels;
  std::vector<std::uint32_t> rows(end - s.at);
  std::iota(rows.begin(), rows.end(), 0u);
  block.images = ImageRows(std::move(set), std::move(rows), s.normalisation);
  s.at = end;
  return true;
}

}  // namespace smile
