// SPDX-License-Identifier: Apache-2.0
/// How the end of a group's source file looks: its passes in a table for each element type, compiled for
/// every instruction set, and the getter that chooses among them at run time.
#pragma once

#include "smile/instruction_set.hpp"

/// Inside HWY_NAMESPACE. The arguments behind `Table` are its entries as templates over T.
#define SMILE_SIMD_TABLES(group, Table, ...)      \
  template <class T>                              \
  const Table<T>* group##_table() {               \
    static constexpr Table<T> table{__VA_ARGS__}; \
    return &table;                                \
  }                                               \
  const Table<float>* group##_float() {           \
    return group##_table<float>();                \
  }                                               \
  const Table<double>* group##_double() {         \
    return group##_table<double>();               \
  }

/// Inside `#if HWY_ONCE` and the namespace around HWY_NAMESPACE.
#define SMILE_SIMD_EXPORT(group, Table)             \
  HWY_EXPORT(group##_float);                        \
  HWY_EXPORT(group##_double);                       \
  template <>                                       \
  const Table<float>& group<float>() {              \
    apply_simd_environment();                       \
    return *HWY_DYNAMIC_DISPATCH(group##_float)();  \
  }                                                 \
  template <>                                       \
  const Table<double>& group<double>() {            \
    apply_simd_environment();                       \
    return *HWY_DYNAMIC_DISPATCH(group##_double)(); \
  }
