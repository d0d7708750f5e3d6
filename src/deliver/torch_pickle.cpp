// SPDX-License-Identifier: Apache-2.0
#include "deliver/torch_pickle.hpp"

namespace smile::experiment {
namespace {

/// The few operations of pickle that are needed, by their names in the protocol.
class Pickle {
 public:
  Pickle() { text_ = std::string("\x80\x02", 2); }
  void global(const char* module, const char* name) {
    text_ += std::string("c") + module + "\n" + name + "\n";
  }
  void unicode(const std::string& value) {
    text_ += 'X';
    for (unsigned shift = 0; shift < 32; shift += 8) text_ += char((value.size() >> shift) & 0xff);
    text_ += value;
  }
  void integer(std::uint64_t value) {
    if (value < (std::uint64_t{1} << 31)) {
      text_ += 'J';
      for (unsigned shift = 0; shift < 32; shift += 8) text_ += char((value >> shift) & 0xff);
      return;
    }
    text_ += '\x8a';  // LONG1: length, then little-endian two's complement; 9 bytes are never negative
    text_ += '\x09';
    for (unsigned shift = 0; shift < 64; shift += 8) text_ += char((value >> shift) & 0xff);
    text_ += '\0';
  }
  void tuple(const std::vector<std::size_t>& values) {
    mark();
    for (const std::size_t value : values) integer(value);
    close_tuple();
  }
  void mark() { text_ += '('; }
  void close_tuple() { text_ += 't'; }
  void persistent_id() { text_ += 'Q'; }
  void boolean_false() { text_ += '\x89'; }
  void reduce() { text_ += 'R'; }
  void empty_ordered_dict() {
    global("collections", "OrderedDict");
    text_ += ")R";
  }
  void set_items() { text_ += 'u'; }
  std::string stop() { return text_ + '.'; }

 private:
  std::string text_;
};

std::size_t product(const std::vector<std::size_t>& shape) {
  std::size_t size = 1;
  for (const std::size_t length : shape) size *= length;
  return size;
}

std::vector<std::size_t> strides_of(const std::vector<std::size_t>& shape) {
  std::vector<std::size_t> strides(shape.size());
  std::size_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) strides[axis] = stride;
  return strides;
}

}  // namespace

std::string torch_pickle(const std::vector<TorchTensor>& tensors) {
  Pickle pickle;
  pickle.empty_ordered_dict();
  pickle.mark();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, shape] = tensors[i];
    pickle.unicode(name);
    pickle.global("torch._utils", "_rebuild_tensor_v2");
    pickle.mark();
    pickle.mark();  // the storage: kind, type, key, device, number of values
    pickle.unicode("storage");
    pickle.global("torch", "FloatStorage");
    pickle.unicode(std::to_string(i));
    pickle.unicode("cpu");
    pickle.integer(product(shape));
    pickle.close_tuple();
    pickle.persistent_id();
    pickle.integer(0);  // offset in the storage
    pickle.tuple(shape);
    pickle.tuple(strides_of(shape));
    pickle.boolean_false();       // needs no gradient
    pickle.empty_ordered_dict();  // hooks
    pickle.close_tuple();
    pickle.reduce();
  }
  pickle.set_items();
  return pickle.stop();
}

TorchEntries reserve_torch_file(data::ZipWriter& zip, const std::vector<TorchTensor>& tensors) {
  constexpr std::size_t kAlignment = 64;
  zip.add("draws/data.pkl", torch_pickle(tensors));
  zip.add("draws/byteorder", "little");
  TorchEntries entries;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    entries.numbers.push_back(zip.entries());
    entries.places.push_back(zip.reserve("draws/data/" + std::to_string(i),
                                         product(tensors[i].shape) * sizeof(float), {}, kAlignment));
  }
  zip.add("draws/version", "3\n");
  return entries;
}

}  // namespace smile::experiment
