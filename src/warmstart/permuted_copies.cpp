// SPDX-License-Identifier: Apache-2.0
#include "smile/warmstart/permuted_copies.hpp"

#include <numeric>
#include <string>
#include <vector>

#include "smile/error.hpp"
#include "smile/random/stream.hpp"

namespace smile {
namespace {

using Order = std::vector<std::uint32_t>;

Order in_place(std::size_t units) {
  Order order(units);
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

}  // namespace

template <class T>
HostVector<T> permute_hidden_units(const FcnSpec& spec, const HostVector<T>& position, std::uint64_t seed,
                                   std::uint32_t copy) {
  spec.validate();
  const std::size_t size = spec.layout().size();
  if (position.size() != size)
    throw Error("permuted-neuron copy",
                "the member has " + std::to_string(position.size()) + " parameters, the network " +
                    std::to_string(size),
                "take a member of this network");

  const StreamKey key{.seed = seed, .chain = copy, .purpose = Purpose::permutation};
  HostVector<T> permuted = position;  // log σ stays what it is
  std::size_t offset = 0;
  Order columns = in_place(spec.inputs);
  for (std::size_t layer = 0; layer < spec.widths.size(); ++layer) {
    Order units = in_place(spec.widths[layer]);
    if (layer + 1 < spec.widths.size()) random_permutation(key, layer, units);
    // Unit i of the copy is unit units[i] of the original, and reads the units below in their new order.
    for (std::size_t i = 0; i < units.size(); ++i)
      for (std::size_t j = 0; j < columns.size(); ++j)
        permuted[offset + i * columns.size() + j] = position[offset + units[i] * columns.size() + columns[j]];
    offset += units.size() * columns.size();
    if (spec.bias) {
      for (std::size_t i = 0; i < units.size(); ++i) permuted[offset + i] = position[offset + units[i]];
      offset += units.size();
    }
    columns = std::move(units);
  }
  return permuted;
}

template HostVector<float> permute_hidden_units(const FcnSpec&, const HostVector<float>&, std::uint64_t,
                                                std::uint32_t);
template HostVector<double> permute_hidden_units(const FcnSpec&, const HostVector<double>&, std::uint64_t,
                                                 std::uint32_t);

}  // namespace smile
