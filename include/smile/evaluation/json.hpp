// SPDX-License-Identifier: Apache-2.0
/// JSON text of results, for eval/*.json. Numbers are written so that reading them gives the same double;
/// non-finite ones, and what does not apply, are null.
#pragma once

#include <span>
#include <string>

#include "smile/evaluation/classification.hpp"
#include "smile/evaluation/diagnostics.hpp"
#include "smile/evaluation/regression.hpp"

namespace smile {

/// @param per_point  with the arrays of one entry a test point
std::string to_json(const RegressionMetrics& metrics, bool per_point = false);
std::string to_json(const ClassificationMetrics& metrics, bool per_point = false);
std::string to_json(const DeepEnsembleRegression& metrics, bool per_point = false);
std::string to_json(const DiagnosticsSummary& summary);
std::string to_json(std::span<const QuantityDiagnostics> quantities);

}  // namespace smile
