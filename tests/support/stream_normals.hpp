// SPDX-License-Identifier: Apache-2.0
/// Normals and coins of a chain from the counter-based streams, as the runner of an ensemble makes them.
#pragma once

#include "smile/kernels/host_vector.hpp"
#include "smile/random/stream.hpp"
#include "smile/targets/target.hpp"

namespace smile::test {

template <class T>
class StreamNormals : public NormalSource<HostVector<T>> {
 public:
  explicit StreamNormals(std::uint64_t seed, std::uint32_t chain = 0) : seed_(seed), chain_(chain) {}
  void normals(HostVector<T>& out, Purpose purpose, std::uint64_t step) override {
    fill_normals({seed_, chain_, purpose}, step, out.span());
  }
  double uniform(Purpose purpose, std::uint64_t step) override {
    return Stream({seed_, chain_, purpose}, step).uniform();
  }

 private:
  std::uint64_t seed_;
  std::uint32_t chain_;
};

}  // namespace smile::test
