// SPDX-License-Identifier: Apache-2.0
#include "data/text_window.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "data/field.hpp"
#include "files/file_error.hpp"
#include "files/utf8.hpp"
#include "smile/shell_text.hpp"

namespace smile::data {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

bool is_seekable(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

/// A command that writes the text anew.
std::string conversion(const std::string& from, const std::filesystem::path& path) {
  return "`iconv -f " + from + " -t UTF-8 " + shell_quoted(path.string()) + " > new" +
         path.extension().string() + "`";
}

}  // namespace

TextWindow::TextWindow(std::filesystem::path path) : path_(std::move(path)), descriptor_(open_input(path_)) {
  try {
    whole_ = !is_seekable(descriptor_);
    rewind();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

TextWindow::~TextWindow() {
  ::close(descriptor_);
}

void TextWindow::rewind() {
  if (whole_ && at_end_) {  // a pipe that was read before
    offset_ = start_;
    return;
  }
  if (!whole_ && ::lseek(descriptor_, 0, SEEK_SET) < 0) throw write_error(path_, "cannot be read", errno);
  buffer_.clear();
  offset_ = 0;
  line_ = column_ = 1;
  at_end_ = false;
  do take(kPiece);
  while (whole_ && !at_end_);
  const std::string source = path_.string();
  if (buffer_.empty()) throw Error(source, "no data", "the file is empty; give one with at least one row");
  if (buffer_.starts_with("\x1f\x8b"))
    throw Error(location(source, 1, 1), "compressed by gzip", "unpack it first");
  // Without a byte-order mark, every other byte of ASCII in UTF-16 is zero.
  const bool wide = buffer_.size() > 3 && ((buffer_[0] == '\0' && buffer_[2] == '\0' && buffer_[1] != '\0') ||
                                           (buffer_[1] == '\0' && buffer_[3] == '\0' && buffer_[0] != '\0'));
  if (buffer_.starts_with("\xff\xfe") || buffer_.starts_with("\xfe\xff") || wide)
    throw Error(location(source, 1, 1), "text in UTF-16", "save it as UTF-8: " + conversion("UTF-16", path_));
  if (buffer_.starts_with("PK\x03\x04"))
    throw Error(location(source, 1, 1), "a ZIP archive, as .xlsx and .ods files are, is no text table",
                "save the sheet as CSV");
  if (buffer_.starts_with("\xef\xbb\xbf")) offset_ = 3;
  start_ = checked_ = offset_;
  check();
}

void TextWindow::extend() {
  if (at_end_) return;
  buffer_.erase(0, offset_);
  checked_ -= std::min(checked_, offset_);
  offset_ = 0;
  const std::size_t before = buffer_.size();
  // A record longer than the window: twice as much, so that reading it again and again stays linear.
  take(before > kPiece ? before : kPiece);
  check();
}

void TextWindow::take(std::size_t bytes) {
  const std::size_t before = buffer_.size();
  buffer_.resize(before + bytes);
  const std::size_t got = read_some(descriptor_, buffer_.data() + before, bytes, path_);
  buffer_.resize(before + got);
  at_end_ = got < bytes;
}

void TextWindow::check() {
  while (checked_ < buffer_.size()) {
    const char c = buffer_[checked_];
    const auto byte = static_cast<unsigned char>(c);
    std::size_t length = 1;
    if (c == '\n') {
      ++line_, column_ = 1;
    } else if (c == ',' || c == ';' || c == '\t') {
      ++column_;
    } else if ((byte < 0x20 && c != '\r') || byte == 0x7f) {
      throw Error(location(path_.string(), line_, column_),
                  "binary content (byte " + std::to_string(int{byte}) + ")",
                  "give a text table, or name a NumPy file .npy");
    } else if (byte >= 0x80) {
      length = next_code_point(std::string_view(buffer_).substr(checked_, 4)).length;
      constexpr std::size_t kLongest = 4;
      if (length == 0 && !at_end_ && buffer_.size() - checked_ < kLongest) return;  // cut by the window
      if (length == 0)
        throw Error(
            location(path_.string(), line_, column_),
            "byte " + std::to_string(int{byte}) + " is not UTF-8; the text may be in Windows-1252 or Latin-1",
            "save it as UTF-8: " + conversion("WINDOWS-1252", path_));
    }
    checked_ += length;
  }
}

}  // namespace smile::data
