// SPDX-License-Identifier: Apache-2.0
/// Kinds of data sets.
#pragma once

#include "smile/named.hpp"

namespace smile {

enum class DataKind { tabular, image, text };
template <>
struct Named<DataKind> {
  static constexpr Alternative<DataKind> all[] = {
      {DataKind::tabular, "tabular"}, {DataKind::image, "image"}, {DataKind::text, "text"}};
};

}  // namespace smile
