// SPDX-License-Identifier: Apache-2.0
/// A run whose draws are read: for predictions and exports.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiment/draws.hpp"
#include "experiment/experiment.hpp"

namespace smile::experiment {

struct StoredRun {
  std::filesystem::path path;
  Experiment experiment;  ///< configuration, network and normalisation; neither the data nor the prior
  std::optional<ParameterLayout> whole;  ///< the network's parameters, where some are frozen
  std::vector<ChainRecord> records;
  std::vector<ChainDraws> chains;    ///< those that did not fail
  std::vector<std::string> remarks;  ///< chains left out, one line each

  std::size_t draws() const;  ///< of all chains together
};

/// Opens the draws of a run that is complete.
/// @param incomplete  take the draws of a run that is not, as far as they came
/// @param data  where its training data are, if not where they were
/// @throws Error as require_run() and require_complete()
StoredRun open_stored_run(const std::filesystem::path& path, bool incomplete, const std::string& data = {});

}  // namespace smile::experiment
