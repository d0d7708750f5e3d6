// SPDX-License-Identifier: Apache-2.0
/// Archives of NumPy arrays, and what a run stores in one.
#include "fuzz.hpp"
#include "smile/data/dataset.hpp"
#include "smile/files/npy.hpp"

SMILE_FUZZ(input) {
  const auto path = smile::fuzz::file_of(input, "arrays.npz");
  smile::fuzz::read_or_refuse([&] { static_cast<void>(smile::read_npz(path)); });
  smile::fuzz::read_or_refuse([&] { static_cast<void>(smile::load_dataset_info(path)); });
}
