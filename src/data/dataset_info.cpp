// SPDX-License-Identifier: Apache-2.0
// dataset_splits.npz: what a prediction needs to know of the training data.
#include <charconv>
#include <string>
#include <utility>

#include "smile/data/dataset.hpp"
#include "smile/error.hpp"
#include "smile/files/npy.hpp"

namespace smile {

namespace {

NpyArray texts(const std::vector<std::string>& values) {
  return NpyArray({values.size()}, values);
}
NpyArray text(const std::string& value) {
  return texts({value});
}
NpyArray numbers(const std::vector<double>& values) {
  return NpyArray({values.size()}, values);
}
NpyArray number(double value) {
  return numbers({value});
}
NpyArray rows(const std::vector<std::uint32_t>& values) {
  return NpyArray({values.size()}, values);
}
NpyArray counts(const std::vector<std::size_t>& values) {
  const std::vector<std::int64_t> wide(values.begin(), values.end());
  return NpyArray({wide.size()}, wide);
}
NpyArray count(std::size_t value) {
  return counts({value});
}

/// The arrays of a file, each looked up by name.
class Arrays {
 public:
  explicit Arrays(const std::filesystem::path& path) : path_(path), arrays_(read_npz(path)) {}

  bool has(const std::string& name) const {
    for (const NamedArray& array : arrays_)
      if (array.name == name) return true;
    return false;
  }
  std::vector<std::string> texts(const char* name) const { return find(name).strings(); }
  std::string text(const char* name) const { return single(name, texts(name)); }
  std::vector<double> numbers(const char* name) const { return find(name).as<double>(); }
  double number(const char* name) const { return single(name, numbers(name)); }
  std::vector<std::uint32_t> rows(const char* name) const { return find(name).as<std::uint32_t>(); }
  std::vector<std::size_t> counts(const char* name) const {
    const auto wide = find(name).as<std::int64_t>();
    return {wide.begin(), wide.end()};
  }
  std::size_t count(const char* name) const { return single(name, counts(name)); }
  std::uint64_t integer(const char* name) const {
    const std::string digits = text(name);
    std::uint64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec != std::errc() || result.ptr != digits.data() + digits.size())
      damaged("array '" + std::string(name) + "' is not a whole number");
    return value;
  }
  [[noreturn]] void damaged(const std::string& what) const {
    throw Error(path_.string(), what, "restore the file or run again");
  }

 private:
  const NpyArray& find(const char* name) const { return array_named(arrays_, name, path_); }
  template <class T>
  T single(const char* name, const std::vector<T>& values) const {
    if (values.size() != 1) damaged("array '" + std::string(name) + "' should have one value");
    return values[0];
  }
  std::filesystem::path path_;
  std::vector<NamedArray> arrays_;
};

}  // namespace

void save_dataset_info(const DatasetInfo& info, const std::filesystem::path& path) {
  const std::string task(name_of(info.task));
  std::vector<std::string> words;
  std::vector<std::size_t> words_of_feature;
  for (const auto& categories : info.feature_categories) {
    words.insert(words.end(), categories.begin(), categories.end());
    words_of_feature.push_back(categories.size());
  }
  std::vector<NamedArray> arrays{
      {"train", rows(info.train_rows)},
      {"valid", rows(info.valid_rows)},
      {"test", rows(info.test_rows)},
      {"feature_mean", numbers(info.normalisation.feature_mean)},
      {"feature_sd", numbers(info.normalisation.feature_sd)},
      {"feature_fill", numbers(info.normalisation.feature_fill)},
      {"feature_lowest", numbers(info.feature_lowest)},
      {"feature_highest", numbers(info.feature_highest)},
      {"target_mean", number(info.normalisation.target_mean)},
      {"target_sd", number(info.normalisation.target_sd)},
      {"label_names", texts(info.labels.names)},
      {"label_counts", counts(info.labels.counts)},
      {"feature_names", texts(info.feature_names)},
      {"feature_columns", counts(info.feature_columns)},
      {"feature_words", texts(words)},
      {"feature_word_counts", counts(words_of_feature)},
      {"column_names", texts(info.column_names)},
      {"target_name", text(info.target_name)},
      {"target_column", count(info.target_position)},
      {"file_columns", count(info.file_columns)},
      {"has_header", count(info.has_header ? 1 : 0)},
      {"source", text(info.source)},
      {"task", text(task)},
      {"seed", text(std::to_string(info.seed))},  // text: NumPy users would lose bits above 2^53 as double
      {"checksum", text(std::to_string(info.checksum))},
  };
  if (info.image) {
    const ImageInfo& image = *info.image;
    arrays.push_back({"image_shape", counts({image.channels, image.height, image.width})});
    arrays.push_back({"channel_mean", numbers(image.channel_mean)});
    arrays.push_back({"channel_sd", numbers(image.channel_sd)});
    arrays.push_back({"image_format", text(image.format)});
  }
  if (info.text) {
    const TextInfo& t = *info.text;
    arrays.push_back({"vocabulary", texts(t.vocabulary)});
    arrays.push_back({"context", count(t.context)});
    arrays.push_back({"text_parts", counts({t.train_begin, t.train_end, t.valid_begin, t.valid_end,
                                            t.test_begin, t.test_end})});
  }
  write_npz(path, arrays);
}

