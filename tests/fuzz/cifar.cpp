// SPDX-License-Identifier: Apache-2.0
/// CIFAR records of both kinds.
#include "data/image_readers.hpp"
#include "fuzz.hpp"

SMILE_FUZZ(input) {
  const auto path = smile::fuzz::file_of(input, "data_batch_1.bin");
  for (const bool fine : {false, true})
    smile::fuzz::read_or_refuse([&] { static_cast<void>(smile::data::read_cifar({path}, fine)); });
}
