// SPDX-License-Identifier: Apache-2.0
#include "smile/targets/priors.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "smile/error.hpp"

namespace smile {

namespace {

const double kLogSqrtTwoPi = 0.5 * std::log(2 * std::numbers::pi);

/// exp(x²) erfc(x) for x ≥ 0, without underflow of erfc.
double scaled_erfc(double x) {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  // Asymptotic series; the first term left out is below 1e−15 at x = 25.
  const double q = 1 / (2 * x * x);
  const double series = 1 - q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q * (1 - 9 * q * (1 - 11 * q)))));
  return series / (x * std::sqrt(std::numbers::pi));
}

/// ln of the integral of exp(−(max(|z|, limit)² − limit²)/(2 scale²)): the flat part and two tails.
double flat_normal_log_mass(double limit, double scale) {
  const double tails =
      scale * std::sqrt(2 * std::numbers::pi) * scaled_erfc(limit / (scale * std::numbers::sqrt2));
  return std::log(2 * limit + tails);
}

/// Adds `term(x, derivative)` over a section and combines the gradient in the same pass. Partial sums by lane
/// let the compiler vectorise without changing the order of additions it was given.
template <bool kGradient, class T, class Term>
double sweep(const T* x, T* gradient, double factor, std::size_t n, Term term) {
  constexpr std::size_t kLanes = 8;
  double sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::size_t k = 0; k < kLanes; ++k) {
      double derivative = 0;
      sums[k] += term(static_cast<double>(x[i + k]), i + k, derivative);
      if constexpr (kGradient)
        gradient[i + k] = static_cast<T>(factor * static_cast<double>(gradient[i + k]) + derivative);
    }
  double total = 0;
  for (double sum : sums) total += sum;
  for (; i < n; ++i) {
    double derivative = 0;
    total += term(static_cast<double>(x[i]), i, derivative);
    if constexpr (kGradient)
      gradient[i] = static_cast<T>(factor * static_cast<double>(gradient[i]) + derivative);
  }
  return total;
}

struct Elements {
  const double* means;
  const double* log_scales;
};

