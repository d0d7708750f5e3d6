#include "smile/data/prediction_images.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <system_error>
#include <utility>

#include "data/gzip.hpp"
#include "data/image_readers.hpp"
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

std::string text_of(const ImageShape& shape) {
  return std::to_string(shape.width) + " × " + std::to_string(shape.height) +
         (shape.channels == 1 ? " (grey)" : " (colour)");
}

/// The file of labels that belongs to a file of IDX images, by the names that all such sets have.
std::optional<fs::path> labels_beside(const fs::path& images) {
  std::string name = images.filename().string();
  const auto at = name.find("images-idx3");
  if (at == std::string::npos) return std::nullopt;
  name.replace(at, 11, "labels-idx1");
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  for (const char* ending : {"", ".gz"}) {
    const fs::path path = images.parent_path() / (name + ending);
    if (fs::exists(path)) return path;
  }
  return std::nullopt;
}

}  // namespace

struct PredictionImageReader::State {
  ImageShape shape;  // the network's
  ImageNormalisation normalisation;
  std::vector<std::string> classes;
  bool resize = false;

  // Of photographs: files still to be decoded. Of files of many images: the images.
  fs::path root;
  std::vector<fs::path> files;
  std::optional<ImageSet> set;
  std::vector<std::uint32_t> labels;  // empty: unknown
  std::vector<std::string> warnings;
  std::size_t at = 0;

  std::size_t size() const { return set ? set->size() : files.size(); }
  std::string name(std::size_t i) const {
    return root.empty() ? files[i].filename().string() : files[i].lexically_relative(root).string();
  }

  void open_folder(const fs::path& folder) {
    root = folder;
    std::size_t others = 0;
    files = data::image_files(folder, others);
    const auto folders = data::class_folders(folder);
    if (!files.empty()) {
      if (!folders.empty())
        warnings.push_back(folder.string() +
                           ": its sub-folders are passed over, as there are images beside them");
    } else {
      for (const std::string& name : folders) {
        const auto known = std::find(classes.begin(), classes.end(), name);
        if (known == classes.end())
          throw Error((folder / name).string(), "the training images have no class of this name",
                      "rename the folder, or give it alone to predict its images");
        const auto images = data::image_files(folder / name, others);
        files.insert(files.end(), images.begin(), images.end());
        labels.resize(files.size(), std::uint32_t(known - classes.begin()));
      }
    }
    if (files.empty())
      throw Error(folder.string(), "there are no images in it", "give a folder of .jpg, .jpeg or .png files");
    if (others > 0)
      warnings.push_back(folder.string() + ": " + std::to_string(others) +
                         " files that are no .jpg, .jpeg or .png were passed over");
  }

  void open_many(const fs::path& path) {
    if (data::is_idx(path)) {
      const auto beside = labels_beside(path);
      set = beside ? data::read_idx(path, *beside).images : data::read_idx_images(path);
      if (beside) labels = set->labels;
    } else if (shape.channels == 3) {
      try {
        set = data::read_cifar({path}, classes.size() == 100).images;
      } catch (const Error& error) {
        throw Error(error.where(), error.cause(),
                    "give images: a .jpg or .png, a folder of them, CIFAR records", error.kind());
      }
      labels = set->labels;
    } else {
      throw Error(path.string(), "the file is no image and no IDX file",
                  "give a .jpg or .png, a folder of them, or IDX images");
    }
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (labels[i] >= classes.size())
        throw Error(path.string(),
                    "the label of item " + std::to_string(i) + " is " + std::to_string(labels[i]) +
                        ", and training had the classes 0 to " + std::to_string(classes.size() - 1),
                    "give images of the training's classes");
    check(set->shape, path.string());
  }

  void check(const ImageShape& found, const std::string& where) const {
    if (found == shape || (resize && found.channels == shape.channels)) return;
    throw Error(where, "the image is " + text_of(found) + ", and the network takes " + text_of(shape),
                "give images of that size");
  }

  void add(std::vector<std::uint8_t> pixels, const ImageShape& from, ImageSet& to) const {
    if (from != shape) pixels = resize_image(pixels, from, shape.height, shape.width);
    to.pixels.insert(to.pixels.end(), pixels.begin(), pixels.end());
  }

  void add_file(const fs::path& path, ImageSet& to) const {
    DecodedImage image = read_image_file(path);
    ImageShape found{3, image.height, image.width};
    if (shape.channels == 1) {
      image.pixels = grey_of(image.pixels);
      found.channels = 1;
    }
    check(found, path.string());
    add(std::move(image.pixels), found, to);
  }
};

PredictionImageReader::PredictionImageReader(const fs::path& path, const DatasetInfo& info, bool resize)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.shape = {info.image->channels, info.image->height, info.image->width};
  s.normalisation = {info.image->channel_mean, info.image->channel_sd};
  s.classes = info.labels.names;
  s.resize = resize;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw Error(path.string(), "no such file or folder", "check the path");
  if (fs::is_directory(path, ignored))
    s.open_folder(path);
  else if (data::is_image_name(path))
    s.files = {path};
  else
    s.open_many(path);
}
PredictionImageReader::PredictionImageReader(PredictionImageReader&&) noexcept = default;
PredictionImageReader::~PredictionImageReader() = default;

std::size_t PredictionImageReader::size() const {
  return state_->size();
}
bool PredictionImageReader::has_names() const {
  return !state_->set;
}
std::size_t PredictionImageReader::longest_name() const {
  std::size_t longest = 0;
  for (std::size_t i = 0; i < state_->files.size(); ++i) longest = std::max(longest, state_->name(i).size());
  return longest;
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
      const auto pixels = s.set->image(i);
      s.add({pixels.begin(), pixels.end()}, s.set->shape, *set);
    } else {
      s.add_file(s.files[i], *set);
      block.names.push_back(s.name(i));
    }
  }
  if (!s.labels.empty())
    block.labels.assign(s.labels.begin() + std::ptrdiff_t(s.at), s.labels.begin() + std::ptrdiff_t(end));
  set->labels = block.labels.empty() ? std::vector<std::uint32_t>(end - s.at) : block.labels;
  std::vector<std::uint32_t> rows(end - s.at);
  std::iota(rows.begin(), rows.end(), 0u);
  block.images = ImageRows(std::move(set), std::move(rows), s.normalisation);
  s.at = end;
  return true;
}

}  // namespace smile
