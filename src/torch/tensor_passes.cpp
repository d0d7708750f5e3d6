// SPDX-License-Identifier: Apache-2.0
// The passes on tensors.
#include <array>
#include <cmath>
#include <limits>

#include "smile/torch/tensor_vector.hpp"

namespace smile {
namespace {

using torch::Tensor;

thread_local torch::Device device_of_thread = torch::kCPU;

/// Clamped s²; a scaling without upper bound has one in the type's range.
Tensor clamped(const Tensor& variance, const Scaling& scaling) {
  return std::isfinite(scaling.upper) ? variance.clamp(scaling.lower, scaling.upper)
                                      : variance.clamp_min(scaling.lower);
}

/// 1/ŝ.
Tensor inverse_scale(const Tensor& variance, const Scaling& scaling) {
  return clamped(variance, scaling).rsqrt_().mul_(scaling.factor);
}

/// x ⊘ ŝ.
Tensor scaled(const Tensor& x, const Metric<TensorVector>& metric) {
  if (metric.variance == nullptr) return x;
  return inverse_scale(metric.variance->tensor(), metric.scaling).mul_(x);
}

Tensor product_sum(const Tensor& a, const Tensor& b) {
  return (a * b).sum(torch::kDouble);
}

/// Several scalars with one transfer.
template <std::size_t n>
std::array<double, n> fetch(const std::array<Tensor, n>& scalars) {
  std::array<Tensor, n> doubles;
  for (std::size_t i = 0; i < n; ++i) doubles[i] = scalars[i].to(torch::kDouble).reshape({});
  const Tensor host = torch::stack(at::TensorList(doubles.data(), n)).cpu();
  std::array<double, n> out;
  for (std::size_t i = 0; i < n; ++i) out[i] = host.data_ptr<double>()[i];
  return out;
}

/// 0 where all entries are finite, else NaN: the sum of x − x.
Tensor trouble(const Tensor& x) {
  return (x - x).sum(torch::kDouble);
}

MomentumSums sums_of(double gradient_norm2, double projection, double velocity_norm2, double largest,
                     double trouble) {
  MomentumSums sums;
  sums.gradient_norm2 = gradient_norm2;
  sums.projection = projection;
  sums.velocity_norm2 = velocity_norm2;
  sums.largest = largest;
  sums.finite = trouble == 0;
  return sums;
}

void absorb_into(const Tensor& g, Tensor mean, Tensor variance, const MovingEstimate& estimate) {
  const double a = estimate.rate;
  Tensor deviation = g;
  if (estimate.centre == Centre::mean) {
    mean.mul_(1 - a).add_(g, a);
    deviation = g - mean;
  } else if (estimate.centre == Centre::authors) {
    deviation = g - (g * a + (1 - a));
  }
  variance.mul_(1 - a).addcmul_(deviation, deviation, a).clamp_min_(estimate.floor);
}

}  // namespace

TensorVector::OnDevice::OnDevice(torch::Device device) : before_(device_of_thread) {
  device_of_thread = device;
}
TensorVector::OnDevice::~OnDevice() {
  device_of_thread = before_;
}

TensorVector::TensorVector(std::size_t size, float value)
    : tensor_(torch::full({std::int64_t(size)}, value,
                          torch::TensorOptions(torch::kFloat).device(device_of_thread))) {}

TensorVector& TensorVector::operator=(const TensorVector& other) {
  if (this == &other) return *this;
  torch::NoGradGuard guard;
  if (!other.tensor_.defined())
    tensor_ = Tensor();
  else if (size() == other.size() && tensor_.device() == other.tensor_.device())
    tensor_.copy_(other.tensor_);
  else
    tensor_ = other.tensor_.detach().clone();
  return *this;
}

void TensorVector::serialise(Archive& archive) {
  HostVector<float> host(size());
  if (size() > 0 && !archive.reading())
    torch::from_blob(host.data(), {std::int64_t(size())}, torch::kFloat).copy_(tensor_);
  archive.vector(host);
  if (!archive.reading()) return;
  if (host.size() != size()) *this = TensorVector(host.size());
  if (size() > 0) tensor_.copy_(torch::from_blob(host.data(), {std::int64_t(size())}, torch::kFloat));
}

namespace kernels {

MomentumSums reduce(const TensorVector& gradient, const TensorVector& velocity,
                    const Metric<TensorVector>& metric) {
  torch::NoGradGuard guard;
  const Tensor& g = gradient.tensor();
  const Tensor& u = velocity.tensor();
  const Tensor q = scaled(g, metric);
  const auto s =
      fetch<5>({product_sum(q, q), product_sum(u, q), product_sum(u, u), g.abs().max(), trouble(g)});
  return sums_of(s[0], s[1], s[2], s[3], s[4]);
}

void kick(TensorVector& velocity, const TensorVector& gradient, const Metric<TensorVector>& metric, Kick k) {
  torch::NoGradGuard guard;
  Tensor u = velocity.tensor();
  u.mul_(k.velocity).add_(scaled(gradient.tensor(), metric), k.gradient);
}

bool drift(const TensorVector& velocity, const Metric<TensorVector>& metric, const TensorVector& position_in,
           TensorVector& position_out, double h) {
  torch::NoGradGuard guard;
  Tensor out = position_out.tensor();
  torch::add_out(out, position_in.tensor(), scaled(velocity.tensor(), metric), h);
  return fetch<1>({trouble(out)})[0] == 0;
}

bool kick_drift(TensorVector& velocity, const TensorVector& gradient, const Metric<TensorVector>& metric,
                Kick k, const TensorVector& position_in, TensorVector& position_out, double h) {
  torch::NoGradGuard guard;
  Tensor u = velocity.tensor(), out = position_out.tensor();
  if (metric.variance == nullptr) {
    u.mul_(k.velocity).add_(gradient.tensor(), k.gradient);
    torch::add_out(out, position_in.tensor(), u, h);
  } else {
    const Tensor inverse = inverse_scale(metric.variance->tensor(), metric.scaling);
    u.mul_(k.velocity).addcmul_(gradient.tensor(), inverse, k.gradient);
    torch::addcmul_out(out, position_in.tensor(), u, inverse, h);
  }
  return fetch<1>({trouble(out)})[0] == 0;
}

ClosingSums reduce_closing(const TensorVector& gradient, const TensorVector& velocity,
                           const TensorVector* mean, const Metric<TensorVector>& metric,
                           const MovingEstimate& estimate, Normalisation normalisation,
                           double relative_floor) {
  torch::NoGradGuard guard;
  ClosingSums sums;
  const Tensor &g = gradient.tensor(), &u = velocity.tensor();
  const TensorVector next(metric.variance->tensor().clone());
  absorb_into(g, mean ? mean->tensor().clone() : Tensor(), next.tensor(), estimate);
  sums.next = normalise(next, normalisation, relative_floor);
  const Tensor q = scaled(g, metric), r = inverse_scale(next.tensor(), sums.next).mul_(g);
  const auto s = fetch<8>({product_sum(q, q), product_sum(u, q), product_sum(u, u), g.abs().max(), trouble(g),
                           product_sum(r, r), product_sum(q, r), product_sum(u, r)});
  sums.now = sums_of(s[0], s[1], s[2], s[3], s[4]);
  sums.next_norm2 = s[5];
  sums.cross = s[6];
  sums.next_projection = s[7];
  return sums;
}

bool close_and_open(TensorVector& velocity, TensorVector& velocity_next, const TensorVector& gradient,
                    TensorVector* mean, TensorVector* variance, const Scaling& now, const Scaling& next,
                    const MovingEstimate& estimate, Kick closing, Kick opening,
                    const TensorVector& position_in, TensorVector& position_out, double h) {
  kick(velocity, gradient, {variance, now}, closing);
  if (variance) absorb(gradient, mean, *variance, estimate);
  velocity_next = velocity;
  return kick_drift(velocity_next, gradient, {variance, next}, opening, position_in, position_out, h);
}

void absorb(const TensorVector& gradient, TensorVector* mean, TensorVector& variance,
            const MovingEstimate& estimate) {
  torch::NoGradGuard guard;
  absorb_into(gradient.tensor(), mean ? mean->tensor() : Tensor(), variance.tensor(), estimate);
}

Scaling normalise(const TensorVector& variance, Normalisation normalisation, double relative_floor) {
  torch::NoGradGuard guard;
  const Tensor& v = variance.tensor();
  const double d = double(variance.size());
  Scaling scaling;
  if (normalisation == Normalisation::inverse_rms) {
    scaling.factor = std::sqrt(d / fetch<1>({v.reciprocal().sum(torch::kDouble)})[0]);
    return scaling;
  }
  if (normalisation == Normalisation::rms_absolute) {
    scaling.lower = 1e-4;
    scaling.upper = 1e8;
  } else if (normalisation == Normalisation::half_reference) {
    const double root = fetch<1>({v.sqrt().sqrt_().sum(torch::kDouble)})[0] / d;
    scaling.lower = 0.01 * root * root * root * root;
    scaling.upper = 100 * root * root * root * root;
  } else {
    scaling.lower = relative_floor * relative_floor * fetch<1>({v.sum(torch::kDouble)})[0] / d;
  }
  scaling.factor = std::sqrt(fetch<1>({clamped(v, scaling).sum(torch::kDouble)})[0] / d);
  return scaling;
}

void refresh(TensorVector& velocity, const TensorVector& normals, double nu) {
  torch::NoGradGuard guard;
  Tensor u = velocity.tensor();
  u.add_(normals.tensor(), nu);
  u.mul_(1 / std::sqrt(norm2(velocity)));
}

void unit_direction(TensorVector& velocity, const TensorVector& normals) {
  torch::NoGradGuard guard;
  Tensor u = velocity.tensor();
  torch::mul_out(u, normals.tensor(), torch::scalar_tensor(1 / std::sqrt(norm2(normals)), u.options()));
}

MomentumSums examine(const TensorVector& gradient) {
  torch::NoGradGuard guard;
  const auto s = fetch<2>({gradient.tensor().abs().max(), trouble(gradient.tensor())});
  MomentumSums sums;
  sums.largest = s[0];
  sums.finite = s[1] == 0;
  return sums;
}

void clip(TensorVector& gradient, double limit, bool zero_nan) {
  torch::NoGradGuard guard;
  Tensor g = gradient.tensor();
  if (zero_nan) g.masked_fill_(g.isnan(), 0);
  g.clamp_(-limit, limit);
}

bool all_finite(const TensorVector& vector) {
  torch::NoGradGuard guard;
  return fetch<1>({trouble(vector.tensor())})[0] == 0;
}

double norm2(const TensorVector& vector) {
  torch::NoGradGuard guard;
  return fetch<1>({product_sum(vector.tensor(), vector.tensor())})[0];
}

void add_scaled(TensorVector& position, const TensorVector& gradient, double a, const TensorVector& normals,
                double b) {
  torch::NoGradGuard guard;
  Tensor x = position.tensor();
  x.add_(gradient.tensor(), a).add_(normals.tensor(), b);
}

void psgld_update(TensorVector& position, TensorVector& variance, const TensorVector& gradient,
                  const TensorVector& normals, const PsgldUpdate& p) {
  torch::NoGradGuard guard;
  Tensor v = variance.tensor(), x = position.tensor();
  const Tensor& g = gradient.tensor();
  v.mul_(p.first ? 0 : p.decay).addcmul_(g, g, (p.first ? 1 : 1 - p.decay) * p.inverse_n * p.inverse_n);
  const Tensor preconditioner = v.sqrt().add_(p.lambda).reciprocal_();
  x.addcmul_(preconditioner, g, p.step_size);
  x.addcmul_((preconditioner * (2 * p.step_size * p.temperature)).sqrt_(), normals.tensor());
}

double momentum_update(TensorVector& position, TensorVector& momentum, const TensorVector& gradient,
                       const TensorVector& normals, double a, double b, double c, double e) {
  torch::NoGradGuard guard;
  Tensor v = momentum.tensor(), x = position.tensor();
  v.mul_(a).add_(gradient.tensor(), b).add_(normals.tensor(), c);
  x.add_(v, e);
  return norm2(momentum);
}

void adapt_scale(TensorVector& tau, TensorVector& mean, TensorVector& variance,
                 const TensorVector& kept_gradient) {
  torch::NoGradGuard guard;
  Tensor t = tau.tensor(), m = mean.tensor(), v = variance.tensor();
  const Tensor& g = kept_gradient.tensor();
  t.mul_(1 - m * m / (v + 1e-7)).add_(1);
  const Tensor weight = (t + 1).reciprocal_();
  m.sub_(weight * (m + g)).clamp_(-1e6, 1e6);
  v.add_(weight * (g * g - v)).clamp_min_(1e-7);
}

void adapt_rms(TensorVector& variance, const TensorVector& kept_gradient, double rho) {
  torch::NoGradGuard guard;
  Tensor v = variance.tensor();
  v.mul_(rho).addcmul_(kept_gradient.tensor(), kept_gradient.tensor(), 1 - rho).clamp_min_(1e-7);
}

void scaled_momentum_update(TensorVector& position, TensorVector& momentum, const TensorVector& variance,
                            const TensorVector& gradient, const TensorVector& normals, double step_size,
                            double friction) {
  torch::NoGradGuard guard;
  Tensor v = momentum.tensor(), x = position.tensor();
  const Tensor s = variance.tensor().sqrt();
  const Tensor noise = (s * (2 * friction) - (s * step_size).square_()).clamp_min_(1e-7).sqrt_();
  v.mul_(1 - friction).add_(gradient.tensor(), step_size).addcmul_(noise, normals.tensor());
  x.addcdiv_(v, s, step_size);
}

}  // namespace kernels
}  // namespace smile
