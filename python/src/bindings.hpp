// SPDX-License-Identifier: Apache-2.0
/// What the parts of the extension module share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "smile/data/memory_table.hpp"
#include "smile/data/table.hpp"

namespace smile::python {

namespace nb = nanobind;

/// Name, numbers (float32, float64 or int64, of any stride), words by code.
using ColumnTuple =
    std::tuple<std::string, nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>, std::vector<std::string>>;

/// A table over arrays of Python; it holds them.
std::shared_ptr<const Table> table_of(const std::vector<ColumnTuple>& columns, bool has_names,
                                      const std::string& missing);

/// A NumPy array that owns the values.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values, const std::vector<std::size_t>& shape) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner);
}

void add_errors(nb::module_& module);
void add_fit(nb::module_& module);
void add_fitted_run(nb::module_& module);
void add_density(nb::module_& module);

}  // namespace smile::python
