// SPDX-License-Identifier: Apache-2.0
/// The few calls of libnetcdf that an export needs, with errors of ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "smile/files/atomic_file.hpp"

namespace smile::netcdf {

/// A dimension of a group.
struct Dimension {
  int id = 0;
  std::size_t length = 0;
};

/// A variable to be written; start and count go over its dimensions.
class Variable {
 public:
  Variable() = default;
  Variable(const std::filesystem::path* path, int group, int id) : path_(path), group_(group), id_(id) {}
  void put(const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
           std::span<const float> values) const;
  void put(const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
           std::span<const double> values) const;
  void put(const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
           std::span<const std::int64_t> values) const;
  void put(const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
           std::span<const signed char> values) const;
  void attribute(const std::string& name, const std::string& value) const;

 private:
  const std::filesystem::path* path_ = nullptr;
  int group_ = 0, id_ = 0;
};

enum class Type { float32, float64, int64, int8 };

class Group {
 public:
  Group(const std::filesystem::path* path, int id) : path_(path), id_(id) {}
  Dimension dimension(const std::string& name, std::size_t length) const;
  /// Stored in one piece, without fill values: all of it is going to be written.
  Variable variable(const std::string& name, Type type, const std::vector<Dimension>& dimensions) const;
  /// A dimension with its coordinate.
  Dimension coordinate(const std::string& name, std::span<const std::int64_t> values) const;
  void attribute(const std::string& name, const std::string& value) const;

 private:
  const std::filesystem::path* path_;
  int id_;
};

/// A NetCDF-4 file under construction, under a temporary name until commit().
class File {
 public:
  explicit File(std::filesystem::path path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  Group root() const { return {&path_, id_}; }
  Group group(const std::string& name) const;
  void commit();

 private:
  std::filesystem::path path_;
  AtomicFile file_;
  int id_ = -1;
};

}  // namespace smile::netcdf
