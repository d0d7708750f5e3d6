// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "files/file_error.hpp"
#include "files/npy_header.hpp"
#include "smile/error.hpp"
#include "smile/files/npy.hpp"

namespace smile {

namespace {

/// Room for two 20-digit lengths; every file of draws has a header of this length.
constexpr std::size_t kHeaderBytes = 128;

/// The first bytes of an open file, as many as a header may have.
std::string first_bytes(int descriptor, std::size_t size, const std::filesystem::path& path) {
  std::string head(size, '\0');
  head.resize(data::read_some_at(descriptor, 0, head.data(), size, path));
  return head;
}

/// Header of a [S, d] file of that type. @throws Error at `where`
data::NpyHeader draws_header(std::string_view head, const std::string& where, NpyType type) {
  data::NpyHeader header = data::parse_npy_header(head, where);
  if (header.type != type || header.shape.size() != 2)
    throw Error(where,
                std::string("is not a ") + (type == NpyType::float32 ? "float32" : "16-bit") +
                    " array of two dimensions",
                "give a file of draws written by a run");
  header.data_bytes(where);
  return header;
}

}  // namespace

NpyAppender::NpyAppender(std::filesystem::path path, int descriptor, std::size_t columns, std::size_t rows,
                         NpyType type)
    : path_(std::move(path)), descriptor_(descriptor), columns_(columns), rows_(rows), type_(type) {}

NpyAppender::NpyAppender(NpyAppender&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      columns_(other.columns_),
      rows_(other.rows_),
      type_(other.type_) {}

NpyAppender& NpyAppender::operator=(NpyAppender&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(columns_, other.columns_);
  std::swap(rows_, other.rows_);
  std::swap(type_, other.type_);
  return *this;
}

NpyAppender::~NpyAppender() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

NpyAppender NpyAppender::create(const std::filesystem::path& path, std::size_t columns, NpyType type) {
  const int descriptor = data::open_file(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
  if (descriptor < 0) throw data::write_error(path, "cannot create the file", errno);
  NpyAppender appender(path, descriptor, columns, 0, type);
  appender.write_header();
  return appender;
}

NpyAppender NpyAppender::reopen(const std::filesystem::path& path, std::size_t columns, std::size_t rows,
                                NpyType type) {
  const int descriptor = data::open_file(path, O_RDWR);
  if (descriptor < 0) throw data::write_error(path, "cannot open the file of draws", errno);
  NpyAppender appender(path, descriptor, columns, rows, type);  // closes the file if we throw
  const std::string where = path.string();
  const data::NpyHeader header = draws_header(first_bytes(descriptor, kHeaderBytes, path), where, type);
  if (header.bytes != kHeaderBytes)
    throw Error(where, "was not written by this program", "start the run in a new folder");
  if (header.shape[1] != columns)
    throw Error(where,
                "has " + std::to_string(header.shape[1]) + " columns where the network has " +
                    std::to_string(columns) + " parameters",
                "resume with the configuration of the run");
  struct stat status {};
  if (::fstat(descriptor, &status) != 0)
    throw data::write_error(path, "cannot open the file of draws", errno);
  // What counts is what the file holds: the process may have died between a row and its count.
  const std::size_t wanted = kHeaderBytes + rows * columns * header.item_bytes();
  if (static_cast<std::size_t>(status.st_size) < wanted)
    throw Error(where, "holds fewer than the " + std::to_string(rows) + " rows that the checkpoint counts on",
                "restore the file or start the run again");
  // The count first: a file with surplus bytes is readable, one with too few is not.
  appender.write_header();
  if (::ftruncate(descriptor, static_cast<off_t>(wanted)) != 0)
    throw data::write_error(path, "cannot shorten the file", errno);
  return appender;
}

void NpyAppender::write_header() {
  data::NpyHeader header;
  header.type = type_;
  header.shape = {rows_, columns_};
  const std::string text = data::format_npy_header(header, kHeaderBytes);
  if (::lseek(descriptor_, 0, SEEK_SET) < 0) throw data::write_error(path_, "cannot write the file", errno);
  data::write_all(descriptor_, text.data(), text.size(), path_);
}

void NpyAppender::append(std::span<const float> row) {
  append_bytes(std::as_bytes(row), sizeof(float));
}
void NpyAppender::append(std::span<const std::uint16_t> row) {
  append_bytes(std::as_bytes(row), sizeof(std::uint16_t));
}

void NpyAppender::append_bytes(std::span<const std::byte> row, std::size_t item_bytes) {
  if (row.size() != columns_ * item_bytes || (item_bytes == sizeof(float)) != (type_ == NpyType::float32))
    throw Error(path_.string(),
                "a row of " + std::to_string(row.size() / item_bytes) + " values of " +
                    std::to_string(item_bytes) + " bytes where the file has " + std::to_string(columns_) +
                    " columns",
                "give rows of the file's length and type", ErrorKind::run);
  // Row first, count second, so that the file is valid in between. An earlier failed write leaves no trace:
  // the next row starts where the last counted one ends.
  const std::size_t start = kHeaderBytes + rows_ * columns_ * item_bytes;
  if (::lseek(descriptor_, static_cast<off_t>(start), SEEK_SET) < 0)
    throw data::write_error(path_, "cannot write the file", errno);
  data::write_all(descriptor_, row.data(), row.size_bytes(), path_);
  ++rows_;
  try {
    write_header();
  } catch (...) {
    --rows_;
    throw;
  }
}

void NpyAppender::sync() {
  data::sync_file(descriptor_, path_);
}

NpyRows::NpyRows(const std::filesystem::path& path) {
  const std::string where = path.string();
  const int descriptor = data::open_file(path, O_RDONLY);
  if (descriptor < 0) {
    if (errno == ENOENT) throw Error(where, "no such file", "give the path of a file of draws");
    throw Error(where, "cannot be opened", "check the path and its permissions");
  }
  struct Closer {
    int descriptor;
    ~Closer() { ::close(descriptor); }
  } closer{descriptor};
  constexpr std::size_t kLongestHeader = 12 + (1 << 16);
  const data::NpyHeader header =
      draws_header(first_bytes(descriptor, kLongestHeader, path), where, NpyType::float32);
  rows_ = header.shape[0];
  columns_ = header.shape[1];
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw Error(where, "cannot be read", "check the path");
  mapped_bytes_ = header.bytes + header.data_bytes(where);
  if (static_cast<std::size_t>(status.st_size) < mapped_bytes_)
    throw Error(where, "the NumPy file is cut short", "copy or write the file again");
  if (header.bytes % alignof(float) != 0)
    throw Error(where, "the data are not aligned", "write the file again");
  mapping_ = ::mmap(nullptr, mapped_bytes_, PROT_READ, MAP_SHARED, descriptor, 0);
  if (mapping_ == MAP_FAILED) {
    mapping_ = nullptr;
    throw Error(where, "cannot be mapped into memory", "free memory or address space", ErrorKind::run);
  }
  values_ = reinterpret_cast<const float*>(static_cast<const char*>(mapping_) + header.bytes);
}

NpyRows::NpyRows(NpyRows&& other) noexcept {
  *this = std::move(other);
}

NpyRows& NpyRows::operator=(NpyRows&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(rows_, other.rows_);
  std::swap(columns_, other.columns_);
  std::swap(values_, other.values_);
  return *this;
}

NpyRows::~NpyRows() {
  if (mapping_) ::munmap(mapping_, mapped_bytes_);
}

}  // namespace smile
