// SPDX-License-Identifier: Apache-2.0
/// The container of torch.save: a ZIP archive with a pickled dictionary of tensors and their storages.
/// @source the file format of PyTorch 1.6 and later; pickle protocol 2 (PEP 307)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "files/zip_writer.hpp"

namespace smile::experiment {

/// A contiguous float32 tensor.
struct TorchTensor {
  std::string name;
  std::vector<std::size_t> shape;
};

/// Where the tensors' bytes belong in the file, and their entries' numbers for the checksums.
struct TorchEntries {
  std::vector<std::uint64_t> places;
  std::vector<std::size_t> numbers;
};

/// The pickle of {name: tensor}, an OrderedDict as a state dictionary is.
std::string torch_pickle(const std::vector<TorchTensor>& tensors);

/// Writes everything but the tensors' values. torch.load reads the finished file, with weights_only too.
TorchEntries reserve_torch_file(data::ZipWriter& zip, const std::vector<TorchTensor>& tensors);

}  // namespace smile::experiment
