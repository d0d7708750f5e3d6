// SPDX-License-Identifier: Apache-2.0
#include "smile/torch/tensor_prior.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "smile/error.hpp"

namespace smile {

using torch::Tensor;

TensorPrior::TensorPrior(const Prior& prior, torch::Device) {
  for (const PriorSection& next : prior.sections()) {
    if (next.family == PriorFamily::element_normal)
      throw Error("training.sampler.prior_config.name", "EpsStandardNormal is computed on the CPU only",
                  "choose another prior, or device: cpu");
    if (!sections_.empty()) {
      PriorSection& last = sections_.back();
      if (last.family == next.family && last.loc == next.loc && last.scale == next.scale &&
          last.limit == next.limit) {
        last.size += next.size;
        continue;
      }
    }
    sections_.push_back(next);
  }
}

Tensor TensorPrior::section(const PriorSection& s, const Tensor& x, Tensor* slope) {
  const double n = double(s.size), half_log_2pi = 0.5 * std::log(2 * std::numbers::pi);
  const double normal = half_log_2pi + std::log(s.scale);
  switch (s.family) {
    case PriorFamily::normal: {
      const Tensor z = (x - s.loc) * (1 / s.scale);
      if (slope) *slope = z * (-1 / s.scale);
      return z.square().sum(torch::kDouble) * -0.5 - n * normal;
    }
    case PriorFamily::laplace: {
      const Tensor z = x - s.loc;
      if (slope) *slope = z.sign() * (-1 / s.scale);
      return z.abs().sum(torch::kDouble) * (-1 / s.scale) - n * std::log(2 * s.scale);
    }
    case PriorFamily::uniform: {
      // Outside the support −∞ (0 · ∞ would be NaN, which is refused as well).
      if (slope) *slope = torch::zeros_like(x);
      const Tensor outside = ((x - s.loc).abs() <= s.scale).logical_not().any();
      return torch::where(outside,
                          torch::full({}, -std::numeric_limits<double>::infinity(), outside.device()),
                          torch::full({}, -n * std::log(2 * s.scale), outside.device()))
          .to(torch::kDouble);
    }
    case PriorFamily::flat_normal: {
      // Constant for |x − loc| ≤ limit, the normal's own tails outside.
      const Tensor centred = x - s.loc;
      const Tensor z = centred.abs().clamp_min(s.limit) * (1 / s.scale);
      if (slope) *slope = centred.masked_fill(centred.abs() <= s.limit, 0) * (-1 / (s.scale * s.scale));
      const double edge = s.limit / s.scale;
      const double mass = 2 * s.limit * std::exp(-0.5 * edge * edge) +
                          s.scale * std::sqrt(2 * std::numbers::pi) * std::erfc(edge / std::numbers::sqrt2);
      return z.square().sum(torch::kDouble) * -0.5 - n * std::log(mass);
    }
    case PriorFamily::two_normals: {
      const Tensor a = ((x - s.loc) * (1 / s.scale)).square() * -0.5;
      const Tensor b = ((x + s.loc) * (1 / s.scale)).square() * -0.5;
      if (slope) {
        const Tensor first = torch::sigmoid(a - b);
        *slope = (x + s.loc - first * (2 * s.loc)) * (-1 / (s.scale * s.scale));
      }
      return torch::logaddexp(a, b).sum(torch::kDouble) - n * (normal + std::log(2.0));
    }
    default:
      break;
  }
  return {};
}

Tensor TensorPrior::add_gradient(const Tensor& position, double factor, Tensor gradient) const {
  torch::NoGradGuard guard;
  gradient.mul_(factor);
  Tensor sum;
  for (const PriorSection& s : sections_) {
    const auto begin = std::int64_t(s.offset), end = std::int64_t(s.offset + s.size);
    Tensor slope;
    const Tensor value = section(s, position.slice(0, begin, end), &slope);
    gradient.slice(0, begin, end).add_(slope);
    sum = sum.defined() ? sum + value : value;
  }
  return sum;
}

Tensor TensorPrior::log_density(const Tensor& position) const {
  torch::NoGradGuard guard;
  Tensor sum;
  for (const PriorSection& s : sections_) {
    const Tensor value =
        section(s, position.slice(0, std::int64_t(s.offset), std::int64_t(s.offset + s.size)), nullptr);
    sum = sum.defined() ? sum + value : value;
  }
  return sum;
}

}  // namespace smile
