// SPDX-License-Identifier: Apache-2.0
/// A process that does some chains of a run, beside others that do the rest (docs/decisions/0030).
#pragma once

#include "experiment/experiment.hpp"

namespace smile::experiment {

/// Makes or joins the run in `options.out` and moves its chains: those of `options.chains`, or its share and
/// then whatever nobody has begun. Who ends last with `options.launch` evaluates.
RunSummary run_part(const Config& config, const RunOptions& options,
                    const std::shared_ptr<const Table>& table = nullptr);

}  // namespace smile::experiment
