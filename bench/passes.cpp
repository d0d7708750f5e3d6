// SPDX-License-Identifier: Apache-2.0
// The fused passes: checked against the plain forms, then timed in turn with bare loops that move the same
// streams of memory. Counted bytes are the vectors that a pass must read and write, 4 bytes an element each.
//   bench_passes [--json FILE] [--rounds N] [--d N …]
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "fcn_timing.hpp"
#include "kernels/reference/passes.hpp"
#include "memory_limit.hpp"
#include "passes_step.hpp"
#include "smile/instruction_set.hpp"
#include "smile/random/stream.hpp"

namespace {

using namespace smile;
using bench::Candidate;
using bench::PassState;
using bench::Streams;

double largest_difference(const HostVector<float>& a, const HostVector<float>& b) {
  double error = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i])) return HUGE_VAL;
    error = std::max(error, std::fabs(double(a[i]) - double(b[i])));
    scale = std::max(scale, std::fabs(double(b[i])));
  }
  return error / scale;
}

double difference(double a, double b) {
  return std::isfinite(a) ? std::fabs(a - b) / std::fabs(b) : HUGE_VAL;
}

/// Largest relative difference between one step by the fast passes and by the plain ones.
double check(std::size_t d) {
  PassState fast(d);
  fast.estimate.rate = 0.01;
  const PassState start = fast;
  namespace ref = kernels::reference;
  const auto metric = start.metric();
  const MomentumSums sums = kernels::reduce(start.gradient, start.velocity, metric);
  const MomentumSums plain_sums = ref::reduce(start.gradient, start.velocity, metric);
  double worst = std::max(difference(sums.gradient_norm2, plain_sums.gradient_norm2),
                          difference(sums.velocity_norm2, plain_sums.velocity_norm2));
  const ClosingSums closing =
      kernels::reduce_closing(start.gradient, start.velocity, &start.mean, metric, start.estimate,
                              Normalisation::rms_floor, bench::kRelativeFloor);
  const ClosingSums plain_closing =
      ref::reduce_closing(start.gradient, start.velocity, &start.mean, metric, start.estimate,
                          Normalisation::rms_floor, bench::kRelativeFloor);
  worst = std::max({worst, difference(closing.next_norm2, plain_closing.next_norm2),
                    difference(closing.cross, plain_closing.cross),
                    difference(closing.next.lower, plain_closing.next.lower),
                    difference(closing.next.factor, plain_closing.next.factor)});
  PassState plain = start;
  const Kick kick{0.001, 0.9}, opening{0.002, 1.1};
  kernels::kick_drift(fast.velocity, fast.gradient, {&fast.variance, fast.scaling}, kick, fast.position,
                      fast.position, 0.3);
  ref::kick_drift(plain.velocity, plain.gradient, {&plain.variance, plain.scaling}, kick, plain.position,
                  plain.position, 0.3);
  kernels::close_and_open(fast.velocity, fast.velocity_next, fast.gradient, &fast.mean, &fast.variance,
                          fast.scaling, plain_closing.next, fast.estimate, kick, opening, fast.position,
                          fast.position_next, 0.2);
  ref::close_and_open(plain.velocity, plain.velocity_next, plain.gradient, &plain.mean, &plain.variance,
                      plain.scaling, plain_closing.next, plain.estimate, kick, opening, plain.position,
                      plain.position_next, 0.2);
  return std::max({worst, largest_difference(fast.velocity, plain.velocity),
                   largest_difference(fast.velocity_next, plain.velocity_next),
                   largest_difference(fast.mean, plain.mean),
                   largest_difference(fast.variance, plain.variance),
                   largest_difference(fast.position_next, plain.position_next)});
}

struct Pass {
  Candidate work;
  double bytes;                   ///< counted, per parameter
  std::vector<Candidate> limits;  ///< bare loops of the same mix
};

template <int R, int U, int W>
std::vector<Candidate> bare_loops(const Streams& s, std::size_t n) {
  std::vector<Candidate> loops;
  loops.push_back({"plain", [s, n] { bench::bare_loop<R, U, W>(s, n); }});
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    loops.push_back({"registers", [s, n] { bench::bare_loop_avx512<R, U, W, false, false>(s, n); }});
    loops.push_back({"prefetching", [s, n] { bench::bare_loop_avx512<R, U, W, false, true>(s, n); }});
    if (W > 0) {
      loops.push_back({"past caches", [s, n] { bench::bare_loop_avx512<R, U, W, true, false>(s, n); }});
      loops.push_back(
          {"past caches, prefetching", [s, n] { bench::bare_loop_avx512<R, U, W, true, true>(s, n); }});
    }
  }
