// SPDX-License-Identifier: Apache-2.0
#include "smile/network/fcn_network.hpp"

#include <utility>

#include "network/fcn_jacobians.hpp"

namespace smile {
namespace {

class FcnPredictor final : public Predictor {
 public:
  explicit FcnPredictor(const FcnNetwork& network, const FcnNetwork::Data parts[3])
      : parts_{parts[0], parts[1], parts[2]}, fcn_(network.spec(), parts[0]) {}
  void predict(Part part, const HostVector<float>& position, std::span<float> outputs) override {
    fcn_.predict(*parts_[int(part)], position, outputs);
  }

 private:
  FcnNetwork::Data parts_[3];
  Fcn<float> fcn_;
};

}  // namespace

FcnNetwork::FcnNetwork(FcnSpec spec, Data train, Data valid, Data test)
    : spec_(std::move(spec)),
      layout_(spec_.layout()),
      parts_{std::move(train), std::move(valid), std::move(test)} {
  for (Data& part : parts_)
    if (!part)
      part = std::make_shared<const FcnData<float>>(0, spec_.inputs, std::span<const double>(),
                                                    std::span<const double>());
}

std::size_t FcnNetwork::rows(Part part) const {
  return parts_[int(part)]->rows();
}

std::unique_ptr<Likelihood<float>> FcnNetwork::likelihood(Part part) const {
  return std::make_unique<Fcn<float>>(spec_, parts_[int(part)]);
}

std::unique_ptr<Predictor> FcnNetwork::predictor() const {
  return std::make_unique<FcnPredictor>(*this, parts_);
}

std::unique_ptr<RowJacobians> FcnNetwork::row_jacobians() const {
  return fcn_jacobians(spec_, parts_);
}

void FcnNetwork::initialise(StreamKey key, HostVector<float>& position) const {
  lecun_initialise(layout_, key, position);
}

}  // namespace smile
