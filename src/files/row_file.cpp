// SPDX-License-Identifier: Apache-2.0
#include "smile/files/row_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <limits>

#include "files/file_error.hpp"

namespace smile::data {
namespace {

template <class T>
bool read_number(std::string_view cell, T& value) {
  if (cell.empty()) return true;
  const auto result = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return result.ec == std::errc() && result.ptr == cell.data() + cell.size();
}

}  // namespace

std::string cell_text(double value) {
  return std::isnan(value) ? std::string() : fmt::format("{:.8g}", value);
}
std::string cell_text(std::uint64_t value) {
  return std::to_string(value);
}
std::string cell_text(int value) {
  return std::to_string(value);
}

bool read_cell(std::string_view cell, double& value) {
  value = std::numeric_limits<double>::quiet_NaN();
  return read_number(cell, value);
}
bool read_cell(std::string_view cell, std::uint64_t& value) {
  return read_number(cell, value);
}
bool read_cell(std::string_view cell, int& value) {
  return read_number(cell, value);
}
bool read_cell(std::string_view cell, std::string& value) {
  value = cell;
  return true;
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

std::ifstream open_rows(const std::filesystem::path& path) {
  for (;;) {
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (in.is_open() || errno == ENOENT || errno == ENOTDIR) return in;
    if (errno != EINTR) throw write_error(path, "cannot be opened", errno);
  }
}

bool next_line(std::ifstream& in, std::string& line, const std::filesystem::path& path) {
  errno = 0;
  if (std::getline(in, line)) return true;
  if (in.is_open() && in.bad()) throw write_error(path, "cannot be read", errno != 0 ? errno : EIO);
  return false;
}

}  // namespace smile::data
