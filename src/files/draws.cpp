// SPDX-License-Identifier: Apache-2.0
#include "smile/files/draws.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "files/file_error.hpp"
#include "files/half.hpp"
#include "files/npy_header.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/files/npy.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;

NpyType npy_type(DrawsType type) {
  switch (type) {
    case DrawsType::float16:
      return NpyType::float16;
    case DrawsType::bfloat16:
      return NpyType::uint16;
    case DrawsType::float32:
      break;
  }
  return NpyType::float32;
}

/// "samples/chain-03" of "samples/chain-03.npy".
fs::path folder_of(const fs::path& path) {
  return path.parent_path() / path.stem();
}
fs::path draw_path(const fs::path& folder, std::size_t i) {
  char name[40];
  std::snprintf(name, sizeof name, "draw-%06zu.npy", i);
  return folder / name;
}

/// @throws Error (run) for a number that float16 does not have
void narrow(std::span<const float> values, DrawsType type, std::span<std::uint16_t> out,
            const fs::path& path) {
  constexpr float kLargestHalf = 65504, kRoundedUp = 65520;
  if (type == DrawsType::float16)
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::isfinite(values[i]) && std::abs(values[i]) >= kRoundedUp)
        throw Error(path.string(),
                    "parameter " + std::to_string(i) + " of a draw is " + std::to_string(values[i]) +
                        ", and the largest number of float16 is " + std::to_string(int(kLargestHalf)),
                    "start the run again with draws_dtype: bfloat16 or float32", ErrorKind::run);
  for (std::size_t i = 0; i < values.size(); ++i)
    out[i] = type == DrawsType::float16 ? data::half_of(values[i]) : data::bfloat_of(values[i]);
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// So many files of draws stay open between two reads; more are opened for each. A process may often have no
/// more than 1,024 files open, and a run may have more chains.
constexpr int kKeptOpen = 128;
std::atomic<int> kept_open{0};

/// A file that is read at given places.
class Source {
 public:
  explicit Source(fs::path path) : path_(std::move(path)), descriptor_(open()) {
    // Enough for the headers that are written here and for those of others, which are of 64 to 128 bytes.
    std::string head(4096, '\0');
    try {
      head.resize(data::read_some_at(descriptor_, 0, head.data(), head.size(), path_));
      header_ = data::parse_npy_header(head, path_.string());
      struct stat status {};
      if (::fstat(descriptor_, &status) != 0 ||
          static_cast<std::size_t>(status.st_size) < header_.bytes + header_.data_bytes(path_.string()))
        throw Error(path_.string(), "the NumPy file is cut short", "restore the file or run again");
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
    if (kept_open.fetch_add(1) < kKeptOpen) return;
    --kept_open;
    ::close(std::exchange(descriptor_, -1));
  }
  Source(Source&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        header_(std::move(other.header_)) {}
  Source& operator=(Source&&) = delete;
  ~Source() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    --kept_open;
  }

  const data::NpyHeader& header() const { return header_; }
  const fs::path& path() const { return path_; }
  /// Bytes [at, at + size) of the data.
  void read(std::size_t at, void* out, std::size_t size) const {
    struct Opened {
      int descriptor;
      bool kept;
      ~Opened() {
        if (!kept) ::close(descriptor);
      }
    } file{descriptor_ >= 0 ? descriptor_ : open(), descriptor_ >= 0};
    if (data::read_some_at(file.descriptor, header_.bytes + at, out, size, path_) < size)
      throw Error(path_.string(), "the draws cannot be read to their end",
                  "restore the file or check the disk", ErrorKind::run);
  }
  /// Elements [first, first + out.size()) as float.
  void read(std::size_t first, std::span<float> out, DrawsType type) const {
    if (type == DrawsType::float32) return read(first * sizeof(float), out.data(), out.size_bytes());
    constexpr std::size_t kChunk = 1 << 14;
    std::uint16_t bits[kChunk];
    for (std::size_t done = 0; done < out.size(); done += kChunk) {
      const std::size_t count = std::min(kChunk, out.size() - done);
      read(2 * (first + done), bits, 2 * count);
      for (std::size_t i = 0; i < count; ++i)
        out[done + i] =
            type == DrawsType::float16 ? data::float_of_half(bits[i]) : data::float_of_bfloat(bits[i]);
    }
  }

 private:
  int open() const {
    const int descriptor = data::open_file(path_, O_RDONLY);
    if (descriptor >= 0) return descriptor;
    if (errno != ENOENT) throw data::write_error(path_, "cannot be opened", errno);
    throw Error(path_.string(), "no such file", "restore the file or run again", ErrorKind::run);
  }

  fs::path path_;
  int descriptor_ = -1;
  data::NpyHeader header_;
};

DrawsType type_of(const Source& source, std::size_t dimensions) {
  const data::NpyHeader& header = source.header();
  for (const Alternative<DrawsType>& type : Named<DrawsType>::all)
    if (npy_type(type.value) == header.type && header.shape.size() == dimensions) return type.value;
  throw Error(source.path().string(), "is no file of draws", "give a file of draws written by a run");
}

}  // namespace

