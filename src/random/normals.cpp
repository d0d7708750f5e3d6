#include "random/reference.hpp"
#include "smile/random/stream.hpp"

namespace smile {
namespace {

template <class T>
void fill(StreamKey key, std::uint64_t step, std::span<T> out) {
  const auto start = random_detail::philox_start(key, step);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = random_detail::normal_at<T>(start, i);
}

}  // namespace

void fill_normals(StreamKey key, std::uint64_t step, std::span<float> out) {
  fill(key, step, out);
}
void fill_normals(StreamKey key, std::uint64_t step, std::span<double> out) {
  fill(key, step, out);
}

}  // namespace smile
