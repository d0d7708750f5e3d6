// SPDX-License-Identifier: Apache-2.0
/// Prior densities over a network's parameters (spec 2.2). Every prior is a product of one-dimensional
/// densities, one family with its constants a section of the flat vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smile/kernels/host_vector.hpp"
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

  /// Precision and mean of each entry; nothing where not all of the prior is Normal.
  struct Normals {
    std::vector<double> precision, mean;
  };
  std::optional<Normals> normals() const;

  /// A draw from the prior, a function of (key, step).
  void sample(StreamKey key, std::uint64_t step, std::span<float> position) const;
  void sample(StreamKey key, std::uint64_t step, std::span<double> position) const;

 private:
  std::vector<PriorSection> sections_;
  std::vector<double> element_means_, element_log_scales_;
};

/// Values of a prior's parameters by name.
using PriorValues = std::map<std::string, double, std::less<>>;

struct PriorParameter {
  std::string_view name;
  std::string_view doc;                                   ///< a few words, for the reference of keys
  double fallback = 0;                                    ///< where a configuration does not say it
  double low = -std::numeric_limits<double>::infinity();  ///< smallest value …
  bool without_low = false;                               ///< … or bound that is not reached
};

/// What a configuration can name in `prior_config`: the reader, the keys of its parameters, `smile list` and
/// the reference of keys read the row. CONTRIBUTING.md says how to add one.
struct PriorRow {
  std::string_view name;
  std::string_view doc;  ///< a line, as `smile list priors` prints it
  std::vector<PriorParameter> parameters = {};
  /// The density of one tensor; offset and size are filled in by make_prior.
  /// @param values  exactly those of `parameters`
  PriorSection (*section)(const PriorValues& values, const ParameterGroup& group) = nullptr;
  bool has_seed = false;     ///< sections are element_normal, whose fixed a_i, b_i follow a seed
  bool is_standard = false;  ///< N(0, 1) for every parameter
  /// Known only after the warm start: `section` finds the root mean square of the parameters of the tensor's
  /// layer over all members among its values, as `layer_rms`.
  bool from_members = false;

  /// That of the name, or null.
  const PriorParameter* parameter(std::string_view wanted) const;
};

/// All rows, in the order of spec 2.2.
const std::deque<PriorRow>& prior_rows();
/// @throws Error that lists the names
const PriorRow& prior_row(std::string_view name);
/// Adds a row for the life of the program; to be called before the first configuration is read.
/// @throws Error where the name is taken
void add_prior(PriorRow row);

/// Root mean square of the parameters of each layer, over all members. A layer is what has one name up to the
/// last dot: a weight and its bias. log σ is none, nor is a layer whose parameters are all 0.
using LayerScales = std::map<std::string, double, std::less<>>;
/// @param members  @shape [members][d], whole
LayerScales layer_scales(const ParameterLayout& layout, std::span<const HostVector<float>> members);

/// @param parameters  exactly those that the prior has, in their ranges
/// @param seed        of the fixed draws of a prior that has a seed
/// @param scales      for a prior that follows from the members; what is no layer of them gets N(0, 1)
/// @throws Error for an unknown name (lists the known ones), a missing, unknown or impossible parameter, and
///         for a weight without the fans that the prior needs
std::shared_ptr<const Prior> make_prior(std::string_view name, const PriorValues& parameters,
                                        const ParameterLayout& layout, std::uint64_t seed = 0,
                                        const LayerScales& scales = {});

}  // namespace smile