void round_as_stored(DrawsType type, std::span<float> values) {
  if (type == DrawsType::float32) return;
  for (float& value : values)
    value = type == DrawsType::float16 ? data::float_of_half(data::half_of(value))
                                       : data::float_of_bfloat(data::bfloat_of(value));
}
std::size_t bytes_of(DrawsType type) {
  return type == DrawsType::float32 ? 4 : 2;
}

// Writing
// -----------------------------------------------------------------------------------------------------

struct DrawsWriter::Files {
  std::size_t columns = 0, rows = 0;
  DrawsType type = DrawsType::float32;
  std::optional<NpyAppender> shared;  ///< else a file each in `folder`
  fs::path path, folder;
  std::vector<std::uint16_t> narrowed;
};

DrawsWriter::DrawsWriter(std::unique_ptr<Files> files) : files_(std::move(files)) {}
DrawsWriter::DrawsWriter(DrawsWriter&&) noexcept = default;
DrawsWriter& DrawsWriter::operator=(DrawsWriter&&) noexcept = default;
DrawsWriter::~DrawsWriter() = default;

DrawsWriter DrawsWriter::create(const fs::path& path, std::size_t columns, Options options) {
  auto files = std::make_unique<Files>();
  files->columns = columns;
  files->type = options.type;
  files->path = path;
  const fs::path folder = folder_of(path);
  std::error_code failure;
  fs::remove_all(folder, failure);
  if (columns * bytes_of(options.type) <= options.largest_shared_draw) {
    files->shared = NpyAppender::create(path, columns, npy_type(options.type));
  } else {
    fs::remove(path, failure);
    fs::create_directories(folder, failure);
    if (failure)
      throw Error(folder.string(), "cannot make the folder (" + failure.message() + ")",
                  "choose a folder you may write to", ErrorKind::run);
    files->folder = folder;
  }
  return DrawsWriter(std::move(files));
}

DrawsWriter DrawsWriter::reopen(const fs::path& path, std::size_t columns, std::size_t rows,
                                Options options) {
  auto files = std::make_unique<Files>();
  files->columns = columns;
  files->type = options.type;
  files->path = path;
  files->rows = rows;
  if (columns * bytes_of(options.type) <= options.largest_shared_draw) {
    files->shared = NpyAppender::reopen(path, columns, rows, npy_type(options.type));
    return DrawsWriter(std::move(files));
  }
  files->folder = folder_of(path);
  for (std::size_t i = 0; i < rows; ++i)
    if (!is_file(draw_path(files->folder, i)))
      throw Error(draw_path(files->folder, i).string(),
                  "the draw, on which the checkpoint counts, is missing",
                  "restore the file or start the run again");
  if (rows > 0) {
    const Source last(draw_path(files->folder, rows - 1));
    if (type_of(last, 1) != options.type || last.header().shape[0] != columns)
      throw Error(last.path().string(), "is a draw of another size or type than the network's",
                  "resume with the configuration of the run");
  }
  std::error_code failure;
  fs::create_directories(files->folder, failure);
  // What was written after the checkpoint is written again, temporaries included.
  std::vector<fs::path> surplus;
  for (fs::directory_iterator it(files->folder, failure), end; !failure && it != end; it.increment(failure))
    surplus.push_back(it->path());
  if (failure)
    throw Error(files->folder.string(), "the folder cannot be read", "check the disk", ErrorKind::run);
  for (std::size_t i = 0; i < rows; ++i) std::erase(surplus, draw_path(files->folder, i));
  for (const fs::path& file : surplus) fs::remove(file, failure);
  return DrawsWriter(std::move(files));
}

