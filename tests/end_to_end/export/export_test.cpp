// SPDX-License-Identifier: Apache-2.0
/// `smile export`: every format read back by other programs, and memory that does not grow with the draws.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "../pipeline/program.hpp"
#include "files/npy_header.hpp"
#include "smile/files/draws.hpp"
#include "smile/files/npy.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;

class Export : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    const auto config = folder_->write("config.yaml", small_config());
    ASSERT_EQ(smile({"run", config, "--out", run(), "--quiet"}).status, 0);
  }
  static void TearDownTestSuite() { delete folder_; }
  static fs::path run() { return *folder_ / "run"; }

  /// Exports and lets tests/end_to_end/export/check_export.py compare the result with the run. Python is
  /// python3, or that of SMILE_TEST_PYTHON (one with ArviZ or PyTorch).
  static void check(const std::string& format, const std::string& name,
                    const std::vector<std::string>& more = {}) {
    const fs::path out = *folder_ / name;
    std::vector<std::string> arguments = {"export", run(), "--format", format, "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = smile(arguments);
    ASSERT_EQ(outcome.status, 0) << outcome.error;
    const char* python = std::getenv("SMILE_TEST_PYTHON");
    std::string command = std::string(python ? python : "python3") + " " + SMILE_SOURCE_DIR +
                          "/tests/end_to_end/export/check_export.py '" + run().string() + "' " + format +
                          " '" + out.string() + "'";
    for (const auto& argument : more) command += " " + argument;
    const fs::path log = *folder_ / "check.log";
    const int status = std::system((command + " >" + log.string() + " 2>&1").c_str());
    EXPECT_EQ(status, 0) << content_of(log);
    std::cout << content_of(log);
  }
  static TemporaryFolder* folder_;
};
TemporaryFolder* Export::folder_ = nullptr;

TEST_F(Export, NumPy) {
  check("npz", "all.npz");
  check("npz", "some.npz", {"--every", "7"});
  // Our own reader, too.
  const auto arrays = read_npz(*folder_ / "all.npz");
  const NpyArray sigma = array_named(arrays, "log_sigma", "all.npz");
  EXPECT_EQ(sigma.shape(), (std::vector<std::size_t>{3, 100, 1}));
  const NpyRows draws(run() / "samples/chain-02.npy");
  EXPECT_EQ(sigma.as<float>()[217], draws.row(17).back());
}

TEST_F(Export, Safetensors) {
  check("safetensors", "all.safetensors");
  check("safetensors", "each", {"--per-draw", "--every", "30"});
}

TEST_F(Export, Torch) {
  check("torch", "all.pt");
  check("torch", "states", {"--per-draw", "--every", "30"});
}

TEST_F(Export, Csv) {
  check("csv", "all.csv", {"--every", "3"});
}

TEST_F(Export, NetCdfForArviz) {
  if (smile({"export", run(), "--format", "netcdf", "--out", *folder_ / "x.nc"})
          .error.find("not available in this build") != std::string::npos)
    GTEST_SKIP() << "built without libnetcdf";
  check("netcdf", "all.nc");
  check("netcdf", "some.nc", {"--log-likelihood", "--every", "9"});
  check("netcdf", "likelihood.nc", {"--log-likelihood"});
  check("netcdf", "loo.nc", {"--training-rows", "--every", "3"});
}

TEST_F(Export, TheDefaultPlaceIsInTheRun) {
  ASSERT_EQ(smile({"export", run(), "--format", "npz"}).status, 0);
  EXPECT_TRUE(fs::exists(run() / "draws.npz"));
  const Outcome wrong = smile({"export", run(), "--format", "xls"});
  EXPECT_EQ(wrong.status, 2);
  const Outcome unfit = smile({"export", run(), "--format", "npz", "--per-draw"});
  EXPECT_EQ(unfit.status, 2);
  EXPECT_TRUE(unfit.is_one_line_error()) << unfit.error;
  const Outcome full = smile({"export", run(), "--format", "torch", "--per-draw", "--out", run()});
  EXPECT_EQ(full.status, 2);
  EXPECT_NE(full.error.find("the folder is not empty"), std::string::npos) << full.error;
}

/// Chains whose files of draws are sparse: large to read, nothing on the disk.
void make_large(const fs::path& run, std::size_t rows) {
  for (const char* chain : {"00", "01", "02"}) {
    const fs::path path = run / ("samples/chain-" + std::string(chain) + ".npy");
    data::NpyHeader header;
    header.type = NpyType::float32;
    header.shape = {rows, DrawsReader(path).columns()};
    const std::string text = data::format_npy_header(header, 128);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.write(text.data(), std::streamsize(text.size()));
    file.close();
    fs::resize_file(path, text.size() + header.data_bytes(path));
  }
}

TEST_F(Export, MemoryDoesNotGrowWithTheDraws) {
  if (!kMemoryCanBeLimited) GTEST_SKIP() << "no limit on memory with the address sanitizer or LibTorch";
  const fs::path large = *folder_ / "large";
  fs::copy(run(), large, fs::copy_options::recursive);
  make_large(large, 50000);
  const auto bytes = 3 * fs::file_size(large / "samples/chain-00.npy");
  ASSERT_GT(bytes, std::size_t{350} << 20);
  // All memory of the process, the code of its libraries included. 10 GB of draws take the same.
  const auto limit = [] {
    const rlimit memory{std::size_t{120} << 20, std::size_t{120} << 20};
    ::setrlimit(RLIMIT_AS, &memory);
  };
  for (const char* format : {"npz", "safetensors", "torch", "netcdf"}) {
    const fs::path out = *folder_ / "large.out";
    std::vector<std::string> arguments = {"export", large,     "--format",  format, "--out",
                                          out,      "--quiet", "--threads", "1"};
    if (std::string(format) == "netcdf") arguments.push_back("--no-predictive");
    const Outcome outcome = smile(arguments, limit);
    if (outcome.error.find("not available in this build") != std::string::npos) continue;
    EXPECT_EQ(outcome.status, 0) << format << ": " << outcome.error;
    EXPECT_GT(fs::file_size(out), bytes) << format;
    fs::remove(out);
  }
  fs::remove_all(large);
}

}  // namespace
}  // namespace smile::test
