// SPDX-License-Identifier: Apache-2.0
/// How fast this machine moves memory for a given mix of streams: R vectors read, U updated in place, W
/// written, with next to no arithmetic. The limit of a mix is the best of the bare loops tried for it.
#pragma once

#include <cstddef>
#include <string>

#include "smile/kernels/host_vector.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace smile::bench {

/// Pointers of a mix; unused ones stay null.
struct Streams {
  const float* read[4] = {};
  float* update[4] = {};
  float* write[2] = {};
};

/// Where the sums of bare loops go, so that the compiler keeps them.
inline volatile float bare_sink = 0;

/// Ordinary loads and stores, in the registers of the machine's oldest kind.
template <int R, int U, int W>
void bare_loop(const Streams& s, std::size_t n) {
  float sum[64] = {};
  const Streams x = s;
  for (std::size_t i = 0; i + 64 <= n; i += 64) {
    float seen[64] = {};
    for (int r = 0; r < R; ++r)
      for (std::size_t k = 0; k < 64; ++k) seen[k] += x.read[r][i + k];
    for (int u = 0; u < U; ++u)
      for (std::size_t k = 0; k < 64; ++k)
        x.update[u][i + k] = x.update[u][i + k] * 0.999999f + seen[k] * 1e-9f;
    for (int w = 0; w < W; ++w)
      for (std::size_t k = 0; k < 64; ++k) x.write[w][i + k] = seen[k];
    if (U + W == 0)
      for (std::size_t k = 0; k < 64; ++k) sum[k] += seen[k];
  }
  for (float v : sum) bare_sink = bare_sink + v;
}

#if defined(__x86_64__)
/// Registers of 16, with stores of the written vectors past the caches, and with prefetching, where asked.
template <int R, int U, int W, bool kPastCaches, bool kPrefetch>
__attribute__((target("avx512f"))) void bare_loop_avx512(const Streams& s, std::size_t n) {
  const Streams x = s;
  __m512 sum0 = _mm512_setzero_ps(), sum1 = sum0;
  const __m512 keep = _mm512_set1_ps(0.999999f), add = _mm512_set1_ps(1e-9f);
  for (std::size_t i = 0; i + 32 <= n; i += 32)
    for (std::size_t k = i; k < i + 32; k += 16) {
      if (kPrefetch) {
        for (int r = 0; r < R; ++r)
          _mm_prefetch(reinterpret_cast<const char*>(x.read[r] + k) + 2048, _MM_HINT_T0);
        for (int u = 0; u < U; ++u)
          _mm_prefetch(reinterpret_cast<const char*>(x.update[u] + k) + 2048, _MM_HINT_T0);
      }
      __m512 seen = _mm512_setzero_ps();
      for (int r = 0; r < R; ++r) seen = _mm512_add_ps(seen, _mm512_load_ps(x.read[r] + k));
      for (int u = 0; u < U; ++u) {
        const __m512 old = _mm512_load_ps(x.update[u] + k);
        _mm512_store_ps(x.update[u] + k, _mm512_fmadd_ps(old, keep, _mm512_mul_ps(seen, add)));
      }
      for (int w = 0; w < W; ++w) {
        if (kPastCaches)
          _mm512_stream_ps(x.write[w] + k, seen);
        else
          _mm512_store_ps(x.write[w] + k, seen);
      }
      if (U + W == 0) (k == i ? sum0 : sum1) = _mm512_add_ps(k == i ? sum0 : sum1, seen);
    }
  if (kPastCaches) _mm_sfence();
  alignas(64) float sums[16];
  _mm512_store_ps(sums, _mm512_add_ps(sum0, sum1));
  bare_sink = bare_sink + sums[0];
}
#endif

}  // namespace smile::bench