void DrawsWriter::append(std::span<const float> draw) {
  Files& files = *files_;
  if (draw.size() != files.columns)
    throw Error("draws",
                "a draw of " + std::to_string(draw.size()) + " values where the files have " +
                    std::to_string(files.columns),
                "give draws of one length", ErrorKind::run);
  const bool narrow_it = files.type != DrawsType::float32;
  if (narrow_it) {
    files.narrowed.resize(draw.size());
    narrow(draw, files.type, files.narrowed, files.path);
  }
  const std::span<const std::uint16_t> bits(files.narrowed);
  if (files.shared) {
    narrow_it ? files.shared->append(bits) : files.shared->append(draw);
  } else {
    data::NpyHeader header;
    header.type = npy_type(files.type);
    header.shape = {files.columns};
    AtomicFile file(draw_path(files.folder, files.rows));
    file.write(data::format_npy_header(header));
    file.write(narrow_it ? std::as_bytes(bits) : std::as_bytes(draw));
    file.commit();  // durable by itself
  }
  ++files.rows;
}

std::size_t DrawsWriter::rows() const {
  return files_->rows;
}
void DrawsWriter::sync() {
  if (files_->shared) files_->shared->sync();
}

// Reading
// -----------------------------------------------------------------------------------------------------

struct DrawsReader::Files {
  std::size_t columns = 0, rows = 0;
  DrawsType type = DrawsType::float32;
  std::optional<Source> shared;
  fs::path folder;

  void read(std::size_t i, std::span<float> out) const {
    if (shared) return shared->read(i * columns, out, type);
    open(i).read(0, out, type);
  }

  void read(std::size_t i, std::span<const std::size_t> parameters, std::span<float> out) const {
    // A read costs as much as copying some thousands of numbers.
    constexpr std::size_t kSmall = 1 << 14;
    if (columns <= kSmall && parameters.size() > 1) {
      std::vector<float> draw(columns);
      read(i, draw);
      for (std::size_t k = 0; k < parameters.size(); ++k) out[k] = draw[parameters[k]];
    } else if (shared) {
      for (std::size_t k = 0; k < parameters.size(); ++k)
        shared->read(i * columns + parameters[k], out.subspan(k, 1), type);
    } else {
      const Source source = open(i);
      for (std::size_t k = 0; k < parameters.size(); ++k) source.read(parameters[k], out.subspan(k, 1), type);
    }
  }

  Source open(std::size_t i) const {
    Source source(draw_path(folder, i));
    if (type_of(source, 1) != type || source.header().shape[0] != columns)
      throw Error(source.path().string(), "is a draw of another size or type than the first",
                  "restore the file or run again", ErrorKind::run);
    return source;
  }
};

bool DrawsReader::exist(const fs::path& path) {
  return is_file(path) || is_file(draw_path(folder_of(path), 0));
}

DrawsReader::DrawsReader(const fs::path& path) {
  auto files = std::make_unique<Files>();
  if (is_file(path) || !exist(path)) {
    files->shared.emplace(path);
    files->type = type_of(*files->shared, 2);
    files->rows = files->shared->header().shape[0];
    files->columns = files->shared->header().shape[1];
  } else {
    files->folder = folder_of(path);
    const Source first(draw_path(files->folder, 0));
    files->type = type_of(first, 1);
    files->columns = first.header().shape[0];
    while (is_file(draw_path(files->folder, files->rows))) ++files->rows;
  }
  files_ = std::move(files);
}
DrawsReader::DrawsReader(DrawsReader&&) noexcept = default;
DrawsReader& DrawsReader::operator=(DrawsReader&&) noexcept = default;
DrawsReader::~DrawsReader() = default;

std::size_t DrawsReader::rows() const {
  return files_->rows;
}
std::size_t DrawsReader::columns() const {
  return files_->columns;
}
DrawsType DrawsReader::type() const {
  return files_->type;
}

void DrawsReader::read(std::size_t i, std::span<float> out) const {
  if (i >= files_->rows || out.size() != files_->columns)
    throw Error("draws",
                "there is no draw " + std::to_string(i) + " of " + std::to_string(out.size()) + " values",
                "ask for one of " + std::to_string(files_->rows), ErrorKind::run);
  files_->read(i, out);
}

void DrawsReader::read(std::size_t i, std::span<const std::size_t> parameters, std::span<float> out) const {
  for (const std::size_t parameter : parameters)
    if (i >= files_->rows || parameter >= files_->columns)
      throw Error("draws",
                  "there is no parameter " + std::to_string(parameter) + " of draw " + std::to_string(i),
                  "ask for one that is there", ErrorKind::run);
  files_->read(i, parameters, out);
}

}  // namespace smile
