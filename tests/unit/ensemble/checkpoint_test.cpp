// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "smile/ensemble/checkpoint.hpp"
#include "smile/error.hpp"
#include "toy.hpp"

namespace smile {
namespace {

using ensemble::Checkpoint;
using toy::bytes_of;
using toy::Folder;

Checkpoint example(std::uint64_t step) {
  Checkpoint checkpoint;
  checkpoint.digest = "configuration";
  checkpoint.record.chain = 4;
  checkpoint.record.step = step;
  checkpoint.record.stored = step / 2;
  checkpoint.record.findings = {"one", "another"};
  checkpoint.record.tuned = {{"step_size", 0.25}};
  checkpoint.record.monitor.sampling.gradients = 99;
  checkpoint.trace_bytes = 1234;
  checkpoint.sampler = {'a', '\0', 'b'};
  return checkpoint;
}

void overwrite(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

TEST(Checkpoint, ReadsWhatWasWritten) {
  Folder folder;
  const auto path = folder.path() / "chain.bin";
  Checkpoint written = example(100);
  ensemble::write_checkpoint(path, written);
  const Checkpoint read = ensemble::read_checkpoint_file(path);
  EXPECT_EQ(read.digest, "configuration");
  EXPECT_EQ(read.record.step, 100u);
  EXPECT_EQ(read.record.stored, 50u);
  EXPECT_EQ(read.record.findings, written.record.findings);
  EXPECT_EQ(read.record.tuned, written.record.tuned);
  EXPECT_EQ(read.record.monitor.sampling.gradients, 99u);
  EXPECT_EQ(read.trace_bytes, 1234u);
  EXPECT_EQ(read.sampler, written.sampler);
}

TEST(Checkpoint, IsAbsentWhereNothingWasWritten) {
  Folder folder;
  std::string remark;
  EXPECT_FALSE(ensemble::read_checkpoint(folder.path() / "chain.bin", remark));
  EXPECT_TRUE(remark.empty());
}

TEST(Checkpoint, FallsBackToTheOneBeforeWhereTheFileIsDamaged) {
  Folder folder;
  const auto path = folder.path() / "chain.bin";
  Checkpoint first = example(100), second = example(200);
  ensemble::write_checkpoint(path, first);
  ensemble::write_checkpoint(path, second);
  const std::string good = bytes_of(path);
  std::string remark;
  ASSERT_EQ(ensemble::read_checkpoint(path, remark)->record.step, 200u);

  // Cut anywhere, or one bit turned anywhere: never read as if it were whole.
  for (std::size_t at = 0; at < good.size(); at += 7) {
    overwrite(path, good.substr(0, at));
    ASSERT_EQ(ensemble::read_checkpoint(path, remark)->record.step, 100u) << "cut at " << at;
    std::string turned = good;
    turned[at] = char(turned[at] ^ 0x10);
    overwrite(path, turned);
    ASSERT_EQ(ensemble::read_checkpoint(path, remark)->record.step, 100u) << "turned at " << at;
    ASSERT_FALSE(remark.empty());
  }
  std::filesystem::remove(path);
  EXPECT_EQ(ensemble::read_checkpoint(path, remark)->record.step, 100u);
}

TEST(Checkpoint, OfAnotherVersionIsRefused) {
  Folder folder;
  const auto path = folder.path() / "chain.bin";
  Checkpoint written = example(100);
  ensemble::write_checkpoint(path, written);
  std::string bytes = bytes_of(path);
  bytes[8] = 1;  // the version, behind the eight letters
  overwrite(path, bytes);
  EXPECT_THROW(ensemble::read_checkpoint_file(path), Error);
}

TEST(Checkpoint, IsAnErrorWithAMendWhereBothAreDamaged) {
  Folder folder;
  const auto path = folder.path() / "chain.bin";
  Checkpoint first = example(100), second = example(200);
  ensemble::write_checkpoint(path, first);
  ensemble::write_checkpoint(path, second);
  overwrite(path, "nonsense");
  overwrite(path.string() + ".previous", "");
  std::string remark;
  try {
    ensemble::read_checkpoint(path, remark);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_status(), 1);
    EXPECT_NE(std::string(error.what()).find("chain.bin"), std::string::npos);
    EXPECT_NE(error.mend().find("remove"), std::string::npos);
  }
}

}  // namespace
}  // namespace smile
