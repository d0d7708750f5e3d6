// SPDX-License-Identifier: Apache-2.0
/// The data of an experiment, of whatever kind, read as the configuration says.
#pragma once

#include <string>
#include <vector>

#include "smile/config/config.hpp"
#include "smile/experiment/network_engine.hpp"

namespace smile::experiment {

/// Reads, splits and normalises; the test part is cut to what is evaluated (evaluation_args).
/// @param info      overwritten
/// @param warnings  of the data, appended
/// @param given     rows that need not be read; null: those of `data.path`
NetworkData load_network_data(const Config& config, DatasetInfo& info, std::vector<std::string>& warnings,
                              const std::shared_ptr<const Table>& given = nullptr);

/// A table alone, with its rows still where they lie. @param given  as above
SplitTable load_split_table(const Config& config, const std::shared_ptr<const Table>& given = nullptr);

/// What a part's predictions are compared with: targets or labels, one a point; the features are left out.
DataPart targets_of(const NetworkData& data, Part part);

}  // namespace smile::experiment
