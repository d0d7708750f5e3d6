// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include "smile/error.hpp"
#include "smile/network/fcn.hpp"

namespace smile {

void FcnSpec::validate() const {
  const std::string where = "fully connected network";
  if (inputs == 0) throw Error(where, "it has no inputs", "give the data at least one feature");
  if (widths.empty()) throw Error(where, "it has no layers", "give at least the output width");
  for (std::size_t l = 0; l < widths.size(); ++l)
    if (widths[l] == 0)
      throw Error(where, "layer " + std::to_string(l) + " has width 0",
                  "give every layer a width of at least 1");
  const std::string width = "its output width is " + std::to_string(outputs());
  switch (task) {
    case Task::mean_regression:
      if (outputs() != 1) throw Error(where, width, "task mean_regr needs 1 output: the mean");
      break;
    case Task::regression:
      if (outputs() != 2)
        throw Error(where, width, "task regr needs 2 outputs: mean and log standard deviation");
      break;
    case Task::classification:
      if (outputs() < 2) throw Error(where, width, "task class needs one output a class, at least 2");
      break;
    case Task::multilabel:
      throw Error(where, "task class_multilabel scores every position of a text",
                  "use a language model, or task class");
  }
}

ParameterLayout FcnSpec::layout() const {
  ParameterLayout layout;
  std::size_t fan_in = inputs;
  for (std::size_t l = 0; l < widths.size(); ++l) {
    const std::string layer = "layer" + std::to_string(l);
    layout.add(layer + ".weight", {widths[l], fan_in}, ParameterKind::weight, fan_in, widths[l]);
    if (bias) layout.add(layer + ".bias", {widths[l]}, ParameterKind::other);
    fan_in = widths[l];
  }
  if (task == Task::mean_regression) layout.add("log_sigma", {1}, ParameterKind::other);
  return layout;
}

template <class T>
void lecun_initialise(const ParameterLayout& layout, StreamKey key, HostVector<T>& position) {
  position.resize(layout.size());
  Stream stream(key);
  for (const ParameterGroup& group : layout.groups) {
    if (group.kind != ParameterKind::weight) continue;  // resize() has set everything to 0
    const double scale = 1.0 / std::sqrt(static_cast<double>(group.fan_in));
    for (std::size_t i = 0; i < group.size(); ++i)
      position[group.offset + i] = static_cast<T>(scale * stream.normal());
  }
}
template void lecun_initialise(const ParameterLayout&, StreamKey, HostVector<float>&);
template void lecun_initialise(const ParameterLayout&, StreamKey, HostVector<double>&);

}  // namespace smile