/// ln p of a section; with kGradient also gradient ← factor·gradient + ∇ ln p.
template <bool kGradient, class T>
double section_log_density(const PriorSection& section, const T* x, T* gradient, double factor,
                           Elements elements) {
  const double n = static_cast<double>(section.size), loc = section.loc, scale = section.scale,
               limit = section.limit;
  switch (section.family) {
    case PriorFamily::normal: {
      const double precision = 1 / (scale * scale);
      const double squares =
          sweep<kGradient>(x, gradient, factor, section.size, [=](double v, std::size_t, double& derivative) {
            const double z = v - loc;
            derivative = -z * precision;
            return z * z;
          });
      return -0.5 * precision * squares - n * (std::log(scale) + kLogSqrtTwoPi);
    }
    case PriorFamily::laplace: {
      const double rate = 1 / scale;
      const double distances =
          sweep<kGradient>(x, gradient, factor, section.size, [=](double v, std::size_t, double& derivative) {
            const double z = v - loc;
            derivative = (z > 0 ? -rate : 0.0) + (z < 0 ? rate : 0.0);
            return std::fabs(z);
          });
      return -rate * distances - n * std::log(2 * scale);
    }
    case PriorFamily::uniform: {
      // 0 inside, ∞ outside; a NaN position is neither and stays one.
      const double outside =
          sweep<kGradient>(x, gradient, factor, section.size, [=](double v, std::size_t, double& derivative) {
            const double distance = std::fabs(v - loc);
            derivative = 0;
            return distance <= scale  ? 0.0
                   : distance > scale ? std::numeric_limits<double>::infinity()
                                      : distance;
          });
      return -outside - n * std::log(2 * scale);
    }
    case PriorFamily::flat_normal: {
      const double precision = 1 / (scale * scale);
      const double squares =
          sweep<kGradient>(x, gradient, factor, section.size, [=](double v, std::size_t, double& derivative) {
            const double z = v - loc, distance = std::fabs(z);
            derivative = distance <= limit ? 0.0 : -z * precision;
            return distance <= limit ? 0.0 : distance * distance - limit * limit;
          });
      return -0.5 * precision * squares - n * flat_normal_log_mass(limit, scale);
    }
    case PriorFamily::two_normals: {
      // ½N(x; loc) + ½N(x; −loc) = N(|x|; |loc|)·½(1 + exp(−2|x loc|/scale²)): no underflow far out.
      const double precision = 1 / (scale * scale), centre = std::fabs(loc);
      const double sum =
          sweep<kGradient>(x, gradient, factor, section.size, [=](double v, std::size_t, double& derivative) {
            const double y = v * centre * precision, z = std::fabs(v) - centre;
            if constexpr (kGradient) derivative = (centre * std::tanh(y) - v) * precision;
            return -0.5 * precision * z * z + std::log1p(std::exp(-2 * std::fabs(y)));
          });
      return sum - n * (std::log(scale) + kLogSqrtTwoPi + std::numbers::ln2);
    }
    case PriorFamily::element_normal: {
      const double* means = elements.means + section.offset;
      const double* log_scales = elements.log_scales + section.offset;
      const double sum = sweep<kGradient>(
          x, gradient, factor, section.size, [=](double v, std::size_t i, double& derivative) {
            const double inverse = std::exp(-log_scales[i]), z = (v - means[i]) * inverse;
            derivative = -z * inverse;
            return -0.5 * z * z - log_scales[i];
          });
      return sum - n * kLogSqrtTwoPi;
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

template <bool kGradient, class T>
double total_log_density(const std::vector<PriorSection>& sections, const T* x, T* gradient, double factor,
                         Elements elements) {
  double total = 0;
  for (const PriorSection& s : sections)
    total += section_log_density<kGradient>(s, x + s.offset, kGradient ? gradient + s.offset : nullptr,
                                            factor, elements);
  return total;
}

/// A standard normal conditioned on being above c ≥ 0.
double normal_above(double c, Stream& stream) {
  if (c < 0.5)
    for (;;) {
      const double z = std::fabs(stream.normal());
      if (z > c) return z;
    }
  // Rejection from a shifted exponential of the best rate (Robert 1995).
  const double rate = 0.5 * (c + std::sqrt(c * c + 4));
  for (;;) {
    const double z = c - std::log(stream.uniform()) / rate;
    if (stream.uniform() <= std::exp(-0.5 * (z - rate) * (z - rate))) return z;
  }
}

double draw(const PriorSection& s, std::size_t i, Elements elements, Stream& stream) {
  switch (s.family) {
    case PriorFamily::normal:
      return s.loc + s.scale * stream.normal();
    case PriorFamily::laplace: {
      const double u = stream.uniform();
      return s.loc + s.scale * (u < 0.5 ? std::log(2 * u) : -std::log(2 * (1 - u)));
    }
    case PriorFamily::uniform:
      return s.loc + s.scale * (2 * stream.uniform() - 1);
    case PriorFamily::flat_normal: {
      const double flat_share = 2 * s.limit / std::exp(flat_normal_log_mass(s.limit, s.scale));
      const double u = 2 * stream.uniform() - 1;  // sign and, in the flat part, place
      if (stream.uniform() < flat_share) return s.loc + s.limit * u;
      return s.loc + std::copysign(s.scale * normal_above(s.limit / s.scale, stream), u);
    }
    case PriorFamily::two_normals:
      return (stream.uniform() < 0.5 ? s.loc : -s.loc) + s.scale * stream.normal();
    case PriorFamily::element_normal:
      return elements.means[s.offset + i] + std::exp(elements.log_scales[s.offset + i]) * stream.normal();
  }
  return std::numeric_limits<double>::quiet_NaN();
}

template <class T>
void sample_all(const std::vector<PriorSection>& sections, Elements elements, StreamKey key,
                std::uint64_t step, std::span<T> position) {
  Stream stream(key, step);
  for (const PriorSection& s : sections)
    for (std::size_t i = 0; i < s.size; ++i) {
      double value = draw(s, i, elements, stream);
      T rounded = static_cast<T>(value);
      // Rounding to float must not carry a draw over the edge of the support.
      if (s.family == PriorFamily::uniform && std::fabs(static_cast<double>(rounded) - s.loc) > s.scale)
        rounded = std::nextafter(rounded, static_cast<T>(s.loc));
      position[s.offset + i] = rounded;
    }
}

void check_size(std::size_t given, std::size_t needed) {
  if (given != needed)
    throw Error(
        "prior",
        "a vector of " + std::to_string(given) + " entries where the prior has " + std::to_string(needed),
        "make the prior from the model's layout");
}

}  // namespace

Prior::Prior(std::vector<PriorSection> sections, std::vector<double> element_means,
             std::vector<double> element_log_scales)
    : sections_(std::move(sections)),
      element_means_(std::move(element_means)),
      element_log_scales_(std::move(element_log_scales)) {
  std::size_t next = 0;
  for (const PriorSection& s : sections_) {
    if (s.offset != next) throw Error("prior", "its sections leave a gap or overlap", "give them in order");
    next += s.size;
    if (s.family == PriorFamily::element_normal) {
      check_size(element_means_.size(), dimension());
      check_size(element_log_scales_.size(), dimension());
    }
  }
}

std::size_t Prior::dimension() const {
  return sections_.empty() ? 0 : sections_.back().offset + sections_.back().size;
}

double Prior::log_density(std::span<const float> position) const {
  check_size(position.size(), dimension());
  return total_log_density<false, float>(sections_, position.data(), nullptr, 1,
                                         {element_means_.data(), element_log_scales_.data()});
}
double Prior::log_density(std::span<const double> position) const {
  check_size(position.size(), dimension());
  return total_log_density<false, double>(sections_, position.data(), nullptr, 1,
                                          {element_means_.data(), element_log_scales_.data()});
}

namespace {

template <class T>
double with_gradient(const std::vector<PriorSection>& sections, std::size_t dimension,
                     std::span<const T> position, double factor, std::span<T> gradient, Elements elements) {
  check_size(position.size(), dimension);
  check_size(gradient.size(), dimension);
  // 0 overwrites whatever is there, NaN included.
  if (factor == 0)
    for (T& g : gradient) g = 0;
  return total_log_density<true>(sections, position.data(), gradient.data(), factor, elements);
}

}  // namespace

double Prior::log_density_and_gradient(std::span<const float> position, double gradient_factor,
                                       std::span<float> gradient) const {
  return with_gradient(sections_, dimension(), position, gradient_factor, gradient,
                       {element_means_.data(), element_log_scales_.data()});
}
double Prior::log_density_and_gradient(std::span<const double> position, double gradient_factor,
                                       std::span<double> gradient) const {
  return with_gradient(sections_, dimension(), position, gradient_factor, gradient,
                       {element_means_.data(), element_log_scales_.data()});
}

std::optional<Prior::Normals> Prior::normals() const {
  Normals out;
  for (const PriorSection& section : sections_) {
    if (section.family != PriorFamily::normal && section.family != PriorFamily::element_normal)
      return std::nullopt;
    for (std::size_t i = section.offset; i < section.offset + section.size; ++i) {
      const bool own = section.family == PriorFamily::element_normal;
      const double sd = own ? std::exp(element_log_scales_[i]) : section.scale;
      out.precision.push_back(1 / (sd * sd));
      out.mean.push_back(own ? element_means_[i] : section.loc);
    }
  }
  return out;
}

void Prior::sample(StreamKey key, std::uint64_t step, std::span<float> position) const {
  check_size(position.size(), dimension());
  sample_all(sections_, {element_means_.data(), element_log_scales_.data()}, key, step, position);
}
void Prior::sample(StreamKey key, std::uint64_t step, std::span<double> position) const {
  check_size(position.size(), dimension());
  sample_all(sections_, {element_means_.data(), element_log_scales_.data()}, key, step, position);
}

}  // namespace smile
