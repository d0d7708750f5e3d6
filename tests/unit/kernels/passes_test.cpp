// SPDX-License-Identifier: Apache-2.0
// Every vector form against the plain form, for every instruction set of the machine, at all lengths around
// the boundaries of registers and blocks.
#include "smile/kernels/passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/reference/passes.hpp"
#include "smile/instruction_set.hpp"

namespace smile {
namespace {

template <class T>
constexpr double kTolerance = sizeof(T) == 4 ? 2e-6 : 1e-11;

/// All lengths to two unrolled registers (2·2·16) plus one, then lengths around a block of sums, and odd
/// large ones.
std::vector<std::size_t> lengths() {
  std::vector<std::size_t> all;
  for (std::size_t n = 1; n <= 130; ++n) all.push_back(n);
  for (std::size_t n : {753, 1023, 1024, 1025, 2047, 2048, 2049, 5'003}) all.push_back(n);
  return all;
}

/// One state of a chain, with s² over ten decades unless told otherwise.
template <class T>
struct State {
  HostVector<T> gradient, velocity, mean, variance, position, normals;

  State(std::size_t n, unsigned seed, double decades = 10, double gradient_scale = 3)
      : gradient(n), velocity(n), mean(n), variance(n), position(n), normals(n) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (std::size_t i = 0; i < n; ++i) {
      const double s = std::max(std::pow(10.0, decades / 2 * uniform(engine)), 3.2e-4);
      gradient[i] = T(gradient_scale * s * normal(engine));
      velocity[i] = T(normal(engine) / std::sqrt(double(n)));
      mean[i] = T(0.3 * s * normal(engine));
      variance[i] = T(s * s);
      position[i] = T(normal(engine));
      normals[i] = T(normal(engine));
    }
    if (n > 3) gradient[n / 3] = velocity[n / 2] = mean[n / 4] = T{0};
  }
  Metric<HostVector<T>> metric(double relative_floor = 0.03) const {
    return {&variance, kernels::reference::normalise(variance, Normalisation::rms_floor, relative_floor)};
  }
};

void expect_near(double actual, double expected, double scale, double tolerance, const std::string& what) {
  // Written so that a NaN fails.
  EXPECT_TRUE(std::fabs(actual - expected) <= tolerance * scale)
      << what << ": " << actual << " not " << expected;
}

/// Entries agree relative to themselves and to `terms`, the size of the terms that may cancel in them (where
/// it is 0, a fifth of the largest entry). The padding is still zero.
template <class T>
void expect_equal(const HostVector<T>& actual, const HostVector<T>& expected, const std::string& what,
                  double terms = 0) {
  ASSERT_EQ(actual.size(), expected.size());
  double scale = 5 * terms;
  for (std::size_t i = 0; i < expected.size(); ++i) scale = std::max(scale, std::fabs(double(expected[i])));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = std::fabs(double(actual[i]) - double(expected[i]));
    ASSERT_TRUE(error <= kTolerance<T> * (scale * 0.2 + std::fabs(double(expected[i]))))
        << what << " [" << i << "] of " << actual.size() << ": " << actual[i] << " not " << expected[i];
  }
  for (std::size_t i = actual.size(); i < actual.padded_size(); ++i)
    ASSERT_EQ(actual[i], T{0}) << what << " padding " << i;
}

/// Entries agree each relative to itself.
template <class T>
void expect_each_equal(const HostVector<T>& actual, const HostVector<T>& expected, const std::string& what) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_TRUE(std::fabs(double(actual[i]) - double(expected[i])) <=
                kTolerance<T> * std::fabs(double(expected[i])))
        << what << " [" << i << "] of " << actual.size() << ": " << actual[i] << " not " << expected[i];
  for (std::size_t i = actual.size(); i < actual.padded_size(); ++i)
    ASSERT_EQ(actual[i], T{0}) << what << " padding " << i;
}

void expect_equal(const MomentumSums& a, const MomentumSums& e, double tolerance, const std::string& what) {
  expect_near(a.gradient_norm2, e.gradient_norm2, e.gradient_norm2, tolerance, what + " gradient_norm2");
  expect_near(a.velocity_norm2, e.velocity_norm2, e.velocity_norm2, tolerance, what + " velocity_norm2");
  expect_near(a.projection, e.projection, std::sqrt(e.gradient_norm2 * e.velocity_norm2), tolerance,
              what + " projection");
  EXPECT_EQ(a.largest, e.largest) << what;
  EXPECT_EQ(a.finite, e.finite) << what;
}

void expect_equal(const ClosingSums& a, const ClosingSums& e, double tolerance, const std::string& what) {
  expect_equal(a.now, e.now, tolerance, what + " now");
  expect_near(a.next.lower, e.next.lower, e.next.lower, tolerance, what + " lower");
  EXPECT_EQ(a.next.upper, e.next.upper) << what;
  expect_near(a.next.factor, e.next.factor, e.next.factor, tolerance, what + " factor");
  expect_near(a.next_norm2, e.next_norm2, e.next_norm2, tolerance, what + " next_norm2");
  expect_near(a.cross, e.cross, std::sqrt(e.now.gradient_norm2 * e.next_norm2), tolerance, what + " cross");
  expect_near(a.next_projection, e.next_projection, std::sqrt(e.next_norm2 * e.now.velocity_norm2), tolerance,
              what + " next_projection");
}

/// Runs each test body once for every instruction set of the machine.
template <class T>
class Passes : public ::testing::Test {
 protected:
  template <class F>
  void for_each_instruction_set(F body) {
    for (const std::string& name : available_instruction_sets()) {
      SCOPED_TRACE("instruction set " + name);
      force_instruction_set(name);
      ASSERT_EQ(instruction_set(), name);
      body();
      if (this->HasFailure()) break;
    }
    force_instruction_set("");
  }
};
using Elements = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Passes, Elements);

