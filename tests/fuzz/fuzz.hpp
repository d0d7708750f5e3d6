// SPDX-License-Identifier: Apache-2.0
/// What the fuzzers share: an input is either read or refused with an Error that says where, what and how to
/// mend. Anything else - another exception, a fault that the sanitizers see, more memory than libFuzzer
/// allows - is a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "smile/error.hpp"

namespace smile::fuzz {

template <class Read>
void read_or_refuse(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.where().empty() || error.cause().empty() || error.mend().empty()) std::abort();
  }
}

/// A folder of this process in memory, where the machine has one, for readers that take paths.
inline const std::filesystem::path& folder() {
  static const std::filesystem::path path = [] {
    const bool memory = std::filesystem::is_directory("/dev/shm");
    std::string name = std::string(memory ? "/dev/shm" : "/tmp") + "/smile-fuzz-XXXXXX";
    if (!::mkdtemp(name.data())) std::abort();
    std::atexit([] { std::filesystem::remove_all(folder()); });
    return std::filesystem::path(name);
  }();
  return path;
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// The input as a file.
inline std::filesystem::path file_of(std::string_view bytes, const std::string& name) {
  const std::filesystem::path path = folder() / name;
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
  return path;
}

}  // namespace smile::fuzz

/// `input` is the input of one execution.
#define SMILE_FUZZ(input)                                                             \
  static void fuzz_one(std::string_view input);                                       \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    fuzz_one(smile::fuzz::text_of(data, size));                                       \
    return 0;                                                                         \
  }                                                                                   \
  static void fuzz_one(std::string_view input)
