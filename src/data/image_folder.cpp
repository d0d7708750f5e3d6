// SPDX-License-Identifier: Apache-2.0
// A folder of class folders of JPEG and PNG files, the usual form of photograph collections.
#include <algorithm>
#include <cctype>
#include <system_error>

#include "data/image_readers.hpp"
#include "smile/error.hpp"

namespace smile::data {
namespace {

namespace fs = std::filesystem;

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

/// Entries of a folder in the order of their names. @throws Error where it cannot be listed
std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> paths;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end; it.increment(failure))
    if (!is_hidden(it->path())) paths.push_back(it->path());
  if (failure)
    throw Error(folder.string(), "the folder cannot be read (" + failure.message() + ")", "check the path");
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// The first few of a list, for a line of text.
std::string some(const std::vector<std::string>& list) {
  constexpr std::size_t kNamed = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, list.size()); ++i) text += (i ? ", " : "") + list[i];
  return list.size() > kNamed ? text + ", …" : text;
}

}  // namespace

bool is_image_name(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

std::vector<fs::path> image_files(const fs::path& folder, std::size_t& others) {
  std::vector<fs::path> images;
  std::error_code ignored;
  for (const fs::path& path : entries(folder))
    if (is_image_name(path) && !fs::is_directory(path, ignored))
      images.push_back(path);
    else
      ++others;
  return images;
}

void refuse_broken(const fs::path& root, const std::vector<std::string>& broken,
                   const std::string& first_cause) {
  if (broken.size() == 1) throw Error(broken[0], first_cause, "replace or remove the file");
  if (!broken.empty())
    throw Error(root.string(),
                std::to_string(broken.size()) + " images cannot be read: " + some(broken) +
                    " (the first: " + first_cause + ")",
                "replace or remove these files");
}

std::vector<std::string> class_folders(const fs::path& root) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::path& path : entries(root))
    if (fs::is_directory(path, ignored)) names.push_back(path.filename().string());
  return names;
}

ReadImages read_class_folders(const fs::path& root, const std::vector<std::string>& classes,
                              std::optional<std::size_t> side) {
  ReadImages out;
  ImageSet& set = out.images;
  const auto folders = class_folders(root);
  out.class_names = classes.empty() ? folders : classes;
  if (folders.empty())
    throw Error(root.string(), "there are no class folders in it",
                "give a folder with a folder of images for each class");
  std::vector<std::string> broken;
  std::string first_cause;
  fs::path first;  // the image that gives the size
  std::size_t others = 0;
  for (const std::string& name : folders) {
    const auto known = std::find(out.class_names.begin(), out.class_names.end(), name);
    if (known == out.class_names.end())
      throw Error((root / name).string(), "the training images have no class of this name",
                  "rename or remove the folder");
    for (const fs::path& path : image_files(root / name, others)) {
      DecodedImage image;
      try {
        image = read_image_file(path);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::run) throw;
        if (broken.empty()) first_cause = error.cause();
        broken.push_back(path.string());
        continue;
      }
      ImageShape shape{3, image.height, image.width};
      if (side) {
        image.pixels = resize_image(image.pixels, shape, *side, *side);
        shape.height = shape.width = *side;
      }
      if (set.labels.empty()) {
        set.shape = shape;
        first = path;
      } else if (shape != set.shape) {
        throw Error(path.string(),
                    "the image is " + std::to_string(shape.width) + " × " + std::to_string(shape.height) +
                        " pixels, but " + first.string() + " is " + std::to_string(set.shape.width) + " × " +
                        std::to_string(set.shape.height),
                    "set data.image_size, to which all are resized");
      }
      set.pixels.insert(set.pixels.end(), image.pixels.begin(), image.pixels.end());
      set.labels.push_back(static_cast<std::uint32_t>(known - out.class_names.begin()));
    }
  }
  refuse_broken(root, broken, first_cause);
  if (set.labels.empty())
    throw Error(root.string(), "its class folders hold no images", "put .jpg, .jpeg or .png files into them");
  if (others > 0)
    out.warnings.push_back(root.string() + ": " + std::to_string(others) +
                           " files that are no .jpg, .jpeg or .png were passed over");
  return out;
}

}  // namespace smile::data
