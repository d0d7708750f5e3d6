// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "smile/data/dataset.hpp"
#include "smile/error.hpp"
#include "smile/warmstart/early_stopping.hpp"
#include "smile/warmstart/member.hpp"

namespace smile {

void MemberOptions::validate() const {
  optimizer.validate();
  learning_rate.validate();
  EarlyStopping{patience};
  if (max_epochs == 0)
    throw Error("warmstart.max_epochs", "0 epochs train nothing",
                "give at least 1, or start the chains from the prior");
  if (batch_size == 0)
    throw Error("warmstart.batch_size", "a batch of 0 rows has no loss",
                "give at least 1, or null for all rows");
}

MemberData member_data(const DataPart& train, const DataPart& valid, std::size_t inputs) {
  return {std::make_shared<FcnData<float>>(train.rows, inputs, train.features, train.targets),
          std::make_shared<FcnData<float>>(valid.rows, inputs, valid.features, valid.targets)};
}

}  // namespace smile
