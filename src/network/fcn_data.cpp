#include "network/fcn_data.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

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

}  // namespace

template <class T>
FcnData<T>::FcnData(std::size_t rows, std::size_t inputs, std::span<const double> features,
                    std::span<const double> targets)
    : storage_(std::make_unique<Storage>()) {
  if (features.size() != rows * inputs || targets.size() != rows)
    throw Error("network data",
                std::to_string(features.size()) + " feature values and " + std::to_string(targets.size()) +
                    " targets for " + std::to_string(rows) + " rows of " + std::to_string(inputs) +
                    " features",
                "give rows × inputs features and one target a row");
  Storage& s = *storage_;
  constexpr std::size_t kLine = 64 / sizeof(T);
  s.rows = rows;
  s.inputs = inputs;
  s.row_stride = (inputs + 1 + kLine - 1) / kLine * kLine;
  s.by_row.resize(rows * s.row_stride);
  for (std::size_t r = 0; r < rows; ++r) {
    T* row = s.by_row.data() + r * s.row_stride;
    for (std::size_t i = 0; i < inputs; ++i) row[i] = checked<T>(features[r * inputs + i], r, i, inputs);
    row[inputs] = checked<T>(targets[r], r, inputs, inputs);
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
