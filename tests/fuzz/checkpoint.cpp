// SPDX-License-Identifier: Apache-2.0
/// Checkpoints. A wrong checksum ends the reading early, so that the input is also taken with the right one:
/// written as a sampler's state, and as the state of a chain itself.
#include <algorithm>

#include "fuzz.hpp"
#include "smile/archive.hpp"
#include "smile/ensemble/checkpoint.hpp"
#include "smile/kernels/host_vector.hpp"

SMILE_FUZZ(input) {
  using namespace smile;
  const auto path = fuzz::file_of(input, "chain-00.bin");
  fuzz::read_or_refuse([&] { static_cast<void>(ensemble::read_checkpoint_file(path)); });
  fuzz::read_or_refuse([&] {
    // What a sampler reads: numbers, texts, blocks and vectors in turn.
    Archive archive(std::vector<char>(input.begin(), input.end()));
    for (int i = 0; i < 64 && !archive.exhausted(); ++i) {
      std::uint64_t number = 0;
      std::string text;
      std::vector<char> block;
      HostVector<float> vector;
      archive.value(number), archive.text(text), archive.vector(vector), archive.block(block);
    }
  });
}
