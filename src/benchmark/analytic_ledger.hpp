// SPDX-License-Identifier: Apache-2.0
/// Finished bundles of chains of a benchmark, in a file that outlives an interrupt: JSON by lines, the
/// benchmark itself in the first one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "benchmark/analytic_outcome.hpp"
#include "ensemble/text_appender.hpp"

namespace smile::analytic {

class Ledger {
 public:
  /// Reads the file where it belongs to the same benchmark; else begins a new one. Lines that an interrupt
  /// has cut are done again.
  /// @param benchmark  one line that holds all that the outcomes depend on
  Ledger(const std::filesystem::path& file, const std::string& benchmark);

  /// The outcomes of a bundle, in the order of its chains; nullptr where it is not known.
  const std::vector<ChainOutcome>* find(std::size_t bundle) const;
  /// From any thread. What chains recorded is not kept, nor the bundle then.
  void add(std::size_t bundle, const std::vector<ChainOutcome>& outcomes);

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::vector<ChainOutcome>> known_;
  std::unique_ptr<ensemble::TextAppender> file_;
};

}  // namespace smile::analytic
