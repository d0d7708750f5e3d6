// SPDX-License-Identifier: Apache-2.0
/// NumPy files, as arrays, as tables and as draws.
#include "files/npy_header.hpp"
#include "fuzz.hpp"
#include "smile/data/table.hpp"
#include "smile/files/draws.hpp"
#include "smile/files/npy.hpp"

SMILE_FUZZ(input) {
  using namespace smile;
  fuzz::read_or_refuse([&] { static_cast<void>(data::parse_npy_header(input, "array")); });
  const auto path = fuzz::file_of(input, "array.npy");
  fuzz::read_or_refuse([&] { static_cast<void>(read_npy(path)); });
  fuzz::read_or_refuse([&] { static_cast<void>(read_table(path)); });
  fuzz::read_or_refuse([&] {
    const DrawsReader draws(path);
    std::vector<float> draw(draws.columns());
    for (std::size_t i = 0; i < std::min<std::size_t>(draws.rows(), 100); ++i) draws.read(i, draw);
  });
}
