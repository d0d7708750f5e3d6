// SPDX-License-Identifier: Apache-2.0
/// What this build knows by name, and the reference of the configuration's keys.
#pragma once

#include <string>
#include <vector>

#include "smile/config/config.hpp"

namespace smile {

struct CatalogueEntry {
  std::string name;
  std::string description;           ///< one line
  std::vector<std::string> aliases;  ///< other accepted spellings
  bool available = true;             ///< false: known, not in this build
  bool needs_torch = false;          ///< in builds with LibTorch only
};

std::vector<CatalogueEntry> list_samplers();
std::vector<CatalogueEntry> list_models();
std::vector<CatalogueEntry> list_priors();
/// Names for `evaluations:` and what they compute.
std::vector<CatalogueEntry> list_metrics();

/// One key of the configuration, as text.
struct KeyEntry {
  std::string path;
  std::string allowed;        ///< "an integer ≥ 1"
  std::string default_value;  ///< YAML text; empty where the key is required
  std::string description;    ///< one line
  std::string used_with;      ///< "sghmc, adasghmc"; empty: always
  std::string authors;        ///< value under `compat: authors`; empty: the same
};
/// All keys in the order of the written configuration.
std::vector<KeyEntry> list_keys();

/// docs/configuration.md.
std::string configuration_reference();

/// Keys of spec 1.12 whose value is the authors' one (and is not the default), as "key: value".
std::vector<std::string> authors_keys(const Config& config);

}  // namespace smile
