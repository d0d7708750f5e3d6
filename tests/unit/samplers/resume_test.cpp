// SPDX-License-Identifier: Apache-2.0
// A sampler saved at any step boundary and restored goes on bit for bit, whether the restored one had been
// started or not.
#include <gtest/gtest.h>

#include <cmath>

#include "sampler_kinds.hpp"
#include "support/quadratic_target.hpp"
#include "support/stream_normals.hpp"

namespace smile {
namespace {

using test::F;
using test::Kind;
using test::kinds;
using test::kSampling;
using test::kWarmup;

class Resume : public testing::TestWithParam<Kind> {
 protected:
  test::QuadraticTarget<float> target() const {
    std::vector<std::vector<double>> noise(kWarmup + 2 * kSampling, std::vector<double>(4));
    for (std::size_t t = 0; t < noise.size(); ++t) fill_normals({8, 0, Purpose::gradient_noise}, t, noise[t]);
    // Refused steps at both ends of the phases, and one just before a point of interruption.
    return {{{1, 0.2, 0, 0.1}, {0.2, 2, 0.3, 0}, {0, 0.3, 0.8, 0}, {0.1, 0, 0, 3}},
            {0.3, -0.1, 0.2, 0.5},
            noise,
            {{1, 0, false, 0, std::nan("")}, {31, 0, true, 2, std::nan("")}, {70, 0, true, 0, HUGE_VAL}}};
  }
};

TEST_P(Resume, goes_on_bit_for_bit) {
  auto whole = GetParam().make();
  auto target = this->target();
  test::StreamNormals<float> normals(6);
  const F start = test::host<float>({0.4, -0.2, 0.9, 0.1});
  whole->start(start, target, normals);
  const std::uint64_t steps = whole->total_steps();

  for (const std::uint64_t interruption : {0, 1, 2, 17, 31, 49, 57, 60, 63, 70, 77}) {
    for (const bool started : {false, true}) {
      SCOPED_TRACE("interrupted after step " + std::to_string(interruption));
      auto first = GetParam().make();
      auto first_target = this->target();
      first->start(start, first_target, normals);
      for (std::uint64_t t = 1; t <= interruption; ++t) first->step(first_target, normals, t);
      Archive saved;
      first->serialise(saved);

      auto second = GetParam().make();
      auto second_target = this->target();
      if (started) second->start(start, second_target, normals);
      Archive read(saved.bytes());
      second->serialise(read);
      EXPECT_TRUE(read.exhausted());
      Archive again;
      second->serialise(again);
      EXPECT_TRUE(again.bytes() == saved.bytes());
      for (std::uint64_t t = interruption + 1; t <= steps; ++t) {
        const auto a = first->step(first_target, normals, t), b = second->step(second_target, normals, t);
        ASSERT_EQ(a.refusal, b.refusal) << "step " << t;
        ASSERT_EQ(a.next_step_size, b.next_step_size) << "step " << t;
        ASSERT_EQ(test::plain(first->position()), test::plain(second->position())) << "step " << t;
      }
      Archive end_a, end_b;
      first->serialise(end_a), second->serialise(end_b);
      EXPECT_TRUE(end_a.bytes() == end_b.bytes());
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Samplers, Resume, testing::ValuesIn(kinds()),
                         [](const auto& kind) { return std::string(kind.param.name); });

/// A chain that is moved goes on from there, with the step size it had, and what it then carries is of the
/// new place: saved and restored it goes on in the same way.
class MoveTo : public Resume {};
TEST_P(MoveTo, goes_on_from_there_with_what_was_tuned) {
  auto sampler = GetParam().make();
  if (std::string(GetParam().name) == "ivon") GTEST_SKIP() << "its draws are independent";
  auto target = this->target();
  test::StreamNormals<float> normals(6);
  const F start = test::host<float>({0.4, -0.2, 0.9, 0.1}), there = test::host<float>({0.5, -0.3, 0.7, 0.2});
  sampler->start(start, target, normals);
  double next = 0;
  for (std::uint64_t t = 1; t <= kWarmup; ++t) next = sampler->step(target, normals, t).next_step_size;
  sampler->move_to(there);
  EXPECT_EQ(test::plain(sampler->position()), test::plain(there));
  Archive saved;
  sampler->serialise(saved);
  auto second = GetParam().make();
  Archive read(saved.bytes());
  second->serialise(read);
  auto second_target = this->target();
  bool moved = false;
  for (std::uint64_t t = kWarmup + 1; t <= sampler->total_steps(); ++t) {
    const auto report = sampler->step(target, normals, t);
    second->step(second_target, normals, t);
    if (t == kWarmup + 1) {
      EXPECT_DOUBLE_EQ(report.step_size, next);
    }
    EXPECT_TRUE(!report.accepted() || std::isfinite(report.log_density)) << t;
    // The noise of this target leaves hmc, nuts and mams a step of no length.
    moved = moved || report.accepted();
    ASSERT_EQ(test::plain(sampler->position()), test::plain(second->position())) << t;
  }
  EXPECT_TRUE(moved);
}
INSTANTIATE_TEST_SUITE_P(Samplers, MoveTo, testing::ValuesIn(kinds()),
                         [](const auto& kind) { return std::string(kind.param.name); });

TEST(ResumeErrors, bytes_that_do_not_fit_are_refused) {
  auto sampler = kinds().front().make();
  Archive short_one(std::vector<char>(20));
  EXPECT_THROW(sampler->serialise(short_one), Error);
  Archive huge_size(std::vector<char>(20, char(0x7f)));
  EXPECT_THROW(sampler->serialise(huge_size), Error);
}

}  // namespace
}  // namespace smile
