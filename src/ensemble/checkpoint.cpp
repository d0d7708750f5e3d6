// SPDX-License-Identifier: Apache-2.0
#include "smile/ensemble/checkpoint.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <system_error>

#include "files/file_error.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"

namespace smile::ensemble {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'S', 'M', 'I', 'L', 'E', 'C', 'K', 'P'};
/// Raised with every change of what a checkpoint holds, samplers' states included.
constexpr std::uint64_t kVersion = 7;

struct Header {
  char magic[8];
  std::uint64_t version;
  std::uint64_t payload_bytes;
  std::uint64_t checksum;
};

/// FNV-1a over 8-byte words (the last one padded with zeros) of bytes that come in pieces.
class Checksum {
 public:
  void add(std::span<const char> bytes) {
    while (!bytes.empty()) {
      if (held_ == 0 && bytes.size() >= 8) {
        std::size_t whole = bytes.size() / 8;
        for (const char* word = bytes.data(); whole > 0; --whole, word += 8) take_word(word);
        bytes = bytes.last(bytes.size() % 8);
        continue;
      }
      const std::size_t taken = std::min<std::size_t>(8 - held_, bytes.size());
      std::memcpy(word_ + held_, bytes.data(), taken);
      held_ += taken;
      bytes = bytes.subspan(taken);
      if (held_ == 8) close_word();
    }
  }
  std::uint64_t value() {
    if (held_ > 0) {
      std::memset(word_ + held_, 0, 8 - held_);
      close_word();
    }
    return hash_;
  }

 private:
  void take_word(const char* bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, 8);
    hash_ = (hash_ ^ word) * 1099511628211ull;
    hash_ ^= hash_ >> 32;
  }
  void close_word() {
    take_word(word_);
    held_ = 0;
  }
  std::uint64_t hash_ = 14695981039346656037ull;
  char word_[8];
  std::size_t held_ = 0;
};

template <class Item, class Each>
void list(Archive& archive, std::vector<Item>& items, const Each& each) {
  std::uint64_t count = items.size();
  archive.value(count);
  if (archive.reading()) items.clear();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (archive.reading()) items.emplace_back();
    each(items[i]);
  }
}

/// All but the sampler's state, which follows as a block.
void serialise(Archive& archive, Checkpoint& c) {
  ChainRecord& r = c.record;
  archive.text(c.digest);
  archive.value(r.chain), archive.value(r.status), archive.text(r.reason);
  archive.value(r.step), archive.value(r.warmup_steps), archive.value(r.total_steps);
  archive.value(r.stored), archive.value(r.draws_crc32), archive.value(r.dimension), archive.value(r.seconds);
  archive.value(r.monitor);
  list(archive, r.findings, [&](std::string& text) { archive.text(text); });
  list(archive, r.tuned, [&](std::pair<std::string, double>& item) {
    archive.text(item.first);
    archive.value(item.second);
  });
  archive.value(r.start_crc32), archive.text(r.build);
  archive.value(c.warmup_stored), archive.value(c.trace_bytes), archive.value(c.monitor_bytes);
  archive.vector(c.velocity.reference);
  archive.value(c.velocity.correlations);
}

fs::path previous_of(const fs::path& path) {
  return path.string() + ".previous";
}

[[noreturn]] void damaged(const fs::path& path, const std::string& what) {
  throw Error(path.string(), "the checkpoint " + what,
              "remove the file (and the same name with .previous) to run this chain from its start",
              ErrorKind::run);
}

}  // namespace

void write_checkpoint(const fs::path& path, Checkpoint& checkpoint) {
  // The state is most of the file: it goes there as it is, without a second copy in memory.
  Archive archive;
  serialise(archive, checkpoint);
  std::uint64_t size = checkpoint.sampler.size();
  archive.value(size);
  const std::span<const char> head(archive.bytes()), state(checkpoint.sampler);
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.payload_bytes = head.size() + state.size();
  Checksum checksum;
  checksum.add(head);
  checksum.add(state);
  header.checksum = checksum.value();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&header, 1)));
  file.write(std::as_bytes(head));
  file.write(std::as_bytes(state));
  // A second name for the old file, so that there is always a whole one; not having it is no error.
  std::error_code ignored;
  fs::remove(previous_of(path), ignored);
  fs::create_hard_link(path, previous_of(path), ignored);
  file.commit();
}

Checkpoint read_checkpoint_file(const fs::path& path) {
  struct Input {
    int descriptor;
    ~Input() { ::close(descriptor); }
  } input{data::open_file(path, O_RDONLY)};
  if (input.descriptor < 0 && errno == ENOENT) damaged(path, "cannot be read");
  if (input.descriptor < 0) throw data::write_error(path, "cannot be opened", errno);
  struct stat status {};
  if (::fstat(input.descriptor, &status) != 0) throw data::write_error(path, "cannot be read", errno);
  if (!S_ISREG(status.st_mode)) damaged(path, "is no file");
  const auto file_bytes = std::uint64_t(status.st_size);
  Header header{};
  if (file_bytes < sizeof header) damaged(path, "is cut short");
  const auto read = [&](void* bytes, std::size_t size) {
    if (data::read_some(input.descriptor, static_cast<char*>(bytes), size, path) < size)
      damaged(path, "cannot be read to its end");
  };
  read(&header, sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) damaged(path, "does not begin as one");
  if (header.version != kVersion) damaged(path, "is of another version of this program");
  if (header.payload_bytes != file_bytes - sizeof header) damaged(path, "is cut short");
  std::vector<char> payload(header.payload_bytes);
  read(payload.data(), payload.size());
  Checksum checksum;
  checksum.add(payload);
  if (checksum.value() != header.checksum) damaged(path, "has a wrong checksum");
  Checkpoint checkpoint;
  Archive archive(std::move(payload));
  serialise(archive, checkpoint);
  archive.block(checkpoint.sampler);
  if (!archive.exhausted()) damaged(path, "holds more than this program writes");
  return checkpoint;
}

std::optional<Checkpoint> read_checkpoint(const fs::path& path, std::string& remark) {
  const bool has_previous = fs::exists(previous_of(path));
  if (!fs::exists(path)) {
    if (!has_previous) return std::nullopt;
    remark = path.string() + " is missing: going on from the checkpoint before it";
    return read_checkpoint_file(previous_of(path));
  }
  try {
    return read_checkpoint_file(path);
  } catch (const data::MachineError&) {
    throw;  // nothing is known of the checkpoint: going on from an older one would be hasty
  } catch (const Error& error) {
    if (!has_previous) throw;
    Checkpoint previous = read_checkpoint_file(previous_of(path));
    remark = error.where() + ": " + error.cause() + ": going on from the checkpoint before it";
    return previous;
  }
}

}  // namespace smile::ensemble
