// SPDX-License-Identifier: Apache-2.0
/// How FcnData keeps its rows.
#pragma once

#include <cstddef>

#include "smile/network/fcn.hpp"

namespace smile {

/// Rows of a tile; a gradient goes through all layers for one tile before it takes the next, so that
/// activations stay in the cache.
inline constexpr std::size_t kTileRows = 256;
/// Distance between two features (or units) of a tile. A little more than the rows: with a power of two all
/// units of a row would compete for the same few cache sets.
inline constexpr std::size_t kTileStride = kTileRows + 16;

template <class T>
struct FcnData<T>::Storage {
  std::size_t rows = 0;
  std::size_t inputs = 0;
  std::size_t row_stride = 0;  ///< elements from row to row, a multiple of 64 bytes
  HostVector<T> by_row;        ///< @shape [rows, row_stride]: features, target, zeros
  /// @shape [tiles, inputs + 1, kTileStride]: features, then target. The last tile is filled up with copies
  /// of the last row: whatever happens to them in the network happens to a real row as well, so that they
  /// bring in no infinity of their own. Float only; empty for double.
  HostVector<T> by_tile;

  std::size_t tile_size() const { return (inputs + 1) * kTileStride; }
};

}  // namespace smile