TYPED_TEST(Passes, ReduceEqualsReference) {
  using T = TypeParam;
  this->for_each_instruction_set([] {
    for (std::size_t n : lengths()) {
      const State<T> s(n, unsigned(n));
      const std::string at = "n = " + std::to_string(n);
      const Metric<HostVector<T>> none;
      expect_equal(kernels::reduce(s.gradient, s.velocity, s.metric()),
                   kernels::reference::reduce(s.gradient, s.velocity, s.metric()), kTolerance<T>, at);
      expect_equal(kernels::reduce(s.gradient, s.velocity, none),
                   kernels::reference::reduce(s.gradient, s.velocity, none), kTolerance<T>,
                   at + " no metric");
    }
  });
}

// Equal terms add up without cancellation, so the error of the sum itself shows.
TYPED_TEST(Passes, SumsOfManyTermsAreAccurate) {
  using T = TypeParam;
  this->for_each_instruction_set([] {
    const State<T> s(1'234'567, 5, 4);
    expect_equal(kernels::reduce(s.gradient, s.velocity, s.metric()),
                 kernels::reference::reduce(s.gradient, s.velocity, s.metric()),
                 sizeof(T) == 4 ? 1e-7 : 1e-12, "large");
    const double norm2 = kernels::reference::norm2(s.normals);
    expect_near(kernels::norm2(s.normals), norm2, norm2, sizeof(T) == 4 ? 1e-7 : 1e-12, "norm2");
  });
}

// Squares of 1e-25 and 1e25 leave the range of a float; the sums must not.
TYPED_TEST(Passes, SquaresOutsideTheRangeOfTheElementTypeAreSummed) {
  using T = TypeParam;
  this->for_each_instruction_set([] {
    for (double scale : {1e-25, 1e25}) {
      State<T> s(301, 6, 2);
      for (std::size_t i = 0; i < s.gradient.size(); ++i) s.gradient[i] = T(scale * s.gradient[i]);
      const std::string at = "scale " + std::to_string(scale);
      expect_equal(kernels::reduce(s.gradient, s.velocity, s.metric()),
                   kernels::reference::reduce(s.gradient, s.velocity, s.metric()), kTolerance<T>, at);
      const double norm2 = kernels::reference::norm2(s.gradient);
      expect_near(kernels::norm2(s.gradient), norm2, norm2, kTolerance<T>, at);
    }
  });
}

