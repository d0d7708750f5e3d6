// SPDX-License-Identifier: Apache-2.0
#include "module_match.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>

namespace smile::deep {
namespace {

template <class Sizes>
std::string shape_text(const Sizes& sizes) {
  std::string text;
  for (const auto size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

}  // namespace

std::vector<std::string> module_differences(const std::vector<ParameterGroup>& layout,
                                            const TorchModule& module, bool subset) {
  std::vector<std::string> out;
  std::size_t shared = 0;
  for (const ParameterGroup& group : layout) {
    const auto found = std::find_if(module.parameters.begin(), module.parameters.end(),
                                    [&](const auto& p) { return p.name == group.name; });
    if (found == module.parameters.end()) {
      if (!subset) out.push_back(fmt::format("{} {} is missing", group.name, shape_text(group.shape)));
      continue;
    }
    ++shared;
    const std::string shape = shape_text(found->tensor.sizes()), wanted = shape_text(group.shape);
    if (shape != wanted) out.push_back(fmt::format("{} is {} where {} is wanted", group.name, shape, wanted));
    if (found->tensor.scalar_type() != torch::kFloat)
      out.push_back(fmt::format("{} is of type {} where Float is wanted", group.name,
                                torch::toString(found->tensor.scalar_type())));
  }
  if (subset) {
    if (shared == 0) out.push_back("none of them has a name of the network's");
    return out;
  }
  for (const auto& p : module.parameters)
    if (std::none_of(layout.begin(), layout.end(), [&](const auto& group) { return group.name == p.name; }))
      out.push_back(fmt::format("{} {} is none of the network's", p.name, shape_text(p.tensor.sizes())));
  return out;
}

}  // namespace smile::deep
