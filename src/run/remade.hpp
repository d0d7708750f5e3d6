// SPDX-License-Identifier: Apache-2.0
/// Files of a run that it makes again where they are missing: what a reader is told of one that is damaged.
#pragma once

#include <filesystem>
#include <string>

#include "files/file_error.hpp"
#include "smile/error.hpp"

namespace smile::run {

/// The command that lets a run go on, as a shell takes it.
std::string resume_command(const std::filesystem::path& run);

/// The command that writes eval/ anew.
std::string evaluate_command(const std::filesystem::path& run);

/// "remove the file, and `smile run … --resume` makes it again".
/// @param file  that cannot be read; where it is not there at all, there is nothing to remove
std::string mend_by_remaking(const std::filesystem::path& run, const std::filesystem::path& file);

/// What `read` reads from such a file. @throws Error of its own place and cause, with that mend
template <class Read>
auto read_remade(const std::filesystem::path& run, const Read& read) {
  try {
    return read();
  } catch (const data::MachineError&) {
    throw;  // the file may be whole
  } catch (const Error& error) {
    throw Error(error.where(), error.cause(), mend_by_remaking(run, error.where()), ErrorKind::run);
  }
}

}  // namespace smile::run
