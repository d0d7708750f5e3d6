// SPDX-License-Identifier: Apache-2.0
/// Runs as a page: what was asked for, what came out, how the chains fared (spec 3.4).
#pragma once

#include <string>
#include <vector>

namespace smile {

/// Writes one self-contained HTML file from the files of an evaluated run. It needs no network (its security
/// policy forbids any request), has no scripts, follows the reader's light or dark setting, and prints.
/// @param out  empty: <run_directory>/report.html
/// @return the path written
/// @throws Error where the run is none, is being written, is of another version or has not been evaluated,
/// and
///         where the page cannot be written
std::string write_report(const std::string& run_directory, const std::string& out = {});

/// Paths of a comparison.
struct ComparisonPaths {
  std::string html, csv, latex;
};

/// Compares evaluated runs: those whose configurations differ in the seed alone (and in where results go) are
/// one row, with mean ± standard deviation (divisor n − 1) over them; the best of each metric and data set is
/// bold. Beside the page the same table as CSV and LaTeX.
/// @param out  the page; empty: comparison.html in the folder that holds all runs. The others get its name
///             with .csv and .tex
/// @throws Error as write_report(), and for fewer than two runs
ComparisonPaths write_comparison(const std::vector<std::string>& run_directories,
                                 const std::string& out = {});

}  // namespace smile
