// SPDX-License-Identifier: Apache-2.0
#include "network/fcn_data.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "smile/error.hpp"

namespace smile {
namespace {

/// Narrows to T; `column` counts the features, the target comes after them.
template <class T>
T checked(double value, std::size_t row, std::size_t column, std::size_t inputs) {
  const T converted = static_cast<T>(value);
  if (!std::isfinite(converted))
    throw Error(
        "data row " + std::to_string(row) + ", " +
            (column == inputs ? "target" : "feature " + std::to_string(column)),
        std::isfinite(value) ? "the value is not finite in single precision" : "the value is not finite",
        "drop or fill missing values, and scale the data, before the network sees them");
  return converted;
}

void check_sizes(std::size_t rows, std::size_t inputs, std::size_t features, std::size_t targets) {
  if (features == rows * inputs && targets == rows) return;
  throw Error("network data",
              std::to_string(features) + " feature values and " + std::to_string(targets) + " targets for " +
                  std::to_string(rows) + " rows of " + std::to_string(inputs) + " features",
              "give rows × inputs features and one target a row");
}

}  // namespace

template <class T>
FcnData<T>::FcnData(std::size_t rows, std::size_t inputs, std::span<const double> features,
                    std::span<const double> targets)
    : FcnData(rows, inputs, [&](std::size_t row, std::span<double> out) {
        check_sizes(rows, inputs, features.size(), targets.size());
        std::copy_n(features.begin() + std::ptrdiff_t(row * inputs), inputs, out.begin());
        return targets[row];
      }) {
  check_sizes(rows, inputs, features.size(), targets.size());
}

template <class T>
FcnData<T>::FcnData(std::size_t rows, std::size_t inputs,
                    const std::function<double(std::size_t row, std::span<double> features)>& read)
    : storage_(std::make_unique<Storage>()) {
  Storage& s = *storage_;
  std::vector<double> features(inputs);
  constexpr std::size_t kLine = 64 / sizeof(T);
  s.rows = rows;
  s.inputs = inputs;
  s.row_stride = (inputs + 1 + kLine - 1) / kLine * kLine;
  s.by_row.resize(rows * s.row_stride);
  for (std::size_t r = 0; r < rows; ++r) {
    T* row = s.by_row.data() + r * s.row_stride;
    const double target = read(r, features);
    for (std::size_t i = 0; i < inputs; ++i) row[i] = checked<T>(features[i], r, i, inputs);
    row[inputs] = checked<T>(target, r, inputs, inputs);
  }
  if constexpr (std::is_same_v<T, float>) {
    const std::size_t tiles = (rows + kTileRows - 1) / kTileRows;
    s.by_tile.resize(tiles * s.tile_size());
    for (std::size_t t = 0; t < tiles; ++t)
      for (std::size_t r = 0; r < kTileRows; ++r) {
        const T* row = s.by_row.data() + std::min(t * kTileRows + r, rows - 1) * s.row_stride;
        for (std::size_t i = 0; i <= inputs; ++i) s.by_tile[t * s.tile_size() + i * kTileStride + r] = row[i];
      }
  }
}

template <class T>
FcnData<T>::~FcnData() = default;
template <class T>
FcnData<T>::FcnData(FcnData&&) noexcept = default;
template <class T>
FcnData<T>& FcnData<T>::operator=(FcnData&&) noexcept = default;
template <class T>
std::size_t FcnData<T>::rows() const {
  return storage_->rows;
}
template <class T>
std::size_t FcnData<T>::inputs() const {
  return storage_->inputs;
}

template class FcnData<float>;
template class FcnData<double>;

}  // namespace smile
