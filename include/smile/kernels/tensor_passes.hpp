// SPDX-License-Identifier: Apache-2.0
/// The passes of passes.hpp on LibTorch's tensors, with the same contracts, as declarations: the samplers'
/// templates find them whatever is included first, and nothing here needs LibTorch. Defined in smile::torch:
/// each is a few fused operations that fetch their scalars from the device at once; sums accumulate in
/// double.
#pragma once

namespace smile {

class TensorVector;

namespace kernels {

void take_where(TensorVector& x, TensorVector& y, bool chains);
void copy_where(TensorVector& x, const TensorVector& y, bool chains);
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
