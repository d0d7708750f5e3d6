// SPDX-License-Identifier: Apache-2.0
/// Counter-based random numbers: a value is a function of (seed, chain, purpose, step, position) alone, so
/// that results do not depend on threads, on the order of chains or on restarts (spec 5.3).
/// @source Salmon et al. 2011, Philox4x32-10 (the Random123 library)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace smile {

/// What a stream of numbers is for; streams of different purposes never share a number.
enum class Purpose : std::uint8_t {
  initialisation = 1,       ///< a member's first weights
  warmstart_batches = 2,    ///< batch order of the warm start, by epoch
  batches = 3,              ///< batch order of the sampler, by epoch
  direction = 4,            ///< a new velocity direction after a refused step, or the first one
  opening_refreshment = 5,  ///< first half of the partial refreshment of a step
  closing_refreshment = 6,  ///< second half
  noise = 7,                ///< the Gaussian noise of the stochastic-gradient baselines
  momentum = 8,             ///< first or redrawn momentum of sghmc and sgnht
  momentum_coin = 9,        ///< whether sghmc redraws its momentum in this step
  prior = 10,               ///< fixed draws of a prior's own parameters, draws from the prior
  split = 11,               ///< train/valid/test split
  predictive = 12,          ///< predictive draws
  diagnostics = 13,         ///< random choice of parameters to diagnose
  permutation = 14,         ///< permuted-neuron copies of a member
  gradient_noise = 15,      ///< injected gradient noise of the analytical targets
  analytic_start = 16,      ///< exact draws from the analytical targets
  bootstrap = 17,           ///< resampling for standard errors
  transition = 18,          ///< choices within a transition of hmc, nuts, mams
  perturbation = 19,        ///< of the parameters in the warm start's ivon, by update
  augmentation = 20,        ///< random views of the images of a batch, by batch number
};

/// Names a family of streams; `chain` below 2^24.
struct StreamKey {
  std::uint64_t seed = 0;
  std::uint32_t chain = 0;
  Purpose purpose = Purpose::initialisation;
};

/// A short-lived sequence of numbers of one (key, step). Holds up to 2^34 words; cheap to construct.
class Stream {
 public:
  explicit Stream(StreamKey key, std::uint64_t step = 0) noexcept;

  /// 32 uniform random bits.
  std::uint32_t bits32() noexcept;
  /// 64 uniform random bits.
  std::uint64_t bits64() noexcept;
  /// Uniform in (0, 1), 53 bits, never 0 or 1.
  double uniform() noexcept;
  /// Uniform integer in [0, bound), unbiased (Lemire's method); bound ≥ 1.
  std::uint32_t below(std::uint32_t bound) noexcept;
  /// Standard normal (Box–Muller in double precision; both values of a pair are used).
  double normal() noexcept;

 private:
  void refill() noexcept;
  std::uint32_t key_[2];
  std::uint32_t counter_[4];
  std::uint32_t words_[4];
  int used_ = 4;
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

/// Fills `out` with standard normals of (key, step); vectorised. Element i depends on i, key and step only.
/// @accuracy single-precision Box–Muller for float, double precision for double
void fill_normals(StreamKey key, std::uint64_t step, std::span<float> out);
void fill_normals(StreamKey key, std::uint64_t step, std::span<double> out);
/// Elements first … first + out.size() − 1 of the same. @param first  a multiple of 64
void fill_normals_from(StreamKey key, std::uint64_t step, std::size_t first, std::span<float> out);
void fill_normals_from(StreamKey key, std::uint64_t step, std::size_t first, std::span<double> out);

/// Seeded Fisher–Yates shuffle of 0 … n−1 written to `out` (n = out.size()).
void random_permutation(StreamKey key, std::uint64_t step, std::span<std::uint32_t> out);

}  // namespace smile
