// SPDX-License-Identifier: Apache-2.0
#include "evaluation/kept_mixtures.hpp"

#include <algorithm>

#include "smile/evaluation/mixture.hpp"

namespace smile {

namespace {

std::size_t kept(const std::vector<std::size_t>& draws_per_chain, std::size_t every) {
  std::size_t total = 0;
  for (std::size_t draws : draws_per_chain) total += (draws + every - 1) / every;
  return total;
}

}  // namespace

KeptMixtures::KeptMixtures(std::size_t rows, const std::vector<std::size_t>& draws_per_chain,
                           std::size_t bytes)
    : rows_(rows) {
  const std::size_t longest = *std::max_element(draws_per_chain.begin(), draws_per_chain.end());
  const std::size_t room = bytes / (2 * sizeof(float) * rows_);
  while (every_ < longest && kept(draws_per_chain, every_) > room) ++every_;
  for (std::size_t draws : draws_per_chain) {
    offset_.push_back(count_);
    count_ += (draws + every_ - 1) / every_;
  }
  means_.resize(count_ * rows_);
  sds_.resize(count_ * rows_);
}

std::vector<double> KeptMixtures::mean_widths(std::span<const double> nominal) const {
  std::vector<double> widths(nominal.size());
  for (std::size_t row = 0; row < rows_; ++row) {
    const NormalMixture mixture{std::span(means_).subspan(row * count_, count_),
                                std::span(sds_).subspan(row * count_, count_)};
    for (std::size_t j = 0; j < nominal.size(); ++j)
      widths[j] +=
          mixture_quantile(mixture, (1 + nominal[j]) / 2) - mixture_quantile(mixture, (1 - nominal[j]) / 2);
  }
  for (double& width : widths) width /= static_cast<double>(rows_);
  return widths;
}

}  // namespace smile
