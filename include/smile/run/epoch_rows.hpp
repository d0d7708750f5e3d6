// SPDX-License-Identifier: Apache-2.0
/// The columns of warmstart/member-KK.csv and warmstart/metrics.csv: a row an epoch.
#pragma once

#include "smile/files/row_file.hpp"
#include "smile/warmstart/member.hpp"

namespace smile {

template <>
struct Columns<EpochReport> {
  static constexpr RowColumn<EpochReport> all[] = {
      {"member", &EpochReport::member},         {"epoch", &EpochReport::epoch},
      {"attempt", &EpochReport::attempt},       {"learning_rate", &EpochReport::learning_rate},
      {"train_loss", &EpochReport::train_loss}, {"valid_loss", &EpochReport::valid_loss}};
};

}  // namespace smile
