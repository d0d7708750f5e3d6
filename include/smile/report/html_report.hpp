/// A run as one page: what was asked for, what came out, how the chains fared (spec 3.4).
#pragma once

#include <string>

namespace smile {

/// Writes <run_directory>/report.html from the files of an evaluated run and returns its path. The page needs
/// no network and follows the reader's light or dark setting.
/// @throws Error where the run has not been evaluated, its files cannot be read or the page cannot be written
std::string write_report(const std::string& run_directory);

}  // namespace smile
