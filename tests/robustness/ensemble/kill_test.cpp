// SPDX-License-Identifier: Apache-2.0
/// The runner against kill -9, full disks and foreign hands.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "../../unit/ensemble/toy.hpp"
#include "smile/error.hpp"
#include "smile/files/npy.hpp"

namespace smile {
namespace {

using toy::bytes_of;
using toy::Folder;
using toy::options_for;

const SamplingPlan kPlan{2000, 20000};

std::vector<ChainRecord> run(const EnsembleOptions& options) {
  return run_ensemble(options,
                      [&](std::uint32_t chain) { return toy::make_chain("psmile-auto", kPlan, chain); });
}

EnsembleOptions frequent(const std::filesystem::path& directory, std::size_t threads) {
  EnsembleOptions options = options_for(directory, 3, threads);
  options.checkpoint_seconds = 0.005;
  options.resume = true;  // goes on from what there is, also from nothing
  return options;
}

/// Runs in a child process; returns its wait status.
template <class Body>
int in_child(const Body& body, std::chrono::microseconds kill_after = {}) {
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 0;
    try {
      body();
    } catch (const Error& error) {
      status = 10 + error.exit_status();
    } catch (...) {
      status = 99;
    }
    ::_exit(status);
  }
  if (kill_after.count() > 0) {
    std::this_thread::sleep_for(kill_after);
    ::kill(child, SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

void expect_same_draws(const std::filesystem::path& a, const std::filesystem::path& b) {
  for (std::uint32_t c = 0; c < 3; ++c) {
    ASSERT_GT(bytes_of(draws_path(a, c)).size(), 1000u);
    EXPECT_TRUE(bytes_of(draws_path(a, c)) == bytes_of(draws_path(b, c))) << "chain " << c;
    EXPECT_TRUE(bytes_of(trace_path(a, c)) == bytes_of(trace_path(b, c))) << "trace of chain " << c;
  }
}

TEST(Killed, AtManyMomentsARunStaysReadableAndEndsInTheSameBytes) {
  Folder whole, broken;
  const auto begin = std::chrono::steady_clock::now();
  run(options_for(whole.path(), 3, 2));
  const auto length =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);

  int killed = 0;
  bool done = false;
  for (int attempt = 0; attempt < 40 && !done; ++attempt) {
    // Moments that have no common period with the checkpoints.
    const auto moment = std::chrono::microseconds(1000 + (length.count() * (attempt * 37 % 19 + 1)) / 60);
    const int status = in_child([&] { run(frequent(broken.path(), std::size_t(1 + attempt % 3))); }, moment);
    if (WIFSIGNALED(status))
      ++killed;
    else
      done = true;
    // Whatever the moment, the files of draws are arrays.
    for (std::uint32_t c = 0; c < 3; ++c) {
      const auto path = draws_path(broken.path(), c);
      if (!std::filesystem::exists(path) || std::filesystem::file_size(path) == 0) continue;
      const NpyRows rows(path);
      EXPECT_EQ(rows.columns(), toy::kDimension);
      for (std::size_t i = 0; i < rows.rows(); ++i) ASSERT_TRUE(std::isfinite(rows.row(i)[0]));
    }
  }
  EXPECT_GE(killed, 3);
  run(frequent(broken.path(), 1));
  expect_same_draws(whole.path(), broken.path());
}

/// The same with half precision, and with a file for each draw.
TEST(Killed, RunsWithOtherFormsOfDrawsEndInTheSameBytes) {
  for (const DrawsWriter::Options draws :
       {DrawsWriter::Options{.type = DrawsType::float16},
        DrawsWriter::Options{.type = DrawsType::bfloat16, .largest_shared_draw = 1},
        DrawsWriter::Options{.type = DrawsType::float32, .largest_shared_draw = 1}}) {
    SCOPED_TRACE(name_of(draws.type));
    Folder whole, broken;
    // A file each is slow: fewer draws.
    const auto options = [&](EnsembleOptions base) {
      base.draws = draws;
      base.checkpoint_seconds = 0.02;
      base.thinning = draws.largest_shared_draw == 1 ? 1000 : 3;
      base.keep_warmup = false;
      return base;
    };
    run(options(options_for(whole.path(), 3, 2)));
    int killed = 0;
    for (int attempt = 0; attempt < 6; ++attempt) {
      const auto moment = std::chrono::milliseconds(5 + attempt * 37 % 60);
      const int status =
          in_child([&] { run(options(frequent(broken.path(), std::size_t(1 + attempt % 3)))); }, moment);
      killed += WIFSIGNALED(status);
    }
    EXPECT_GE(killed, 2);
    run(options(frequent(broken.path(), 1)));
    for (std::uint32_t c = 0; c < 3; ++c) {
      const DrawsReader a(draws_path(whole.path(), c)), b(draws_path(broken.path(), c));
      ASSERT_EQ(a.rows(), b.rows());
      ASSERT_GE(a.rows(), 20U);
      EXPECT_EQ(a.type(), draws.type);
      std::vector<float> x(a.columns()), y(b.columns());
      for (std::size_t i = 0; i < a.rows(); ++i) {
        a.read(i, x);
        b.read(i, y);
        ASSERT_EQ(x, y) << "draw " << i << " of chain " << c;
      }
    }
  }
}

TEST(FullDisk, StopsWithAnErrorAndAValidCheckpoint) {
  Folder whole, full;
  run(options_for(whole.path(), 3, 1));
  const auto size = std::filesystem::file_size(draws_path(whole.path(), 0));
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{size / 2 + 5, size / 2 + 5};  // within a row
    ::setrlimit(RLIMIT_FSIZE, &limit);
    run(frequent(full.path(), 1));
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 11) << "an Error of kind run";
  EXPECT_EQ(NpyRows(draws_path(full.path(), 0)).columns(), toy::kDimension);
  ASSERT_TRUE(read_chain_record(full.path(), 0));
  EXPECT_GT(read_chain_record(full.path(), 0)->step, 0u);
  run(frequent(full.path(), 2));
  expect_same_draws(whole.path(), full.path());
}

TEST(ForeignHands, DrawsThatAreShorterThanTheCheckpointAreAnError) {
  Folder folder;
  EnsembleOptions options = frequent(folder.path(), 1);
  std::atomic<bool> stop{false};
  options.stop = &stop;
  run_ensemble(options, [&](std::uint32_t chain) {
    auto setup = toy::make_chain("psmile-auto", kPlan, chain);
    static_cast<toy::NoisyGaussian&>(*setup.target).on_evaluation = [&](std::uint64_t n) {
      stop = n > 20000;
    };
    return setup;
  });
  ASSERT_GT(read_chain_record(folder.path(), 0)->stored, 100u);
  std::filesystem::resize_file(draws_path(folder.path(), 0), 128 + 4 * toy::kDimension * 10);
  stop = false;
  EXPECT_THROW(run(options), Error);
}

}  // namespace
}  // namespace smile