TYPED_TEST(Passes, KickAndDriftEqualReference) {
  using T = TypeParam;
  const Kick kick{0.7, -1.3};
  const double h = 0.37;
  this->for_each_instruction_set([&] {
    for (std::size_t n : lengths()) {
      const State<T> start(n, unsigned(n) + 1000, 2);
      const Metric<HostVector<T>> none;
      for (const auto& metric : {start.metric(), none}) {
        const std::string at = metric.variance ? "" : " no metric";
        State<T> fast = start, plain = start;
        kernels::kick(fast.velocity, fast.gradient, metric, kick);
        kernels::reference::kick(plain.velocity, plain.gradient, metric, kick);
        expect_equal(fast.velocity, plain.velocity, "kick" + at, 1);
        EXPECT_TRUE(kernels::drift(start.velocity, metric, start.position, fast.position, h));
        kernels::reference::drift(start.velocity, metric, start.position, plain.position, h);
        expect_equal(fast.position, plain.position, "drift" + at);
        fast = plain = start;
        EXPECT_TRUE(
            kernels::kick_drift(fast.velocity, fast.gradient, metric, kick, start.position, fast.normals, h));
        kernels::reference::kick_drift(plain.velocity, plain.gradient, metric, kick, start.position,
                                       plain.normals, h);
        expect_equal(fast.velocity, plain.velocity, "kick_drift velocity" + at, 1);
        expect_equal(fast.normals, plain.normals, "kick_drift position" + at);
        fast = start;  // in place
        kernels::kick_drift(fast.velocity, fast.gradient, metric, kick, fast.position, fast.position, h);
        expect_equal(fast.position, plain.normals, "kick_drift in place" + at);
        kernels::drift(start.velocity, metric, start.position, plain.position, h);
        fast = start;
        kernels::drift(start.velocity, metric, fast.position, fast.position, h);
        expect_equal(fast.position, plain.position, "drift in place" + at);
      }
    }
  });
}

template <class T>
std::vector<MovingEstimate> estimates() {
  return {{0.01, Centre::mean, 1e-7}, {0.2, Centre::none, 1e-3}, {0.05, Centre::authors, 1e-7}};
}

TYPED_TEST(Passes, AbsorbAndNormaliseEqualReference) {
  using T = TypeParam;
  this->for_each_instruction_set([] {
    for (std::size_t n : lengths())
      for (const MovingEstimate& estimate : estimates<T>()) {
        const std::string at = "centre " + std::to_string(int(estimate.centre)) + " n " + std::to_string(n);
        const State<T> start(n, unsigned(n) + 2000, 8);
        State<T> fast = start, plain = start;
        kernels::absorb(start.gradient, &fast.mean, fast.variance, estimate);
        kernels::reference::absorb(start.gradient, &plain.mean, plain.variance, estimate);
        expect_equal(fast.mean, plain.mean, at + " mean", 1);
        if (estimate.centre != Centre::authors)
          expect_each_equal(fast.variance, plain.variance, at + " variance");
        expect_equal(fast.variance, plain.variance, at + " variance");
        if (estimate.centre != Centre::mean) {
          State<T> without = start;
          kernels::absorb(start.gradient, static_cast<HostVector<T>*>(nullptr), without.variance, estimate);
          expect_equal(without.variance, plain.variance, at + " no mean", 1);
        }
        for (auto normalisation :
             {Normalisation::rms_floor, Normalisation::rms_absolute, Normalisation::inverse_rms}) {
          const Scaling a = kernels::normalise(plain.variance, normalisation, 0.03);
          const Scaling e = kernels::reference::normalise(plain.variance, normalisation, 0.03);
          expect_near(a.lower, e.lower, e.lower, kTolerance<T>, at + " lower");
          expect_near(a.factor, e.factor, e.factor, kTolerance<T>, at + " factor");
          EXPECT_EQ(a.upper, e.upper);
        }
      }
  });
}

TYPED_TEST(Passes, ReduceClosingEqualsReference) {
  using T = TypeParam;
  this->for_each_instruction_set([] {
    for (std::size_t n : lengths())
      for (const MovingEstimate& estimate : estimates<T>())
        for (auto normalisation :
             {Normalisation::rms_floor, Normalisation::rms_absolute, Normalisation::inverse_rms}) {
          const State<T> s(n, unsigned(n) + 3000, 6, 0.8);
          const HostVector<T>* mean = estimate.centre == Centre::mean ? &s.mean : nullptr;
          const std::string at = "n " + std::to_string(n) + " centre " +
                                 std::to_string(int(estimate.centre)) + " normalisation " +
                                 std::to_string(int(normalisation));
          for (double floor : {0.0, 0.03, 0.9})
            expect_equal(kernels::reduce_closing(s.gradient, s.velocity, mean, s.metric(floor), estimate,
                                                 normalisation, floor),
                         kernels::reference::reduce_closing(s.gradient, s.velocity, mean, s.metric(floor),
                                                            estimate, normalisation, floor),
                         kTolerance<T>, at);
        }
  });
}

