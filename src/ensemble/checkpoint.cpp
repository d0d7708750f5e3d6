#include "ensemble/checkpoint.hpp"

#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>

#include "smile/data/atomic_file.hpp"
#include "smile/error.hpp"

namespace smile::ensemble {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'S', 'M', 'I', 'L', 'E', 'C', 'K', 'P'};
/// Raised with every change of what a checkpoint holds, samplers' states included.
constexpr std::uint64_t kVersion = 3;

struct Header {
  char magic[8];
  std::uint64_t version;
  std::uint64_t payload_bytes;
  std::uint64_t checksum;
};

/// FNV-1a over 8-byte words (the last one padded with zeros).
std::uint64_t checksum_of(std::span<const char> bytes) {
  std::uint64_t hash = 14695981039346656037ull;
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
    hash = (hash ^ word) * 1099511628211ull;
    hash ^= hash >> 32;
  }
  return hash;
}

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
  archive.value(c.warmup_stored), archive.value(c.trace_bytes), archive.value(c.monitor_bytes);
  archive.vector(c.velocity.reference);
  archive.value(c.velocity.correlations);
  std::string state(c.sampler.begin(), c.sampler.end());
  archive.text(state);
  if (archive.reading()) c.sampler.assign(state.begin(), state.end());
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
  Archive archive;
  serialise(archive, checkpoint);
  const auto& payload = archive.bytes();
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.payload_bytes = payload.size();
  header.checksum = checksum_of(payload);
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&header, 1)));
  file.write(std::as_bytes(std::span(payload)));
  // A second name for the old file, so that there is always a whole one; not having it is no error.
  std::error_code ignored;
  fs::remove(previous_of(path), ignored);
  fs::create_hard_link(path, previous_of(path), ignored);
  file.commit();
}

Checkpoint read_checkpoint_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) damaged(path, "cannot be read");
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  Header header{};
  if (bytes.size() < sizeof header) damaged(path, "is cut short");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) damaged(path, "does not begin as one");
  if (header.version != kVersion) damaged(path, "is of another version of this program");
  if (header.payload_bytes != bytes.size() - sizeof header) damaged(path, "is cut short");
  std::vector<char> payload(bytes.begin() + sizeof header, bytes.end());
  if (checksum_of(payload) != header.checksum) damaged(path, "has a wrong checksum");
  Checkpoint checkpoint;
  Archive archive(std::move(payload));
  serialise(archive, checkpoint);
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
  } catch (const Error& error) {
    if (!has_previous) throw;
    Checkpoint previous = read_checkpoint_file(previous_of(path));
    remark = error.where() + ": " + error.cause() + ": going on from the checkpoint before it";
    return previous;
  }
}

}  // namespace smile::ensemble