#endif
  return loops;
}

/// The least time over the bare loops, round by round.
Candidate best_of(const std::vector<Candidate>& loops) {
  const Candidate* best = &loops.front();
  for (const Candidate& loop : loops)
    if (loop.median() < best->median()) best = &loop;
  return *best;
}

bool measure(std::size_t d, int rounds, std::vector<std::string>& json) {
  const double error = check(d);
  const bool right = error <= 5e-6;
  fmt::print("d = {}: largest difference from the plain forms {:.1e}{}\n", d, error,
             right ? "" : "  TOO LARGE");
  if (!right) return false;

  PassState s(d);
  const Kick still{1e-9, 1};
  const std::size_t n = s.velocity.padded_size();
  double sink = 0;
  // The bare loops run on the same memory; they keep its values as good as unchanged.
  HostVector<float> spare_a(d), spare_b(d);
  Streams reduce, kick_drift, closing, open;
  reduce.read[0] = closing.read[0] = kick_drift.read[0] = open.read[0] = s.gradient.data();
  reduce.read[1] = closing.read[1] = s.velocity.data();
  reduce.read[2] = closing.read[2] = kick_drift.read[1] = s.variance.data();
  closing.read[3] = s.mean.data();
  kick_drift.update[0] = open.update[0] = s.velocity_next.data();
  kick_drift.update[1] = s.position_next.data();
  open.read[1] = s.position.data();
  open.update[1] = spare_a.data();
  open.update[2] = spare_b.data();
  open.write[0] = s.velocity_next.data();
  open.write[1] = s.position_next.data();
  HostVector<float> spare_c(d);
  open.update[0] = spare_c.data();

  std::vector<Pass> passes;
  passes.push_back(
      {{"reduce", [&] { sink += kernels::reduce(s.gradient, s.velocity, s.metric()).projection; }},
       12,
       bare_loops<3, 0, 0>(reduce, n)});
  passes.push_back({{"kick_drift",
                     [&] {
                       kernels::kick_drift(s.velocity, s.gradient, s.metric(), still, s.position, s.position,
                                           1e-9);
                     }},
                    24,
                    bare_loops<2, 2, 0>(kick_drift, n)});
  passes.push_back({{"reduce_closing",
                     [&] {
                       sink +=
                           kernels::reduce_closing(s.gradient, s.velocity, &s.mean, s.metric(), s.estimate,
                                                   Normalisation::rms_floor, bench::kRelativeFloor)
                               .cross;
                     }},
                    16,
                    bare_loops<4, 0, 0>(closing, n)});
  passes.push_back({{"close_and_open",
                     [&] {
                       kernels::close_and_open(s.velocity, s.velocity_next, s.gradient, &s.mean, &s.variance,
                                               s.scaling, s.scaling, s.estimate, still, still, s.position,
                                               s.position_next, 1e-9);
                     }},
                    40,
                    bare_loops<2, 3, 2>(open, n)});

  for (Pass& pass : passes) {
    std::vector<Candidate> turns = pass.limits;
    turns.insert(turns.begin(), pass.work);
    bench::run_rounds(turns, rounds, 0.004);
    pass.work = turns.front();
    pass.limits.assign(turns.begin() + 1, turns.end());
  }

  double step = 0, step_limit = 0, step_bytes = 0;
  fmt::print("  {:<16}{:>12}{:>10}{:>8}{:>9}{:>12}{:>9}  (limit: {})\n", "pass", "ns", "ns/param", "bytes",
             "GB/s", "limit GB/s", "of limit", "best bare loop");
  const auto line = [&](const std::string& name, double seconds, double bytes, double limit,
                        const std::string& how) {
    const double total = bytes * double(d);
    fmt::print("  {:<16}{:>12.0f}{:>10.4f}{:>8.0f}{:>9.1f}{:>12.1f}{:>8.0f}%  {}\n", name, 1e9 * seconds,
               1e9 * seconds / double(d), bytes, 1e-9 * total / seconds, 1e-9 * total / limit,
               100 * limit / seconds, how);
    json.push_back(fmt::format(
        R"({{"d": {}, "pass": "{}", "ns": {:.1f}, "ns_per_parameter": {:.5f}, "bytes_per_parameter": {}, "gb_per_s": {:.2f}, "limit_gb_per_s": {:.2f}, "of_limit": {:.3f}}})",
        d, name, 1e9 * seconds, 1e9 * seconds / double(d), bytes, 1e-9 * total / seconds,
        1e-9 * total / limit, limit / seconds));
  };
  for (const Pass& pass : passes) {
    const Candidate best = best_of(pass.limits);
    const double ratio = bench::paired_ratio(best, pass.work), seconds = pass.work.median();
    line(pass.work.name, seconds, pass.bytes, ratio * seconds, best.name);
    step += seconds;
    step_limit += ratio * seconds;
    step_bytes += pass.bytes;
  }
  line("step", step, step_bytes, step_limit, "sum of the four");

  // The passes that the default sampler has beside reduce and kick_drift: noise made in the sweep that uses
  // it, the opening drift, and in warm-up the preconditioner by itself.
  std::vector<Candidate> own;
  own.push_back({"stir", [&] {
                   sink += kernels::stir(s.velocity, s.velocity_next, 1e-9, {1, 0, Purpose::noise}, 1);
                 }});
  own.push_back(
      {"drift", [&] { kernels::drift(s.velocity, s.metric(), s.position, s.position_next, 1e-9); }});
  own.push_back({"absorb", [&] { kernels::absorb(s.gradient, &s.mean, s.variance, s.estimate); }});
  own.push_back({"normalise",
                 [&] { sink += kernels::normalise(s.variance, Normalisation::half_reference, 0).factor; }});
  bench::run_rounds(own, rounds, 0.004);
  const double bytes_of[] = {8, 16, 20, 8};
  double sampling = passes[0].work.median() + passes[1].work.median(), warmup = sampling;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const double seconds = own[i].median();
    fmt::print("  {:<16}{:>12.0f}{:>10.4f}{:>8.0f}{:>9.1f}\n", own[i].name, 1e9 * seconds,
               1e9 * seconds / double(d), bytes_of[i], 1e-9 * bytes_of[i] * double(d) / seconds);
    warmup += seconds;
    if (i < 2) sampling += seconds;
  }
  fmt::print("  {:<16}{:>12.0f}{:>10.4f}{:>8}\n  {:<16}{:>12.0f}{:>10.4f}{:>8}\n", "default, draws",
             1e9 * sampling, 1e9 * sampling / double(d), 60, "default, warm-up", 1e9 * warmup,
             1e9 * warmup / double(d), 88);

  std::vector<Candidate> normals;
  normals.push_back({"fill_normals", [&] {
                       fill_normals({1, 0, Purpose::noise}, 1, s.velocity_next.span());
                     }});
  bench::run_rounds(normals, rounds / 2 + 1, 0.004);
  fmt::print("  {:<16}{:>12.0f}{:>10.4f}\n", "fill_normals", 1e9 * normals[0].median(),
             1e9 * normals[0].median() / double(d));
  json.push_back(
      fmt::format(R"({{"d": {}, "pass": "fill_normals", "ns": {:.1f}, "ns_per_parameter": {:.5f}}})", d,
                  1e9 * normals[0].median(), 1e9 * normals[0].median() / double(d)));
  return std::isfinite(sink);
}

}  // namespace

int main(int argc, char** argv) {
  std::string path;
  int rounds = 31;
  std::vector<std::size_t> sizes;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--json")) path = argv[i + 1];
    if (!std::strcmp(argv[i], "--rounds")) rounds = std::atoi(argv[i + 1]);
    if (!std::strcmp(argv[i], "--d")) sizes.push_back(std::strtoull(argv[i + 1], nullptr, 10));
  }
  if (sizes.empty()) sizes = {753, 61706, 1234567, 11173962};
  fmt::print("instruction set {}, one thread, {} rounds\n", instruction_set(), rounds);
  std::vector<std::string> json;
  bool good = true;
  for (std::size_t d : sizes) good = measure(d, rounds, json) && good;
  if (!path.empty()) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (!file) {
      fmt::print(stderr, "cannot write {}\n", path);
      return 1;
    }
    fmt::print(file, "[\n");
    for (std::size_t i = 0; i < json.size(); ++i)
      fmt::print(file, "  {}{}\n", json[i], i + 1 < json.size() ? "," : "");
    fmt::print(file, "]\n");
    std::fclose(file);
  }
  return good ? 0 : 1;
}