/// A state whose s² stay as they are when they absorb g (g = m, and s² undone for the decay), so that a test
/// can place the next s² at will around the next floor.
template <class T>
ClosingSums closing_with(const State<T>& s, double present_floor, double relative_floor,
                         const std::string& what) {
  const MovingEstimate estimate;
  Metric<HostVector<T>> metric{&s.variance, {}};
  metric.scaling.lower = present_floor;
  metric.scaling.factor = 1.7;
  const ClosingSums fast = kernels::reduce_closing(s.gradient, s.velocity, &s.mean, metric, estimate,
                                                   Normalisation::rms_floor, relative_floor);
  expect_equal(fast,
               kernels::reference::reduce_closing(s.gradient, s.velocity, &s.mean, metric, estimate,
                                                  Normalisation::rms_floor, relative_floor),
               kTolerance<T>, what);
  return fast;
}

/// The floor that the next s² of `s` will have.
template <class T>
double next_floor(const State<T>& s, double relative_floor) {
  return kernels::reference::reduce_closing(s.gradient, s.velocity, &s.mean, s.metric(), MovingEstimate{},
                                            Normalisation::rms_floor, relative_floor)
      .next.lower;
}

template <class T>
void set_next_variance(State<T>& s, std::size_t i, double value) {
  s.mean[i] = s.gradient[i];
  s.variance[i] = T(value / 0.99);
}

