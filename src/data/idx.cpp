// SPDX-License-Identifier: Apache-2.0
// IDX, the format of MNIST: a big-endian header (two zero bytes, element type, number of dimensions,
// lengths), then the elements. Source: LeCun's description on the MNIST page; spec 2.4.
#include <cstdint>
#include <utility>

#include "data/image_readers.hpp"
#include "files/gzip.hpp"
#include "smile/error.hpp"

namespace smile::data {
namespace {

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = (value << 8) | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

struct Idx {
  std::vector<std::size_t> lengths;
  std::string bytes;  ///< the file
  std::size_t data = 0;
};

/// @param what  "images" or "labels", for messages
Idx parse(std::string bytes, const std::string& where, std::size_t dimensions, const std::string& what) {
  Idx idx{{}, std::move(bytes), 4 + 4 * dimensions};
  const std::string mend = "give an IDX file of " + what + " (unsigned bytes, " + std::to_string(dimensions) +
                           (dimensions == 1 ? " dimension)" : " dimensions)");
  if (idx.bytes.size() < 4) throw Error(where, "the file is too short to be an IDX file", mend);
  const std::uint32_t magic = big_endian(idx.bytes, 0),
                      wanted = 0x800 + static_cast<std::uint32_t>(dimensions);
  if (magic != wanted)
    throw Error(where,
                "the file begins with the number " + std::to_string(magic) + " where IDX " + what + " have " +
                    std::to_string(wanted),
                mend);
  if (idx.bytes.size() < idx.data)
    throw Error(where, "the IDX header is cut short", "copy or download the file again");
  std::size_t size = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::size_t length = big_endian(idx.bytes, 4 + 4 * i);
    idx.lengths.push_back(length);
    if (length > 0 && size > SIZE_MAX / length)
      throw Error(where, "the IDX header asks for more than memory can hold",
                  "copy or download the file again");
    size *= length;
  }
  const std::size_t there = idx.bytes.size() - idx.data;
  if (there != size)
    throw Error(where,
                (there < size ? "the IDX file is cut short: " : "the IDX file has surplus bytes: ") +
                    std::to_string(there) + " bytes of data where its header says " + std::to_string(size),
                "copy or download the file again");
  if (size == 0) throw Error(where, "the IDX file holds no " + what, "give a file that has some");
  return idx;
}

}  // namespace

ImageSet idx_images(std::string bytes, const std::string& where) {
  const Idx idx = parse(std::move(bytes), where, 3, "images");
  ImageSet set;
  set.shape = {1, idx.lengths[1], idx.lengths[2]};
  set.pixels.assign(idx.bytes.begin() + static_cast<std::ptrdiff_t>(idx.data), idx.bytes.end());
  return set;
}

std::vector<std::uint32_t> read_idx_labels(const std::filesystem::path& path) {
  const Idx idx = parse(read_maybe_gzip(path), path.string(), 1, "labels");
  std::vector<std::uint32_t> labels;
  for (std::size_t i = idx.data; i < idx.bytes.size(); ++i)
    labels.push_back(static_cast<unsigned char>(idx.bytes[i]));
  return labels;
}

bool is_idx(const std::string& bytes) {
  return bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 0 && bytes[2] == 8 && bytes[3] > 0 && bytes[3] < 5;
}

ReadImages read_idx(const std::filesystem::path& images, const std::filesystem::path& labels) {
  ReadImages out;
  out.images = idx_images(read_maybe_gzip(images), images.string());
  out.images.labels = read_idx_labels(labels);
  const std::size_t count = out.images.pixels.size() / out.images.shape.size();
  if (count != out.images.labels.size())
    throw Error(labels.string(),
                "has " + std::to_string(out.images.labels.size()) + " labels, but " + images.string() +
                    " has " + std::to_string(count) + " images",
                "give the two files of one set");
  return out;
}

}  // namespace smile::data
