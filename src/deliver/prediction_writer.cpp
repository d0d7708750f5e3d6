// SPDX-License-Identifier: Apache-2.0
#include "deliver/prediction_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "files/utf8.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/files/npy.hpp"

namespace smile::experiment {
namespace {

/// What the three kinds have in common: text or bytes gathered into pieces.
class Writer : public PredictionWriter {
 public:
  Writer(const std::filesystem::path& path, PredictionColumns columns)
      : columns_(std::move(columns)), file_(path) {}

 protected:
  bool has_label() const { return !columns_.labels.empty(); }
  bool has_name() const { return columns_.longest_name > 0; }
  void flush(std::size_t above) {
    if (pending_.size() < above) return;
    file_.write(pending_);
    pending_.clear();
  }
  static constexpr std::size_t kPiece = std::size_t{1} << 20;

  PredictionColumns columns_;
  AtomicFile file_;
  std::string pending_;
};

/// A CSV field: quoted where it holds a delimiter, a quote or a line end.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted(1, '"');
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  quoted.push_back('"');
  return quoted;
}

/// Bytes of a file's name that are no UTF-8 become U+FFFD.
std::string in_json(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class CsvWriter final : public Writer {
 public:
  CsvWriter(const std::filesystem::path& path, PredictionColumns columns) : Writer(path, std::move(columns)) {
    pending_ = has_name() ? "row,file" : "row";
    if (has_label()) pending_ += ",predicted";
    for (const auto& name : columns_.numbers) pending_ += "," + csv_field(name);
    pending_ += "\n";
    for (std::string& label : columns_.labels) label = csv_field(label);
  }
  void add(const PredictionLine& line) override {
    fmt::format_to(std::back_inserter(pending_), "{}", line.row);
    if (has_name()) (pending_ += ',') += csv_field(std::string(line.name));
    if (has_label()) (pending_ += ',') += columns_.labels[line.label];
    for (const double number : line.numbers) fmt::format_to(std::back_inserter(pending_), ",{:.9g}", number);
    pending_ += '\n';
    flush(kPiece);
  }
  void finish() override {
    flush(0);
    file_.commit();
  }
};

class JsonWriter final : public Writer {
 public:
  JsonWriter(const std::filesystem::path& path, PredictionColumns columns)
      : Writer(path, std::move(columns)) {
    for (auto& name : columns_.numbers) name = in_json(name);
    for (auto& label : columns_.labels) label = in_json(label);
    pending_ = "[";
  }
  void add(const PredictionLine& line) override {
    fmt::format_to(std::back_inserter(pending_), "{}\n{{\"row\": {}", first_ ? "" : ",", line.row);
    first_ = false;
    if (has_name()) (pending_ += ", \"file\": ") += in_json(line.name);
    if (has_label()) (pending_ += ", \"predicted\": ") += columns_.labels[line.label];
    for (std::size_t i = 0; i < line.numbers.size(); ++i) {
      ((pending_ += ", ") += columns_.numbers[i]) += ": ";
      if (std::isfinite(line.numbers[i]))
        fmt::format_to(std::back_inserter(pending_), "{:.9g}", line.numbers[i]);
      else
        pending_ += "null";
    }
    pending_ += '}';
    flush(kPiece);
  }
  void finish() override {
    pending_ += "\n]\n";
    flush(0);
    file_.commit();
  }

 private:
  bool first_ = true;
};

/// A NumPy array of records. The header names the columns and counts the rows, which are known at the end: it
/// is written again then, in a room that holds any count.
class NpyWriter final : public Writer {
 public:
  NpyWriter(const std::filesystem::path& path, PredictionColumns columns) : Writer(path, std::move(columns)) {
    if (has_label()) {
      const NpyArray labels({columns_.labels.size()}, columns_.labels);
      label_bytes_ = labels.bytes().size() / columns_.labels.size();
      labels_.assign(reinterpret_cast<const char*>(labels.bytes().data()), labels.bytes().size());
    }
    header_bytes_ = header(std::size_t(-1), 0).size();
    pending_ = header(0, header_bytes_);
  }
  void add(const PredictionLine& line) override {
    const auto number = std::int64_t(line.row);
    pending_.append(reinterpret_cast<const char*>(&number), sizeof number);
    if (has_name()) add_name(line.name);
    if (has_label()) pending_.append(labels_, line.label * label_bytes_, label_bytes_);
    pending_.append(reinterpret_cast<const char*>(line.numbers.data()), line.numbers.size_bytes());
    ++rows_;
    flush(kPiece);
  }
  void finish() override {
    flush(0);
    file_.write_at(0, header(rows_, header_bytes_));
    file_.commit();
  }

 private:
  /// UTF-32 filled up with zeros: a name has at most as many code points as bytes.
  void add_name(std::string_view name) {
    const std::size_t begin = pending_.size();
    while (!name.empty()) {
      const data::CodePoint point = data::next_code_point(name);
      const char32_t value = point.length > 0 ? point.value : U'\uFFFD';
      for (unsigned shift = 0; shift < 32; shift += 8) pending_ += char((value >> shift) & 0xff);
      name.remove_prefix(std::max<std::size_t>(1, point.length));
    }
    pending_.resize(begin + 4 * columns_.longest_name);
  }

  /// Format 3.0: a length of 32 bits, as there may be many classes, and UTF-8.
  std::string header(std::size_t rows, std::size_t minimum) const {
    std::string dictionary = "{'descr': [('row', '<i8')";
    if (has_name()) dictionary += fmt::format(", ('file', '<U{}')", columns_.longest_name);
    if (has_label()) dictionary += fmt::format(", ('predicted', '<U{}')", label_bytes_ / 4);
    for (const std::string& name : columns_.numbers) {
      std::string escaped;
      for (const char c : name) {
        if (c == '\'' || c == '\\')
          (escaped += '\\') += c;
        else if (static_cast<unsigned char>(c) < 0x20)
          escaped += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
        else
          escaped += c;
      }
      dictionary += fmt::format(", ('{}', '<f8')", escaped);
    }
    dictionary += fmt::format("], 'fortran_order': False, 'shape': ({},), }}", rows);
    constexpr std::size_t kFixed = 12;
    const std::size_t used = kFixed + dictionary.size() + 1;
    const std::size_t padded = std::max(minimum, (used + 63) / 64 * 64);
    dictionary.append(padded - used, ' ');
    dictionary += '\n';
    const auto length = std::uint32_t(dictionary.size());
    std::string out("\x93NUMPY\x03\x00", 8);
    for (unsigned shift = 0; shift < 32; shift += 8) out += char((length >> shift) & 0xff);
    return out + dictionary;
  }

  std::size_t label_bytes_ = 0, header_bytes_ = 0, rows_ = 0;
  std::string labels_;
};

template <class W>
std::unique_ptr<PredictionWriter> make(const std::filesystem::path& path, PredictionColumns columns) {
  return std::make_unique<W>(path, std::move(columns));
}

constexpr PredictionFormat kFormats[] = {
    {"csv", "a header and a line a row", make<CsvWriter>},
    {"npy", "an array of records: numpy.load(FILE)[\"mean\"]", make<NpyWriter>},
    {"json", "an array of objects, one a row; null where a number is not finite", make<JsonWriter>}};

}  // namespace
}  // namespace smile::experiment

namespace smile {

std::span<const PredictionFormat> prediction_formats() {
  return experiment::kFormats;
}

}  // namespace smile
