// SPDX-License-Identifier: Apache-2.0
/// The no-U-turn sampler: `nuts`.
/// @source Hoffman & Gelman 2014; Betancourt 2017, appendix A: multinomial draws along the trajectory, biased
/// towards its newer half, and the criterion of the momenta's sum, looked at across joints too (as Stan does)
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "smile/samplers/hamiltonian.hpp"

namespace smile {

/// The trajectory doubles, forwards or backwards in time, until it begins to turn back, and a state of it is
/// drawn with weight exp(−H).
template <class Vector>
class NutsSampler final : public HamiltonianSampler<Vector> {
  using Frame = HamiltonianSampler<Vector>;
  using typename Frame::Point;
  using typename Frame::Transition;

 public:
  NutsSampler(const AdjustedOptions& options, const SamplingPlan& plan) : Frame(options, plan) {}

 private:
  /// A piece of the trajectory, in order of time.
  struct Piece {
    Vector first, last;  ///< momenta at its ends
    Vector sum;          ///< of all its momenta
    double log_weight;   ///< ln Σ exp(H₀ − H)
    Point draw;          ///< a state of it, drawn with weight exp(−H)
  };
  /// What is the same for all pieces of a transition.
  struct Travel {
    Target<Vector>& target;
    NormalSource<Vector>& normals;
    std::uint64_t t;
    double step_size, energy;  ///< ε > 0, H₀
    std::uint64_t uniforms = 0;
    double acceptance = 0;  ///< sum over the steps taken
    int steps = 0;
    bool diverged = false;

    double uniform() { return normals.uniform(Purpose::transition, t << 24 | uniforms++); }
  };

  Transition transition(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t,
                        double step_size) override {
    Point earliest = this->depart(normals, Purpose::momentum, t), latest = earliest;
    Travel travel{target, normals, t, step_size, this->energy(earliest)};
    Piece whole = piece_of(earliest, 0);
    Transition done;
    for (std::int64_t depth = 0; depth < this->options_.max_tree_depth; ++depth) {
      const bool forwards = travel.uniform() > 0.5;
      std::optional<Piece> half = grow(forwards ? latest : earliest, forwards, depth, travel);
      if (!half) break;
      // Biased: a heavier half is taken for certain.
      const bool take = travel.uniform() < std::exp(half->log_weight - whole.log_weight);
      const bool goes_on = join(whole, std::move(*half), forwards, take);
      done.moved = done.moved || take;
      if (!goes_on) break;
    }
    done.diverged = travel.diverged;
    done.acceptance = travel.steps > 0 ? travel.acceptance / travel.steps : 0;
    if (done.moved) {
      done.energy_change = this->energy(whole.draw) - travel.energy;
      this->state_ = std::move(whole.draw);
    }
    return done;
  }

  /// 2^depth steps onwards from `end`, which moves along. Nothing where a part of them diverged or turned
  /// back: a trajectory that could not have been grown from there.
  std::optional<Piece> grow(Point& end, bool forwards, std::int64_t depth, Travel& travel) {
    if (depth == 0) {
      this->leapfrog(end, forwards ? travel.step_size : -travel.step_size, travel.target, travel.t);
      const double error = this->energy(end) - travel.energy;
      ++travel.steps;
      travel.acceptance += std::min(1.0, std::exp(-error));
      if (error > kDivergence) {
        travel.diverged = true;
        return std::nullopt;
      }
      return piece_of(end, -error);
    }
    std::optional<Piece> near = grow(end, forwards, depth - 1, travel);
    if (!near) return std::nullopt;
    std::optional<Piece> far = grow(end, forwards, depth - 1, travel);
    if (!far) return std::nullopt;
    const bool take =
        travel.uniform() < std::exp(far->log_weight - log_sum(near->log_weight, far->log_weight));
    if (!join(*near, std::move(*far), forwards, take)) return std::nullopt;
    return near;
  }

  static Piece piece_of(const Point& z, double log_weight) {
    return {z.momentum, z.momentum, z.momentum, log_weight, z};
  }

  /// Appends a piece, before or behind. @param take  its draw replaces the other's
  /// @return whether the whole has not begun to turn back: none of whole, earlier half and first step of the
  /// later, last step of the earlier and later half
  bool join(Piece& piece, Piece&& next, bool forwards, bool take) const {
    Piece& earlier = forwards ? piece : next;
    Piece& later = forwards ? next : piece;
    const bool straight = leads_on(earlier.first, later.first, sum(earlier.sum, later.first)) &&
                          leads_on(earlier.last, later.last, sum(earlier.last, later.sum));
    Vector whole = sum(earlier.sum, later.sum);
    const bool goes_on = leads_on(earlier.first, later.last, whole) && straight;
    piece.sum = std::move(whole);
    piece.log_weight = log_sum(piece.log_weight, next.log_weight);
    if (forwards)
      piece.last = std::move(next.last);
    else
      piece.first = std::move(next.first);
    if (take) piece.draw = std::move(next.draw);
    return goes_on;
  }

  /// The generalised criterion: both ends still move along the sum of the momenta.
  bool leads_on(const Vector& first, const Vector& last, const Vector& along) const {
    return this->product(first, along) > 0 && this->product(last, along) > 0;
  }

  static Vector sum(const Vector& a, const Vector& b) {
    Vector out(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) out[i] = a[i] + b[i];
    return out;
  }
  static double log_sum(double a, double b) {
    const double high = std::max(a, b);
    return std::isfinite(high) ? high + std::log1p(std::exp(std::min(a, b) - high)) : high;
  }
};

extern template class NutsSampler<HostVector<float>>;
extern template class NutsSampler<HostVector<double>>;

}  // namespace smile
