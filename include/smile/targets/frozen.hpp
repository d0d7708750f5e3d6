// SPDX-License-Identifier: Apache-2.0
/// Parameters that stay as they are while the others are sampled (`params_frozen`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "smile/targets/likelihood.hpp"

namespace smile {

/// Which of a network's parameters move, and where they are in the vector that is sampled.
class FrozenParameters {
 public:
  /// @param patterns  a parameter stays where one matches its name (`*`: any text), or the start of its name
  /// up
  ///                  to a dot
  /// @throws Error for a pattern that matches no parameter, and where none is left to sample
  FrozenParameters(const ParameterLayout& all, const std::vector<std::string>& patterns);

  const std::vector<std::string>& patterns() const { return patterns_; }
  /// What moves.
  const ParameterLayout& moving() const { return moving_; }
  /// Length of the network's whole vector.
  std::size_t all() const { return all_; }
  /// Where the moving parameters are in the whole vector, ascending.
  std::vector<std::uint32_t> places() const;
  /// The moving entries of a whole vector. @param out @shape [moving().size()]
  void take(const HostVector<float>& whole, HostVector<float>& out) const;
  /// Writes them back. @param whole @shape [all()], its other entries stay
  void put(std::span<const float> moving, HostVector<float>& whole) const;

 private:
  std::vector<std::string> patterns_;
  ParameterLayout moving_;
  std::vector<std::size_t> from_;  ///< offset in the whole vector of each group of moving_
  std::size_t all_ = 0;
};

/// Whether a name is frozen by one of the patterns.
bool is_frozen(const std::string& name, const std::vector<std::string>& patterns);
/// @throws Error for a pattern that matches none of the names
void require_matches(const std::vector<std::string>& names, const std::vector<std::string>& patterns);

/// A likelihood with all but the moving parameters held at `whole`. The frozen ones are stored once a chain.
std::unique_ptr<Likelihood<float>> freeze(std::unique_ptr<Likelihood<float>> likelihood,
                                          std::shared_ptr<const FrozenParameters> frozen,
                                          const HostVector<float>& whole);

}  // namespace smile