TYPED_TEST(Passes, ReduceClosingHandlesEveryPlaceOfTheFloor) {
  using T = TypeParam;
  this->for_each_instruction_set([this] {
    (void)this;
    for (std::size_t n : {5, 64, 97, 753, 5000, 70'001}) {
      const std::string size = " n " + std::to_string(n);
      State<T> s(n, unsigned(n) + 4000, 2);
      const double r = 0.5;

      // None below, all below (but one), and all exactly on the floor.
      for (std::size_t i = 0; i < n; ++i) set_next_variance(s, i, i % 2 ? 1.25 : 0.75);
      EXPECT_FALSE(closing_with(s, next_floor(s, r), r, "none below" + size).swept_twice);
      for (std::size_t i = 0; i < n; ++i) set_next_variance(s, i, i + 1 == n ? double(n) : 0.01);
      EXPECT_FALSE(closing_with(s, next_floor(s, r), r, "all but one below" + size).swept_twice);
      for (std::size_t i = 0; i < n; ++i) set_next_variance(s, i, 1);
      closing_with(s, 1, 1, "all on the floor" + size);
      closing_with(s, 0.25, 0.5, "all above" + size);

      // Every third entry on the floor or within a hair of it, on both sides; the others lift the mean to 1.
      const double on_floor = std::ceil(double(n) / 3), rest = double(n) - on_floor;
      for (std::size_t i = 0; i < n; ++i) {
        const double near = 0.25 * (1 + (double(i % 7) - 3) * 1e-6);
        set_next_variance(s, i, i % 3 == 0 ? near : (double(n) - 0.25 * on_floor) / rest);
      }
      const double floor = next_floor(s, r);
      ASSERT_NEAR(floor, 0.25, 1e-5);
      // A third of the entries fits beside a short vector only.
      const bool fits = n / 3 < 4000;
      EXPECT_NE(closing_with(s, floor, r, "on the edge" + size).swept_twice, fits);
      EXPECT_NE(closing_with(s, floor / 1.04, r, "floor grew" + size).swept_twice, fits);
      EXPECT_NE(closing_with(s, floor / 0.991, r, "floor fell" + size).swept_twice, fits);

      // The floor jumps tenfold, up and down, or was unknown.
      EXPECT_TRUE(closing_with(s, floor / 10, r, "floor rose tenfold" + size).swept_twice);
      EXPECT_TRUE(closing_with(s, floor * 10, r, "floor fell tenfold" + size).swept_twice);
      EXPECT_TRUE(closing_with(s, 0, r, "no floor before" + size).swept_twice);
    }
  });
}

TYPED_TEST(Passes, CloseAndOpenEqualsReference) {
  using T = TypeParam;
  const Kick closing{0.4, 0.8}, opening{-0.3, 1.1};
  this->for_each_instruction_set([&] {
    std::vector<std::size_t> sizes = lengths();
    sizes.push_back(2'200'003);  // stores past the caches
    for (std::size_t n : sizes)
      for (const MovingEstimate& estimate : estimates<T>()) {
        if (n > 100'000 && estimate.centre != Centre::mean) continue;
        const State<T> start(n, unsigned(n) + 5000, 2, 1);
        const Scaling now = start.metric().scaling;
        HostVector<T> next_variance = start.variance, next_mean = start.mean;
        kernels::reference::absorb(start.gradient, &next_mean, next_variance, estimate);
        const Scaling next = kernels::reference::normalise(next_variance, Normalisation::rms_floor, 0.03);
        const std::string at = "n " + std::to_string(n) + " centre " + std::to_string(int(estimate.centre));

        State<T> fast = start, plain = start;
        HostVector<T> fast_next(n, T{9}), plain_next(n), fast_position(n, T{9}), plain_position(n);
        HostVector<T>* fast_mean = estimate.centre == Centre::mean ? &fast.mean : nullptr;
        EXPECT_TRUE(kernels::close_and_open(fast.velocity, fast_next, fast.gradient, fast_mean,
                                            &fast.variance, now, next, estimate, closing, opening,
                                            fast.position, fast_position, 0.21));
        kernels::reference::close_and_open(plain.velocity, plain_next, plain.gradient, &plain.mean,
                                           &plain.variance, now, next, estimate, closing, opening,
                                           plain.position, plain_position, 0.21);
        expect_equal(fast.velocity, plain.velocity, at + " velocity", 1);
        expect_equal(fast_next, plain_next, at + " next velocity", 1);
        expect_equal(fast.mean, plain.mean, at + " mean", 1);
        expect_equal(fast.variance, plain.variance, at + " variance");
        expect_equal(fast_position, plain_position, at + " position", 1);
        expect_equal(fast.position, start.position, at + " old position", 1);

        fast = plain = start;
        HostVector<T>* null = nullptr;
        EXPECT_TRUE(kernels::close_and_open(fast.velocity, fast_next, fast.gradient, null, null, {}, {},
                                            estimate, closing, opening, fast.position, fast_position, 0.21));
        kernels::reference::close_and_open(plain.velocity, plain_next, plain.gradient, null, null, {}, {},
                                           estimate, closing, opening, plain.position, plain_position, 0.21);
        expect_equal(fast.velocity, plain.velocity, at + " plain velocity", 1);
        expect_equal(fast_next, plain_next, at + " plain next velocity", 1);
        expect_equal(fast_position, plain_position, at + " plain position", 1);
      }
  });
}

// What reduce_closing foretells is what the passes that follow find.
TYPED_TEST(Passes, ClosingSumsForetellTheNextReduction) {
  using T = TypeParam;
  this->for_each_instruction_set([] {
    const std::size_t n = 5003;
    State<T> s(n, 17, 4);
    const MovingEstimate estimate;
    const auto metric = s.metric();
    const ClosingSums sums = kernels::reduce_closing(s.gradient, s.velocity, &s.mean, metric, estimate,
                                                     Normalisation::rms_floor, 0.03);
    kernels::absorb(s.gradient, &s.mean, s.variance, estimate);
    const Scaling next = kernels::normalise(s.variance, Normalisation::rms_floor, 0.03);
    expect_near(sums.next.lower, next.lower, next.lower, kTolerance<T>, "lower");
    expect_near(sums.next.factor, next.factor, next.factor, kTolerance<T>, "factor");
    const MomentumSums later = kernels::reduce(s.gradient, s.velocity, {&s.variance, next});
    expect_near(sums.next_norm2, later.gradient_norm2, later.gradient_norm2, kTolerance<T>, "norm2");
    expect_near(sums.next_projection, later.projection, std::sqrt(later.gradient_norm2), kTolerance<T>,
                "projection");
  });
}

TYPED_TEST(Passes, NonFiniteEntriesAreSeenAtEveryPosition) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  this->for_each_instruction_set([] {
    for (std::size_t n : {1, 5, 16, 33, 64, 65, 131, 2051}) {
      const State<T> good(n, unsigned(n) + 6000, 2);
      EXPECT_TRUE(kernels::all_finite(good.gradient));
      const std::size_t stride = n < 200 ? 1 : 61;
      for (std::size_t i = 0; i < n; i += stride)
        for (T bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
          const std::string at =
              "n " + std::to_string(n) + " i " + std::to_string(i) + " " + std::to_string(bad);
          State<T> s = good;
          s.gradient[i] = bad;
          const MomentumSums expected = kernels::reference::examine(s.gradient);
          for (const MomentumSums& sums :
               {kernels::examine(s.gradient), kernels::reduce(s.gradient, s.velocity, s.metric()),
                kernels::reduce(s.gradient, s.velocity, Metric<HostVector<T>>{}),
                kernels::reduce_closing(s.gradient, s.velocity, &s.mean, s.metric(), MovingEstimate{},
                                        Normalisation::rms_floor, 0.03)
                    .now}) {
            EXPECT_FALSE(sums.finite) << at;
            EXPECT_EQ(sums.largest, expected.largest) << at;
          }
          EXPECT_FALSE(kernels::all_finite(s.gradient)) << at;

          State<T> p = good;
          p.position[i] = bad;
          HostVector<T> out(n), next(n);
          EXPECT_FALSE(kernels::drift(p.velocity, p.metric(), p.position, out, 0.1)) << at;
          EXPECT_FALSE(
              kernels::kick_drift(p.velocity, p.gradient, p.metric(), Kick{0.1, 1}, p.position, out, 0.1))
              << at;
          EXPECT_FALSE(kernels::close_and_open(p.velocity, next, p.gradient, &p.mean, &p.variance,
                                               good.metric().scaling, good.metric().scaling, MovingEstimate{},
                                               Kick{}, Kick{}, p.position, out, 0.1))
              << at;
          HostVector<T>* null = nullptr;
          EXPECT_FALSE(kernels::close_and_open(p.velocity, next, p.gradient, null, null, {}, {},
                                               MovingEstimate{}, Kick{}, Kick{}, p.position, out, 0.1))
              << at;
        }
    }
  });
}

TYPED_TEST(Passes, ClipEqualsReferenceAlsoForNonFiniteEntries) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  this->for_each_instruction_set([] {
    for (std::size_t n : {1, 7, 64, 100, 753})
      for (bool zero_nan : {false, true}) {
        State<T> fast(n, unsigned(n), 2);
        fast.gradient[n / 2] = Limits::quiet_NaN();
        if (n > 3) fast.gradient[1] = Limits::infinity(), fast.gradient[2] = -Limits::infinity();
        State<T> plain = fast;
        kernels::clip(fast.gradient, 0.75, zero_nan);
        kernels::reference::clip(plain.gradient, 0.75, zero_nan);
        for (std::size_t i = 0; i < fast.gradient.padded_size(); ++i) {
          if (std::isnan(plain.gradient[i]))
            EXPECT_TRUE(std::isnan(fast.gradient[i])) << i;
          else
            EXPECT_EQ(fast.gradient[i], plain.gradient[i]) << i;
        }
      }
  });
}

