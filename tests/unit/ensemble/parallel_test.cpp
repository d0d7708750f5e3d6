// SPDX-License-Identifier: Apache-2.0
#include "smile/ensemble/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace smile::ensemble {
namespace {

TEST(ParallelFor, AnExceptionOfTheTickEndsTheJobsAndComesThrough) {
  std::atomic<bool> failed{false};
  std::atomic<int> begun{0};
  const auto body = [&](std::size_t) {
    ++begun;
    for (int i = 0; i < 500 && !failed; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  };
  const auto tick = [](bool) { throw std::runtime_error("tick"); };
  EXPECT_THROW(parallel_for(9, 2, body, tick, [&] { failed = true; }), std::runtime_error);
  EXPECT_EQ(begun, 2);
}

TEST(ParallelFor, AnExceptionOfAJobComesThrough) {
  EXPECT_THROW(parallel_for(3, 2,
                            [](std::size_t i) {
                              if (i == 1) throw std::runtime_error("job");
                            }),
               std::runtime_error);
}

}  // namespace
}  // namespace smile::ensemble
