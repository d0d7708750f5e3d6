// SPDX-License-Identifier: Apache-2.0
/// A search file: the configuration's tree with lists at its leaves; one run for each element of the
/// Cartesian product.
/// @source spec 5.2
#pragma once

#include <string>
#include <vector>

#include "smile/config/config.hpp"

namespace smile {

/// One point of the product.
struct SweepPoint {
  std::string name;               ///< fit for a directory: "step_size=0.01,rng=1"; unique within the sweep
  std::vector<Setting> settings;  ///< to be given to load_config after those of the command line
};

/// Reads a search file. Keys are taken in the order of the file and the last one varies fastest, so the order
/// of the points is fixed. A key whose value is a list itself (hidden_structure, nominal_coverages, …) needs
/// a list of lists; a section may be a list of mappings (each one alternative); a single value counts as a
/// list of one. Throws Error with file:line where a key is unknown, a list is empty or a value appears twice.
/// The values are checked when a point is given to load_config.
std::vector<SweepPoint> load_sweep(const std::string& file);
std::vector<SweepPoint> parse_sweep(const std::string& text, const std::string& name);

}  // namespace smile
