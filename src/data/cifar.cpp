// SPDX-License-Identifier: Apache-2.0
// CIFAR's binary form: records of one label byte (CIFAR-100: coarse and fine) and the red, green and blue
// planes. Source: Krizhevsky's page on CIFAR; spec 2.4.
#include "data/image_readers.hpp"
#include "files/gzip.hpp"
#include "smile/error.hpp"

namespace smile::data {

void add_cifar(const std::string& bytes, const std::string& where, bool fine, ImageSet& set) {
  const std::size_t label_bytes = fine ? 2 : 1, classes = fine ? 100 : 10;
  set.shape = {3, 32, 32};
  const std::size_t record = label_bytes + set.shape.size();
  if (bytes.empty()) throw Error(where, "no data", "give a file of CIFAR records");
  if (bytes.size() % record != 0)
    throw Error(where,
                std::to_string(bytes.size()) + " bytes are no whole number of CIFAR-" +
                    std::to_string(classes) + " records of " + std::to_string(record) +
                    " bytes: the file is cut short or of another kind",
                "copy the file again, or set data.image_format");
  const std::size_t before = set.size(), records = bytes.size() / record;
  set.pixels.resize((before + records) * set.shape.size());
  for (std::size_t i = 0; i < records; ++i) {
    const char* at = bytes.data() + i * record;
    const std::uint32_t label = static_cast<unsigned char>(at[label_bytes - 1]);
    if (label >= classes)
      throw Error(where,
                  "the label of record " + std::to_string(i) + " is " + std::to_string(label) +
                      ", out of the range 0 to " + std::to_string(classes - 1),
                  "copy the file again, or set data.image_format");
    set.labels.push_back(label);
    std::copy(at + label_bytes, at + record,
              set.pixels.begin() + static_cast<std::ptrdiff_t>((before + i) * set.shape.size()));
  }
}

ReadImages read_cifar(const std::vector<std::filesystem::path>& files, bool fine) {
  ReadImages out;
  for (const auto& path : files) add_cifar(read_maybe_gzip(path), path.string(), fine, out.images);
  return out;
}

}  // namespace smile::data
