// SPDX-License-Identifier: Apache-2.0
/// Text from the language model of a run (spec 3.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace smile {

struct GenerateOptions {
  std::string prompt;        ///< empty: a line break, or the first character of the vocabulary
  std::size_t tokens = 200;  ///< to be written, ≥ 1
  double temperature = 1;    ///< > 0: p ∝ p̄^(1/T)
  std::uint64_t seed = 0;
  /// Draws that the predictive distribution averages over, spread evenly over the chains; ≥ 1. They are all
  /// in memory.
  std::size_t draws = 32;
  /// Told of every character as it is written; may be empty.
  std::function<void(const std::string&)> on_text;
  std::function<void(const std::string&)> on_message;  ///< remarks, such as a chain left out; may be empty
};

/// Writes token after token from p̄(next) = mean over draws of p(next | θ): the distribution of the average,
/// not the average of the logits. A function of (run, options).
/// @return prompt and continuation
/// @throws Error for a run without draws or of no language model, and for a character that is not in the
/// run's
///         vocabulary
std::string generate_text(const std::string& run, const GenerateOptions& options);

}  // namespace smile
