// SPDX-License-Identifier: Apache-2.0
// The samplers compiled once for vectors in memory.
#include "smile/samplers/hmc.hpp"
#include "smile/samplers/ivon.hpp"
#include "smile/samplers/langevin.hpp"
#include "smile/samplers/mams.hpp"
#include "smile/samplers/mclmc.hpp"
#include "smile/samplers/microcanonical.hpp"
#include "smile/samplers/momentum_samplers.hpp"
#include "smile/samplers/nuts.hpp"
#include "smile/samplers/scale_adapted_sghmc.hpp"

namespace smile {
#define SMILE_INSTANTIATE(T)                           \
  template class MicrocanonicalSampler<HostVector<T>>; \
  template class MclmcSampler<HostVector<T>>;          \
  template class LangevinSampler<HostVector<T>>;       \
  template class SghmcSampler<HostVector<T>>;          \
  template class SgnhtSampler<HostVector<T>>;          \
  template class ScaleAdaptedSampler<HostVector<T>>;   \
  template class HmcSampler<HostVector<T>>;            \
  template class NutsSampler<HostVector<T>>;           \
  template class MamsSampler<HostVector<T>>;           \
  template class IvonSampler<HostVector<T>>;
SMILE_INSTANTIATE(float)
SMILE_INSTANTIATE(double)
#undef SMILE_INSTANTIATE
}  // namespace smile
