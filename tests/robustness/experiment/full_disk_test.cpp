// SPDX-License-Identifier: Apache-2.0
/// A run on a disk that is full says so afterwards.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <fstream>

#include "smile/run/run_directory.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

/// A disk of 256 KiB; needs the right to mount one.
class SmallDisk {
 public:
  explicit SmallDisk(std::string path) : path_(std::move(path)) {
    std::filesystem::create_directories(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=256k") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount(path_.c_str());
  }
  bool is_there() const { return mounted_; }
  void fill() const {
    std::ofstream out(path_ + "/rest");
    const std::string block(4096, 'x');
    while (out.write(block.data(), std::streamsize(block.size())).flush()) {
    }
  }

 private:
  std::string path_;
  bool mounted_ = false;
};

TEST(FullDisk, TheStatusSaysThatTheDiskWasFull) {
  test::TemporaryFolder folder;
  const SmallDisk disk(folder / "disk");
  if (!disk.is_there()) GTEST_SKIP() << "a file system cannot be mounted here";
  const std::filesystem::path run = folder / "disk/run";
  const RunDirectory directory = RunDirectory::create(run);
  directory.write_state({"running", "sampling", ""});
  disk.fill();
  directory.write_state({"failed", "sampling", "cannot write the file (No space left on device)"});
  const auto state = read_run_state(run);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->status, "failed");
  EXPECT_NE(state->reason.find("No space left"), std::string::npos) << state->reason;
  directory.write_state({"running", "sampling", ""});  // a shorter one leaves no rest
  EXPECT_EQ(read_run_state(run)->status, "running");
}

}  // namespace
}  // namespace smile