TYPED_TEST(Passes, RefreshmentAndNormsEqualReference) {
  using T = TypeParam;
  this->for_each_instruction_set([] {
    for (std::size_t n : lengths()) {
      const State<T> start(n, unsigned(n) + 7000);
      State<T> fast = start, plain = start;
      kernels::refresh(fast.velocity, start.normals, 0.01);
      kernels::reference::refresh(plain.velocity, start.normals, 0.01);
      expect_equal(fast.velocity, plain.velocity, "refresh");
      expect_near(kernels::norm2(fast.velocity), 1, 1, kTolerance<T>, "norm");
      kernels::unit_direction(fast.velocity, start.normals);
      kernels::reference::unit_direction(plain.velocity, start.normals);
      expect_equal(fast.velocity, plain.velocity, "unit_direction");
      const double norm2 = kernels::reference::norm2(start.normals);
      expect_near(kernels::norm2(start.normals), norm2, norm2, kTolerance<T>, "norm2");
      EXPECT_EQ(kernels::examine(start.gradient).largest,
                kernels::reference::examine(start.gradient).largest);
      EXPECT_TRUE(kernels::examine(start.gradient).finite);
    }
  });
}

TYPED_TEST(Passes, StirringAddsTheNormalsOfTheStream) {
  using T = TypeParam;
  this->for_each_instruction_set([] {
    for (std::size_t n :
         {std::size_t(1), std::size_t(63), std::size_t(700), std::size_t(2048), std::size_t(5000)}) {
      const State<T> start(n, unsigned(n) + 7000);
      const StreamKey key{3, 4, Purpose::opening_refreshment};
      HostVector<T> z(n), out(n), expected = start.velocity;
      fill_normals(key, 9, z.span());
      const double norm2 = kernels::stir(start.velocity, out, 0.5, key, 9);
      for (std::size_t i = 0; i < n; ++i) expected[i] = T(start.velocity[i] + T(0.5) * z[i]);
      expect_equal(out, expected, "stir");
      expect_near(norm2, kernels::reference::norm2(out), norm2, kTolerance<T>, "norm2");
      for (std::size_t i = n; i < out.padded_size(); ++i) EXPECT_EQ(out[i], T{0});
      HostVector<T> same = start.velocity;
      EXPECT_EQ(kernels::stir(same, same, 0.5, key, 9), norm2);
    }
  });
}

