// SPDX-License-Identifier: Apache-2.0
/// Are the draws on the disk those that the chain stored? A chain stores its positions in step order and
/// never one that is not finite; what went wrong since then (a disk, a copy, another program) is found here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "smile/ensemble/ensemble_runner.hpp"

namespace smile {

/// CRC-32 of `bytes` behind those that gave `before` (0 at the start).
std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// Compares samples/chain-KK.npy with what the chain's checkpoint says: number and size of the draws, every
/// value finite (no padding), the same draws in the same order. Draws behind those that the checkpoint counts
/// (of a killed process) are only asked to be finite.
/// @return one clause that names file and draw, such as "samples/chain-03.npy: draw 17 holds a value that is
///         not a number (parameter 4)"; empty where all is well or nothing is stored
/// @cost reads the file once
std::string draws_problem(const std::filesystem::path& directory, const ChainRecord& record);

}  // namespace smile
