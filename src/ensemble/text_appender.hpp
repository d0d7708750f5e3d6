// SPDX-License-Identifier: Apache-2.0
/// A text file that grows by lines and can be cut back to a known length.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace smile::ensemble {

class TextAppender {
 public:
  /// Opens the file cut to its first `bytes` bytes, or a new one with `header` where bytes is 0. A file that
  /// is shorter goes on after its last whole line, and remark() says so: it is a log, no state of the chain.
  /// @throws Error (run) where it cannot be opened or cut
  TextAppender(std::filesystem::path path, std::uint64_t bytes, std::string_view header);
  ~TextAppender();
  TextAppender(const TextAppender&) = delete;
  TextAppender& operator=(const TextAppender&) = delete;

  /// Lines are gathered and written when there are enough of them or by flush().
  void append(std::string_view text);
  void flush();
  /// Writes what was gathered and waits until it is on the disk.
  void sync();
  const std::string& remark() const { return remark_; }
  /// Length of the file after the next flush.
  std::uint64_t bytes() const { return written_ + pending_.size(); }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
  std::string pending_;
  std::string remark_;
};

}  // namespace smile::ensemble
