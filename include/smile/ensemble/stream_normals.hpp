// SPDX-License-Identifier: Apache-2.0
/// The random numbers of one chain: functions of (seed, chain, purpose, step) alone.
#pragma once

#include <cstdint>
#include <optional>

#include "smile/kernels/passes.hpp"
#include "smile/random/stream.hpp"
#include "smile/targets/target.hpp"

namespace smile {

template <class Vector>
class StreamNormals final : public NormalSource<Vector> {
 public:
  StreamNormals(std::uint64_t seed, std::uint32_t chain) : seed_(seed), chain_(chain) {}

  void normals(Vector& out, Purpose purpose, std::uint64_t step) override {
    fill_normals({seed_, chain_, purpose}, step, out.span());
  }
  std::optional<double> stir(const Vector& velocity, Vector& out, const double& nu, Purpose purpose,
                             std::uint64_t step) override {
    return kernels::stir(velocity, out, nu, {seed_, chain_, purpose}, step);
  }
  double uniform(Purpose purpose, std::uint64_t step) override {
    return Stream({seed_, chain_, purpose}, step).uniform();
  }

 private:
  std::uint64_t seed_;
  std::uint32_t chain_;
};

}  // namespace smile
