// SPDX-License-Identifier: Apache-2.0
/// The networks that a configuration can name, a row each: what the reader, the conditions of keys, the
/// checks, `smile list` and the reference of keys know of a model, they read here. LibTorch's are known by
/// name in every build; smile::torch makes them. CONTRIBUTING.md says how to add one.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "smile/data/kind.hpp"

namespace smile {

struct Config;
struct NetworkData;
class Network;

struct ModelRow {
  std::string_view name;
  std::string_view doc = {};    ///< a line, as `smile list models` prints it
  std::vector<DataKind> kinds;  ///< of data that it takes
  /// Keys of `model` that go with it. `hidden_structure`, `out_dim` and `vocab_size` say how many outputs
  /// there are, and follow the data; one with `path` comes from a file.
  std::vector<std::string_view> keys = {};
  bool native = false;  ///< the native engine computes it (where `model.engine` says so)
  bool torch = true;    ///< smile::torch computes it
  /// A model that neither of the two engines makes: its network over the data.
  /// @throws Error for what cannot work
  std::shared_ptr<const Network> (*make)(const Config&, const NetworkData&) = nullptr;

  bool takes(DataKind kind) const;
  /// Takes images as they are, and nothing else.
  bool is_of_images() const { return kinds.size() == 1 && kinds.front() == DataKind::image; }
  bool has_key(std::string_view key) const;
};

/// Whether LibTorch's networks are in this program: what needs them is known by name without, and refused.
bool torch_is_here();
void set_torch_is_here(bool here);

/// All rows, in the order in which they are listed; the first that takes texts is their default.
const std::deque<ModelRow>& model_rows();
/// @throws Error that lists the names
const ModelRow& model_row(std::string_view name);
/// Adds a row for the life of the program; to be called before the first configuration is read.
/// @throws Error where the name is taken
void add_model(ModelRow row);
/// "FCN, LeNet": names of the rows that `holds` is true for.
template <class Predicate>
std::string model_names(const Predicate& holds) {
  std::string text;
  for (const ModelRow& row : model_rows())
    if (holds(row)) text += (text.empty() ? "" : ", ") + std::string(row.name);
  return text;
}

}  // namespace smile
