// SPDX-License-Identifier: Apache-2.0
#include "data/image_sources.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>

#include "data/image_readers.hpp"
#include "files/file_error.hpp"
#include "smile/error.hpp"

namespace smile::data {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}
bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::vector<std::string> file_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failure;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end; it.increment(failure))
    if (is_file(it->path())) names.push_back(it->path().filename().string());
  if (failure)
    throw Error(folder.string(), "the folder cannot be read (" + failure.message() + ")", "check the path");
  std::sort(names.begin(), names.end());
  return names;
}

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : ", ") + item;
  return text;
}

/// Without an ending .gz.
std::string unpacked_name(const std::string& name) {
  return name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
}

// IDX
// ---------------------------------------------------------------------------------------------------------

/// The file of one role ("train-images-idx3-ubyte"), packed or not, with '-' or '.' before idx.
std::optional<fs::path> idx_file(const fs::path& folder, const std::string& part, const std::string& role) {
  for (const std::string separator : {"-", "."})
    for (const std::string ending : {"", ".gz"}) {
      const fs::path path = folder / (part + "-" + role.substr(0, role.find('-')) + separator +
                                      role.substr(role.find('-') + 1) + ending);
      if (is_file(path)) return path;
    }
  return std::nullopt;
}

constexpr const char* kIdxRoles[] = {"images-idx3-ubyte", "labels-idx1-ubyte"};

/// @param whole  the test files must be there too
ImageSources find_idx(const fs::path& folder, bool whole) {
  ImageSources sources;
  sources.format = ImageFormat::idx;
  std::vector<std::string> missing;
  for (const char* part : {"train", "t10k"}) {
    std::vector<fs::path> found;
    std::vector<std::string> lacking;
    for (const char* role : kIdxRoles) {
      if (const auto path = idx_file(folder, part, role))
        found.push_back(*path);
      else
        lacking.push_back(std::string(part) + "-" + role + "[.gz]");
    }
    const bool test = std::string(part) == "t10k";
    if (!lacking.empty() && (!test || whole || !found.empty()))
      missing.insert(missing.end(), lacking.begin(), lacking.end());
    if (lacking.empty()) (test ? sources.test : sources.train) = found;
  }
  if (!missing.empty())
    throw Error(folder.string(), "these files are missing: " + joined(missing),
                "put them there; Debian's package dataset-fashion-mnist has those of Fashion-MNIST in "
                "/usr/share/datasets/fashion-mnist");
  return sources;
}

/// The name of the labels that belong to a file of images.
std::string label_name(const fs::path& images) {
  std::string name = images.filename().string();
  const auto swap = [&](const std::string& from, const std::string& to) {
    const std::size_t at = name.find(from);
    if (at != std::string::npos) name.replace(at, from.size(), to);
  };
  swap("images", "labels");
  swap("idx3", "idx1");
  return name;
}

std::vector<fs::path> idx_pair(const fs::path& images) {
  if (const auto labels = idx_labels_beside(images)) return {images, *labels};
  throw Error(images.string(), "there is no file of labels (" + label_name(images) + ") beside it",
              "put it there, or rename it to that");
}

// CIFAR
// -------------------------------------------------------------------------------------------------------

bool is_record_name(const std::string& name) {
  return unpacked_name(name).ends_with(".bin");
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::istringstream in(data::read_file_if_there(path).value_or(""));
  for (std::string line; std::getline(in, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

ImageSources find_cifar(const fs::path& folder, bool fine, bool whole) {
  ImageSources sources;
  sources.format = fine ? ImageFormat::cifar100 : ImageFormat::cifar10;
  const auto names = file_names(folder);
  for (const std::string& name : names) {
    if (!is_record_name(name)) continue;
    if (name.starts_with("data_batch") || name.starts_with("train")) sources.train.push_back(folder / name);
    if (name.starts_with("test")) sources.test.push_back(folder / name);
  }
  std::vector<std::string> missing;
  const auto has = [&](const std::string& name) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& n) { return unpacked_name(n) == name; });
  };
  const bool official =
      !fine && (sources.train.empty() || std::any_of(names.begin(), names.end(), [](const auto& n) {
                  return n.starts_with("data_batch");
                }));
  if (official)
    for (int i = 1; i <= 5; ++i)
      if (const std::string name = "data_batch_" + std::to_string(i) + ".bin"; !has(name))
        missing.push_back(name);
  if (fine && sources.train.empty()) missing.push_back("train.bin");
  if (sources.test.empty() && (whole || official)) missing.push_back(fine ? "test.bin" : "test_batch.bin");
  if (!missing.empty())
    throw Error(folder.string(), "these files are missing: " + joined(missing),
                "put the binary version of the set there (the Python version is not read)");
  const auto lines = lines_of(folder / (fine ? "fine_label_names.txt" : "batches.meta.txt"));
  if (lines.size() == (fine ? 100U : 10U)) sources.class_names = lines;
  return sources;
}

/// CIFAR-100's files are train.bin and test.bin; of CIFAR-10 there are data_batch_1.bin and so on.
bool looks_fine(const fs::path& folder) {
  const auto has = [&](const char* name) { return is_file(folder / name); };
  if (has("fine_label_names.txt")) return true;
  if (has("train.bin")) {
    // Files of CIFAR-10 may have these names, too: the length of a record tells, 3,073 or 3,074 bytes.
    const auto size = fs::file_size(folder / "train.bin");
    return size % 3074 == 0 || size % 3073 != 0;
  }
  return has("train.bin.gz");
}

// Class folders
// -----------------------------------------------------------------------------------------------