TYPED_TEST(Passes, BaselineUpdatesEqualReference) {
  using T = TypeParam;
  this->for_each_instruction_set([] {
    for (std::size_t n : lengths()) {
      const State<T> start(n, unsigned(n) + 8000, 2, 1);
      State<T> fast = start, plain = start;
      kernels::add_scaled(fast.position, start.gradient, 0.3, start.normals, 0.7);
      kernels::reference::add_scaled(plain.position, start.gradient, 0.3, start.normals, 0.7);
      expect_equal(fast.position, plain.position, "add_scaled", 1);
      for (bool first : {true, false}) {
        const kernels::PsgldUpdate update{0.01, 0.5, 0.9, 1e-5, 1.0 / 77, first};
        kernels::psgld_update(fast.position, fast.variance, start.gradient, start.normals, update);
        kernels::reference::psgld_update(plain.position, plain.variance, start.gradient, start.normals,
                                         update);
        expect_equal(fast.position, plain.position, "psgld position", 1);
        expect_equal(fast.variance, plain.variance, "psgld variance");
        plain = fast;  // the next comparison from equal states
      }
      fast = plain = start;
      const double norm2 = kernels::reference::momentum_update(plain.position, plain.velocity, start.gradient,
                                                               start.normals, .9, .2, .3, .4);
      expect_near(kernels::momentum_update(fast.position, fast.velocity, start.gradient, start.normals, .9,
                                           .2, .3, .4),
                  norm2, std::max(norm2, 1.0), kTolerance<T>, "momentum_update");
      expect_equal(fast.velocity, plain.velocity, "momentum_update velocity", 1);
      expect_equal(fast.position, plain.position, "momentum_update position", 1);
      fast = plain = start;
      HostVector<T> fast_tau(n, T{3}), plain_tau = fast_tau;
      kernels::adapt_scale(fast_tau, fast.mean, fast.variance, start.gradient);
      kernels::reference::adapt_scale(plain_tau, plain.mean, plain.variance, start.gradient);
      expect_equal(fast_tau, plain_tau, "adapt_scale tau");
      expect_equal(fast.mean, plain.mean, "adapt_scale mean", 1);
      expect_equal(fast.variance, plain.variance, "adapt_scale variance");
      fast = plain = start;
      kernels::adapt_rms(fast.variance, start.gradient, 0.9);
      kernels::reference::adapt_rms(plain.variance, start.gradient, 0.9);
      expect_each_equal(fast.variance, plain.variance, "adapt_rms");
      kernels::scaled_momentum_update(fast.position, fast.velocity, start.variance, start.gradient,
                                      start.normals, 0.02, 0.05);
      kernels::reference::scaled_momentum_update(plain.position, plain.velocity, start.variance,
                                                 start.gradient, start.normals, 0.02, 0.05);
      expect_equal(fast.velocity, plain.velocity, "scaled_momentum_update velocity", 1);
      expect_equal(fast.position, plain.position, "scaled_momentum_update position", 1);
    }
  });
}

TEST(InstructionSet, AnUnknownNameIsRefusedWithTheKnownOnes) {
  try {
    force_instruction_set("avx1024");
    FAIL() << "accepted";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("avx1024"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find(available_instruction_sets().back()), std::string::npos);
  }
}

}  // namespace
}  // namespace smile