DatasetInfo load_dataset_info(const std::filesystem::path& path) {
  const Arrays file(path);
  DatasetInfo info;
  info.train_rows = file.rows("train");
  info.valid_rows = file.rows("valid");
  info.test_rows = file.rows("test");
  info.normalisation.feature_mean = file.numbers("feature_mean");
  info.normalisation.feature_sd = file.numbers("feature_sd");
  info.normalisation.feature_fill = file.numbers("feature_fill");
  if (file.has("column_names")) info.column_names = file.texts("column_names");
  if (file.has("feature_lowest")) {
    info.feature_lowest = file.numbers("feature_lowest");
    info.feature_highest = file.numbers("feature_highest");
  }
  info.normalisation.target_mean = file.number("target_mean");
  info.normalisation.target_sd = file.number("target_sd");
  info.labels.names = file.texts("label_names");
  info.labels.counts = file.counts("label_counts");
  info.feature_names = file.texts("feature_names");
  info.feature_columns = file.counts("feature_columns");
  info.target_name = file.text("target_name");
  info.target_position = file.count("target_column");
  info.file_columns = file.count("file_columns");
  info.has_header = file.count("has_header") != 0;
  info.source = file.text("source");

  info.seed = file.integer("seed");
  info.checksum = file.integer("checksum");

  const std::vector<std::string> words = file.texts("feature_words");
  std::size_t next = 0;
  for (std::size_t size : file.counts("feature_word_counts")) {
    if (size > words.size() - next) file.damaged("feature_words and feature_word_counts do not fit together");
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(next);
    info.feature_categories.emplace_back(first, first + static_cast<std::ptrdiff_t>(size));
    next += size;
  }
  const std::string task = file.text("task");
  const auto known = parse_name<Task>(task);
  if (!known) file.damaged("the task '" + task + "' is not known");
  info.task = *known;

  if (file.has("image_shape")) {
    const auto shape = file.counts("image_shape");
    if (shape.size() != 3) file.damaged("image_shape should have three values");
    info.image = ImageInfo{shape[0],
                           shape[1],
                           shape[2],
                           file.numbers("channel_mean"),
                           file.numbers("channel_sd"),
                           file.has("image_format") ? file.text("image_format") : ""};
    if (info.image->channel_mean.size() != shape[0] || info.image->channel_sd.size() != shape[0])
      file.damaged("channel_mean and channel_sd do not fit image_shape");
  }
  if (file.has("vocabulary")) {
    const auto parts = file.counts("text_parts");
    if (parts.size() != 6) file.damaged("text_parts should have six values");
    info.text = TextInfo{file.texts("vocabulary"),
                         file.count("context"),
                         parts[0],
                         parts[1],
                         parts[2],
                         parts[3],
                         parts[4],
                         parts[5]};
  }

  const std::size_t inputs = info.feature_names.size();
  const auto fits = [&](const std::vector<double>& range) { return range.empty() || range.size() == inputs; };
  if (!fits(info.feature_lowest) || info.feature_lowest.size() != info.feature_highest.size() ||
      info.feature_columns.size() != inputs || info.feature_categories.size() != inputs ||
      info.normalisation.feature_mean.size() != inputs || info.normalisation.feature_sd.size() != inputs ||
      info.normalisation.feature_fill.size() != inputs ||
      info.labels.names.size() != info.labels.counts.size())
    file.damaged("the arrays do not fit together");
  return info;
}

}  // namespace smile