ImageSources find_class_folders(const fs::path& root, bool whole) {
  ImageSources sources;
  sources.format = ImageFormat::folder;
  if (!is_folder(root / "train")) {
    if (whole)
      throw Error(root.string(), "these folders are missing: train, val", "put the set's folders there");
    sources.train = {root};
    return sources;
  }
  sources.train = {root / "train"};
  for (const char* name : {"test", "val", "valid"}) {
    if (!is_folder(root / name)) continue;
    if (sources.test.empty())
      sources.test = {root / name};
    else
      sources.warnings.push_back((root / name).string() + " is not used: " + sources.test[0].string() +
                                 " is the test part, and training images make the validation part");
  }
  if (whole && sources.test.empty())
    throw Error(root.string(), "the folder val is missing", "put the set's folders there");
  return sources;
}

// Any of them
// -------------------------------------------------------------------------------------------------

ImageSources find_in_folder(const fs::path& folder, ImageFormat format, bool whole) {
  const auto names = file_names(folder);
  if (format == ImageFormat::detect) {
    const auto any = [&](auto test) { return std::any_of(names.begin(), names.end(), test); };
    if (any([](const std::string& n) {
          return n.find("idx3-ubyte") != n.npos || n.find("idx1-ubyte") != n.npos;
        }))
      format = ImageFormat::idx;
    else if (any(is_record_name))
      format = looks_fine(folder) ? ImageFormat::cifar100 : ImageFormat::cifar10;
    else if (!class_folders(folder).empty())
      format = ImageFormat::folder;
    else
      throw Error(folder.string(),
                  "there are no images in it: no IDX files, no CIFAR files (.bin), no class folders",
                  "give the folder that holds the set");
  }
  if (format == ImageFormat::idx) return find_idx(folder, whole);
  if (format == ImageFormat::folder) return find_class_folders(folder, whole);
  return find_cifar(folder, format == ImageFormat::cifar100, whole);
}

ImageSources find_from_file(const fs::path& file, ImageFormat format) {
  ImageSources sources;
  const std::string name = file.filename().string();
  if (format == ImageFormat::detect)
    format = is_record_name(name)
                 ? (unpacked_name(name) == "train.bin" ? ImageFormat::cifar100 : ImageFormat::cifar10)
                 : ImageFormat::idx;
  if (format == ImageFormat::folder)
    throw Error(file.string(), "is a file", "give the folder of the class folders");
  sources.format = format;
  sources.train = format == ImageFormat::idx ? idx_pair(file) : std::vector<fs::path>{file};
  return sources;
}

void must_exist(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw Error(path.string(), "no such file or folder",
                "correct the path; a relative path starts at the working folder");
}

// torchvision
// -------------------------------------------------------------------------------------------------

struct KnownSet {
  const char* name;  ///< letters and digits of the path's last part
  ImageFormat format;
  std::vector<const char*> folders;  ///< where torchvision and the archives put the files
};
const std::vector<KnownSet>& known_sets() {
  static const std::vector<KnownSet> sets{
      {"fashionmnist", ImageFormat::idx, {"raw", "FashionMNIST/raw"}},
      {"mnist", ImageFormat::idx, {"raw", "MNIST/raw"}},
      {"cifar10", ImageFormat::cifar10, {"cifar-10-batches-bin"}},
      {"cifar100", ImageFormat::cifar100, {"cifar-100-binary"}},
      {"imagenette", ImageFormat::folder, {"imagenette2", "imagenette2-160", "imagenette2-320"}}};
  return sets;
}

ImageSources find_torchvision(const fs::path& path) {
  const fs::path clean = path.filename().empty() ? path.parent_path() : path;
  std::string name;
  for (const unsigned char c : clean.filename().string())
    if (std::isalnum(c)) name += static_cast<char>(std::tolower(c));
  for (const KnownSet& set : known_sets()) {
    if (name != set.name) continue;
    std::vector<fs::path> places{clean};
    for (const char* folder : set.folders) {
      places.push_back(clean / folder);
      places.push_back(clean.parent_path() / folder);
    }
    // The first place that has all; else what is missing in the first that is there.
    std::optional<Error> first;
    for (const fs::path& place : places) {
      if (!is_folder(place)) continue;
      try {
        return find_in_folder(place, set.format, true);
      } catch (const Error& error) {
        if (!first) first = error;
      }
    }
    if (first) throw *first;
    if (set.format == ImageFormat::idx) return find_idx(clean, true);
    must_exist(clean);
    return find_in_folder(clean, set.format, true);
  }
  std::string names;
  for (const KnownSet& set : known_sets()) names += (names.empty() ? "" : ", ") + std::string(set.name);
  throw Error(path.string(), "its last part names no set of torchvision's that is known here",
              "let it end with one of " + names + ", or set data.source: local");
}

}  // namespace

std::optional<fs::path> idx_labels_beside(const fs::path& images) {
  const std::string name = label_name(images);
  const fs::path folder = images.parent_path();
  for (const std::string& candidate : {name, unpacked_name(name), unpacked_name(name) + ".gz"})
    if (folder / candidate != images && is_file(folder / candidate)) return folder / candidate;
  return std::nullopt;
}

ImageSources find_images(const ImageOptions& options) {
  if (options.torchvision && options.test_path.empty()) return find_torchvision(options.path);
  must_exist(options.path);
  ImageSources sources = is_folder(options.path) ? find_in_folder(options.path, options.format, false)
                                                 : find_from_file(options.path, options.format);
  if (!options.test_path.empty()) {
    must_exist(options.test_path);
    const ImageFormat format = sources.format;
    if (!is_folder(options.test_path)) {
      sources.test = find_from_file(options.test_path, format).train;
    } else if (format == ImageFormat::folder) {
      sources.test = {options.test_path};
    } else {
      const ImageSources found = find_in_folder(options.test_path, format, false);
      sources.test = found.test.empty() ? found.train : found.test;
    }
  }
  return sources;
}

}  // namespace smile::data
