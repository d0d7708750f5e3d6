/// Prior densities over a network's parameters (spec 2.2). Every prior is a product of one-dimensional
/// densities, one family with its constants a section of the flat vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "smile/random/stream.hpp"
#include "smile/targets/parameters.hpp"

namespace smile {

/// One-dimensional families; each is normalised.
enum class PriorFamily : std::uint8_t {
  normal,          ///< loc, scale
  laplace,         ///< loc, scale
  uniform,         ///< |x − loc| ≤ scale
  flat_normal,     ///< `TruncNormal`: constant for |x − loc| ≤ limit, normal tails outside
  two_normals,     ///< ½ N(loc, scale²) + ½ N(−loc, scale²)
  element_normal,  ///< element i: N(a_i, exp(b_i)²)
};

struct PriorSection {
  std::size_t offset = 0, size = 0;
  PriorFamily family = PriorFamily::normal;
  double loc = 0, scale = 1, limit = 0;
};

/// Immutable; shared between chains. Values and sums in double for both element types.
class Prior {
 public:
  /// @param sections tile [0, d) in order
  /// @param element_means, element_log_scales @shape [d] where a section is element_normal, else empty
  explicit Prior(std::vector<PriorSection> sections, std::vector<double> element_means = {},
                 std::vector<double> element_log_scales = {});

  std::size_t dimension() const;
  const std::vector<PriorSection>& sections() const { return sections_; }

  /// Σ log p(θ_i), normalised; −∞ outside the support; NaN where a position is NaN.
  double log_density(std::span<const float> position) const;
  double log_density(std::span<const double> position) const;

  /// gradient ← gradient_factor · gradient + ∇ log p(θ), in one pass; returns log p(θ). Where the density has
  /// no derivative (Laplace's centre, edges of the uniform's support, outside it) the prior adds 0.
  /// @param gradient_factor  N/B_t when `gradient` is that of a mini-batch's log-likelihood; 0 overwrites
  double log_density_and_gradient(std::span<const float> position, double gradient_factor,
                                  std::span<float> gradient) const;
  double log_density_and_gradient(std::span<const double> position, double gradient_factor,
                                  std::span<double> gradient) const;

  /// A draw from the prior, a function of (key, step).
  void sample(StreamKey key, std::uint64_t step, std::span<float> position) const;
  void sample(StreamKey key, std::uint64_t step, std::span<double> position) const;

 private:
  std::vector<PriorSection> sections_;
  std::vector<double> element_means_, element_log_scales_;
};

/// Names of spec 2.2, in its order.
const std::vector<std::string>& prior_names();
/// Names of a prior's parameters, e.g. {"loc", "scale"}. @throws Error for an unknown prior
const std::vector<std::string>& prior_parameter_names(const std::string& name);

/// @param parameters  exactly those that the prior has; scales and factors > 0, limit ≥ 0
/// @param seed        of the fixed draws of `EpsStandardNormal`
/// @throws Error for an unknown name (lists the known ones), a missing, unknown or impossible parameter, and
/// for a
///         weight without the fans that the prior needs
std::shared_ptr<const Prior> make_prior(const std::string& name,
                                        const std::map<std::string, double>& parameters,
                                        const ParameterLayout& layout, std::uint64_t seed = 0);

}  // namespace smile
