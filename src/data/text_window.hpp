// SPDX-License-Identifier: Apache-2.0
/// A text file seen through a window that moves forward, so that it may be larger than memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace smile::data {

/// What is read is checked to be text as it comes in. A pipe, which cannot be read twice, is kept whole.
class TextWindow {
 public:
  /// @throws Error as open_input(), for no content, and for what is no text
  explicit TextWindow(std::filesystem::path path);
  ~TextWindow();
  TextWindow(const TextWindow&) = delete;
  TextWindow& operator=(const TextWindow&) = delete;

  /// From the first byte that was not dropped; valid until extend() or rewind().
  std::string_view text() const { return std::string_view(buffer_).substr(offset_); }
  /// Nothing of the file follows the window.
  bool at_end() const { return at_end_; }
  /// Moves the window's beginning. @pre bytes ≤ text().size()
  void drop(std::size_t bytes) { offset_ += bytes; }
  /// Takes in more of the file.
  void extend();
  /// Goes back to the beginning.
  void rewind();

 private:
  void take(std::size_t bytes);
  void check();

  std::filesystem::path path_;
  int descriptor_ = -1;
  bool whole_ = false, at_end_ = false;
  std::string buffer_;
  std::size_t start_ = 0, offset_ = 0;  // start_: behind the byte-order mark, of a file that is kept whole
  std::size_t checked_ = 0;             // bytes of the buffer that are known to be text
  std::size_t line_ = 1, column_ = 1;   // of the next byte to be checked
};

}  // namespace smile::data
