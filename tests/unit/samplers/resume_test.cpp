// A sampler saved at any step boundary and restored goes on bit for bit, whether the restored one had been
// started or not.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "smile/samplers/langevin.hpp"
#include "smile/samplers/mclmc.hpp"
#include "smile/samplers/microcanonical.hpp"
#include "smile/samplers/momentum_samplers.hpp"
#include "smile/samplers/scale_adapted_sghmc.hpp"
#include "support/quadratic_target.hpp"
#include "support/stream_normals.hpp"

namespace smile {
namespace {

constexpr std::uint64_t kWarmup = 60, kSampling = 30;

struct Kind {
  const char* name;
  std::function<std::unique_ptr<Sampler<HostVector<float>>>()> make;
};
std::ostream& operator<<(std::ostream& out, const Kind& kind) {
  return out << kind.name;
}

using F = HostVector<float>;
const SamplingPlan kPlan{kWarmup, kSampling};

Kind microcanonical(const char* name, std::function<void(MicrocanonicalOptions&)> change) {
  return {name, [change] {
            MicrocanonicalOptions options;
            options.step_size = 0.1;
            options.tuner.reset_prob = 0.8;
            change(options);
            return std::make_unique<MicrocanonicalSampler<F>>(options, kPlan);
          }};
}

std::vector<Kind> kinds() {
  const auto plain = [](MicrocanonicalOptions&) {};
  const auto preconditioned = [](MicrocanonicalOptions& o) { o.preconditioner.emplace(); };
  return {
      microcanonical("smile", plain),
      microcanonical("psmile", preconditioned),
      microcanonical("psmile_uncentred",
                     [](MicrocanonicalOptions& o) {
                       o.preconditioner.emplace();
                       o.preconditioner->centre = Centre::none;
                     }),
      microcanonical("psmile_naive_with_noise",
                     [](MicrocanonicalOptions& o) {
                       o.preconditioner.emplace();
                       o.guardrail = false;
                       o.rule = StepSizeRule::fixed;
                       o.decoherence_length = 2;
                     }),
      microcanonical("psmile_auto",
                     [](MicrocanonicalOptions& o) {
                       o.preconditioner.emplace();
                       o.rule = StepSizeRule::turn;
                       o.tuner.adaption_prob = 0;
                     }),
      microcanonical("smile_fresh", [](MicrocanonicalOptions& o) { o.energy = EnergyMode::fresh; }),
      microcanonical("psmile_position_verlet_warmup",
                     [](MicrocanonicalOptions& o) {
                       o.preconditioner.emplace();
                       o.integrator = Integrator::position_verlet;
                       o.adapt_in_sampling = false;
                     }),
      {"mclmc", [] { return std::make_unique<MclmcSampler<F>>(MclmcOptions{}, kPlan); }},
      {"mclmc_diagonal",
       [] {
         MclmcOptions options;
         options.tuner.diagonal_preconditioning = true;
         return std::make_unique<MclmcSampler<F>>(options, kPlan);
       }},
      {"sgld",
       [] {
         LangevinOptions options;
         options.step_size = 0.01;
         return std::make_unique<LangevinSampler<F>>(options, kPlan);
       }},
      {"psgld",
       [] {
         LangevinOptions options;
         options.preconditioned = true;
         return std::make_unique<LangevinSampler<F>>(options, kPlan);
       }},
      {"sghmc",
       [] {
         SghmcOptions options;
         options.momentum_resampling = 0.2;
         return std::make_unique<SghmcSampler<F>>(options, kPlan);
       }},
      {"sgnht",
       [] {
         SgnhtOptions options;
         options.step_size = 0.02;
         return std::make_unique<SgnhtSampler<F>>(options, kPlan);
       }},
      {"adasghmc", [] { return std::make_unique<ScaleAdaptedSampler<F>>(ScaleAdaptedOptions{}, kPlan); }},
      {"rmsprop_sghmc",
       [] {
         ScaleAdaptedOptions options;
         options.rmsprop = true;
         return std::make_unique<ScaleAdaptedSampler<F>>(options, kPlan);
       }},
  };
}

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

TEST(ResumeErrors, bytes_that_do_not_fit_are_refused) {
  auto sampler = kinds().front().make();
  Archive short_one(std::vector<char>(20));
  EXPECT_THROW(sampler->serialise(short_one), Error);
  Archive huge_size(std::vector<char>(20, char(0x7f)));
  EXPECT_THROW(sampler->serialise(huge_size), Error);
}

}  // namespace
}  // namespace smile
