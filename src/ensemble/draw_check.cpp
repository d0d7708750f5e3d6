// SPDX-License-Identifier: Apache-2.0
#include "smile/ensemble/draw_check.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <vector>

#include "files/file_error.hpp"
#include "smile/error.hpp"
#include "smile/files/draws.hpp"

namespace smile {

std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before) {
  return std::uint32_t(::crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::string draws_problem(const std::filesystem::path& directory, const ChainRecord& record) {
  const auto path = draws_path(directory, record.chain);
  const std::string name = (path.parent_path().filename() / path.filename()).string();
  if (!DrawsReader::exist(path))
    return record.stored == 0 ? ""
                              : fmt::format("{}: is missing, {} draws should be in it", name, record.stored);
  try {
    const DrawsReader draws(path);
    if (record.dimension > 0 && draws.columns() != record.dimension)
      return fmt::format("{}: a draw has {} values and the network {} parameters", name, draws.columns(),
                         record.dimension);
    if (draws.rows() < record.stored)
      return fmt::format("{}: holds {} draws and the chain stored {}", name, draws.rows(), record.stored);
    std::uint32_t checksum = 0;
    std::vector<float> draw(draws.columns());
    for (std::size_t i = 0; i < draws.rows(); ++i) {
      draws.read(i, draw);
      for (std::size_t j = 0; j < draw.size(); ++j)
        if (!std::isfinite(draw[j]))
          return fmt::format("{}: draw {} holds a value that is not a number (parameter {})", name, i, j);
      if (i < record.stored) checksum = crc32_of(std::as_bytes(std::span<const float>(draw)), checksum);
    }
    if (record.stored > 0 && checksum != record.draws_crc32)
      return fmt::format("{}: its {} draws are not those that the chain stored, or not in its order", name,
                         record.stored);
  } catch (const data::MachineError&) {
    throw;  // nothing is known of the draws
  } catch (const Error& error) {
    return name + ": " + error.cause();
  }
  return "";
}

}  // namespace smile
