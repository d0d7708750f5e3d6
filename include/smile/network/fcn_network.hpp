// SPDX-License-Identifier: Apache-2.0
/// The native fully connected network over the parts of a table.
#pragma once

#include <memory>

#include "smile/network/fcn.hpp"
#include "smile/network/network.hpp"

namespace smile {

class FcnNetwork final : public Network {
 public:
  using Data = std::shared_ptr<const FcnData<float>>;
  /// @param valid, test  may be null: no rows
  FcnNetwork(FcnSpec spec, Data train, Data valid = nullptr, Data test = nullptr);

  const FcnSpec& spec() const { return spec_; }
  const ParameterLayout& layout() const override { return layout_; }
  std::size_t outputs() const override { return spec_.outputs(); }
  std::size_t rows(Part part) const override;
  std::unique_ptr<Likelihood<float>> likelihood(Part part) const override;
  std::unique_ptr<Predictor> predictor() const override;
  std::unique_ptr<RowJacobians> row_jacobians() const override;
  void initialise(StreamKey key, HostVector<float>& position) const override;

 private:
  FcnSpec spec_;
  ParameterLayout layout_;
  Data parts_[3];
};

}  // namespace smile
