// SPDX-License-Identifier: Apache-2.0
/// Which rows of a table are for training, validation and testing, from files of row numbers: the public form
/// of the splits of Hernández-Lobato & Adams (2015), index_train_K.txt and index_test_K.txt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smile {

struct SplitFiles {
  std::optional<std::string> test = {};   ///< the others need it
  std::optional<std::string> train = {};  ///< empty: every row that no other file has
  std::optional<std::string> valid = {};  ///< empty: taken from the training rows
};

/// Rows from 0. `valid` is empty where no file has it.
struct SplitRows {
  std::vector<std::uint32_t> train, valid, test;  ///< @shape [any]; no row twice
};

/// Whole numbers from 0 between blanks and line ends, also written as floating point (3.0e+00).
/// @param rows  of the table
/// @throws Error (file:line:column) for what is no row of the table or stands in a part already; for an empty
/// part; where
///         `files.test` is empty and another is not
SplitRows read_split_files(const SplitFiles& files, std::size_t rows);

}  // namespace smile
