/// A flat vector on any device of LibTorch, and the fused passes on it. The samplers are templates over the
/// vector: a chain on a GPU is the same text as a chain on the host.
///
/// Include this header before the samplers': their templates find the passes that are declared by then.
#pragma once

#include <torch/torch.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "smile/archive.hpp"
#include "smile/kernels/passes.hpp"

namespace smile {

/// Owning vector of single precision with value semantics: copies are copies of the numbers.
class TensorVector {
 public:
  using value_type = float;
  /// Scalars of the dynamics are double whatever the element type (spec 1.3).
  using Scalar = double;

  /// Vectors that are made on this thread while one of these lives are on its device.
  class OnDevice {
   public:
    explicit OnDevice(torch::Device device);
    ~OnDevice();
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

   private:
    torch::Device before_;
  };

  TensorVector() = default;
  /// Zeros on the thread's device (see OnDevice; the CPU by default).
  explicit TensorVector(std::size_t size, float value = 0);
  /// Takes the tensor as it is. @param tensor @shape [d], contiguous, float32
  explicit TensorVector(torch::Tensor tensor) : tensor_(std::move(tensor)) {}
  TensorVector(const TensorVector& other) { *this = other; }
  TensorVector(TensorVector&&) noexcept = default;
  TensorVector& operator=(const TensorVector& other);
  TensorVector& operator=(TensorVector&&) noexcept = default;

  std::size_t size() const { return tensor_.defined() ? std::size_t(tensor_.numel()) : 0; }
  void swap(TensorVector& other) noexcept { std::swap(tensor_, other.tensor_); }
  const torch::Tensor& tensor() const { return tensor_; }

  /// Bytes of an archive are those of a host vector.
  void serialise(Archive& archive);

 private:
  torch::Tensor tensor_;
};

inline void swap(TensorVector& a, TensorVector& b) noexcept {
  a.swap(b);
}

/// The passes of kernels/passes.hpp with the same contracts. Each is a few fused operations, and fetches its
/// scalars from the device at once. Sums accumulate in double.
namespace kernels {

inline void take_where(TensorVector& x, TensorVector& y, bool chains) {
  if (chains) x.swap(y);
}
inline void copy_where(TensorVector& x, const TensorVector& y, bool chains) {
  if (chains) x = y;
}

MomentumSums reduce(const TensorVector& gradient, const TensorVector& velocity,
                    const Metric<TensorVector>& metric);
bool kick_drift(TensorVector& velocity, const TensorVector& gradient, const Metric<TensorVector>& metric,
                Kick kick, const TensorVector& position_in, TensorVector& position_out, double drift);
void kick(TensorVector& velocity, const TensorVector& gradient, const Metric<TensorVector>& metric,
          Kick kick);
bool drift(const TensorVector& velocity, const Metric<TensorVector>& metric, const TensorVector& position_in,
           TensorVector& position_out, double drift);
ClosingSums reduce_closing(const TensorVector& gradient, const TensorVector& velocity,
                           const TensorVector* mean, const Metric<TensorVector>& metric,
                           const MovingEstimate& estimate, Normalisation normalisation,
                           double relative_floor);
bool close_and_open(TensorVector& velocity, TensorVector& velocity_next, const TensorVector& gradient,
                    TensorVector* mean, TensorVector* variance, const Scaling& now, const Scaling& next,
                    const MovingEstimate& estimate, Kick closing, Kick opening,
                    const TensorVector& position_in, TensorVector& position_out, double drift);
void absorb(const TensorVector& gradient, TensorVector* mean, TensorVector& variance,
            const MovingEstimate& estimate);
Scaling normalise(const TensorVector& variance, Normalisation normalisation, double relative_floor);
void refresh(TensorVector& velocity, const TensorVector& normals, double nu);
void unit_direction(TensorVector& velocity, const TensorVector& normals);
MomentumSums examine(const TensorVector& gradient);
void clip(TensorVector& gradient, double limit, bool zero_nan);
bool all_finite(const TensorVector& vector);
double norm2(const TensorVector& vector);
void add_scaled(TensorVector& position, const TensorVector& gradient, double a, const TensorVector& normals,
                double b);
void psgld_update(TensorVector& position, TensorVector& variance, const TensorVector& gradient,
                  const TensorVector& normals, const PsgldUpdate& update);
double momentum_update(TensorVector& position, TensorVector& momentum, const TensorVector& gradient,
                       const TensorVector& normals, double a, double b, double c, double e);
void adapt_scale(TensorVector& tau, TensorVector& mean, TensorVector& variance,
                 const TensorVector& kept_gradient);
void adapt_rms(TensorVector& variance, const TensorVector& kept_gradient, double rho);
void scaled_momentum_update(TensorVector& position, TensorVector& momentum, const TensorVector& variance,
                            const TensorVector& gradient, const TensorVector& normals, double step_size,
                            double friction);

}  // namespace kernels
}  // namespace smile
