// SPDX-License-Identifier: Apache-2.0
#include "files/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "files/file_error.hpp"
#include "smile/error.hpp"

namespace smile::data {
namespace {

/// A data set of more than this is not unpacked into memory: a few kilobytes can ask for it.
constexpr std::size_t kLargestContent = std::size_t{4} << 30;

/// zlib's stream, freed whatever happens.
struct Inflater {
  z_stream stream{};
  bool good = false;
  Inflater() { good = inflateInit2(&stream, 15 + 16) == Z_OK; }
  ~Inflater() {
    if (good) inflateEnd(&stream);
  }
};

[[noreturn]] void damaged(const std::string& where, const std::string& what) {
  throw Error(where, what, "copy or download the file again");
}

/// All members of a gzip file, one after the other.
std::string unpack(const std::string& packed, const std::string& where) {
  Inflater inflater;
  if (!inflater.good) throw Error(where, "zlib cannot be started", "free memory", ErrorKind::run);
  z_stream& stream = inflater.stream;
  std::string out;
  std::size_t used = 0, filled = 0;
  for (;;) {
    if (filled == out.size()) {
      if (out.size() >= kLargestContent) damaged(where, "it unpacks to more than 4 GiB");
      out.resize(std::max<std::size_t>(std::min(2 * out.size(), kLargestContent), std::size_t{1} << 20));
    }
    constexpr std::size_t kChunk = std::size_t{1} << 30;  // zlib counts in unsigned int
    const std::size_t input = std::min(kChunk, packed.size() - used),
                      room = std::min(kChunk, out.size() - filled);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data())) + used;
    stream.avail_in = static_cast<uInt>(input);
    stream.next_out = reinterpret_cast<Bytef*>(out.data()) + filled;
    stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream, Z_NO_FLUSH);
    used += input - stream.avail_in;
    filled += room - stream.avail_out;
    if (status == Z_STREAM_END) {
      // Another member may follow; anything else behind the last one is ignored, as gzip does.
      const bool more = packed.size() - used > 2 && packed[used] == '\x1f' && packed[used + 1] == '\x8b';
      if (!more) break;
      inflateReset(&stream);
    } else if (status == Z_BUF_ERROR || (status == Z_OK && used == packed.size() && stream.avail_out > 0)) {
      damaged(where, "the gzip file is cut short");
    } else if (status != Z_OK) {
      damaged(where, std::string("the gzip file is damaged") +
                         (stream.msg ? " (" + std::string(stream.msg) + ")" : std::string()));
    }
  }
  out.resize(filled);
  return out;
}

}  // namespace

std::string read_maybe_gzip(const std::filesystem::path& path) {
  std::string content = read_whole_file(path);
  if (content.size() >= 2 && content[0] == '\x1f' && content[1] == '\x8b')
    return unpack(content, path.string());
  return content;
}

}  // namespace smile::data
