// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/files/npy.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

using test::content_of;
using test::TemporaryFolder;

TEST(Npy, bytes_are_those_of_the_format) {
  const TemporaryFolder folder;
  const std::vector<float> values{1.5f, -2, 3, 4, 5, 6};
  write_npy(folder / "a.npy", {2, 3}, values);
  const std::string file = content_of(folder / "a.npy");
  EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ((10 + static_cast<unsigned char>(file[8])) % 64, 0);
  EXPECT_EQ(file.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(file[127], '\n');
  ASSERT_EQ(file.size(), 128U + 24);
  EXPECT_EQ(std::memcmp(file.data() + 128, values.data(), 24), 0);
}

TEST(Npy, every_type_comes_back) {
  const TemporaryFolder folder;
  const auto round_trip = [&](const NpyArray& array) {
    write_npy(folder / "a.npy", array);
    const NpyArray back = read_npy(folder / "a.npy");
    EXPECT_EQ(back.shape(), array.shape());
    EXPECT_EQ(back.type(), array.type());
    return back;
  };
  EXPECT_EQ(round_trip(NpyArray({2}, std::vector<float>{1.5f, -0.f})).as<float>(),
            (std::vector<float>{1.5f, 0}));
  EXPECT_EQ(round_trip(NpyArray({1, 2}, std::vector<double>{0.1, 1e300})).as<double>(),
            (std::vector<double>{0.1, 1e300}));
  EXPECT_EQ(round_trip(NpyArray({}, std::vector<std::int32_t>{-7})).as<std::int64_t>(),
            (std::vector<std::int64_t>{-7}));
  EXPECT_EQ(
      round_trip(NpyArray({2}, std::vector<std::int64_t>{std::int64_t{1} << 60, -1})).as<std::int64_t>(),
      (std::vector<std::int64_t>{std::int64_t{1} << 60, -1}));
  EXPECT_EQ(round_trip(NpyArray({1}, std::vector<std::uint32_t>{4000000000U})).as<std::uint32_t>(),
            (std::vector<std::uint32_t>{4000000000U}));
  EXPECT_EQ(round_trip(NpyArray({2}, std::vector<std::uint8_t>{0, 255})).as<double>(),
            (std::vector<double>{0, 255}));
  EXPECT_EQ(round_trip(NpyArray({0, 3}, std::vector<double>{})).size(), 0U);
  const std::vector<std::string> words{"", "east", "größe", "语", "😀"};
  EXPECT_EQ(round_trip(NpyArray({5}, words)).strings(), words);
  EXPECT_EQ(round_trip(NpyArray({0}, std::vector<std::string>{})).strings(), std::vector<std::string>{});
}

TEST(Npy, conversions_lose_nothing) {
  EXPECT_THROW(NpyArray({1}, std::vector<double>{0.5}).as<std::int64_t>(), Error);
  EXPECT_THROW(NpyArray({1}, std::vector<double>{-1}).as<std::uint32_t>(), Error);
  EXPECT_THROW(
      NpyArray({1}, std::vector<double>{std::numeric_limits<double>::quiet_NaN()}).as<std::int32_t>(), Error);
  EXPECT_THROW(NpyArray({1}, std::vector<std::int64_t>{std::int64_t{1} << 40}).as<std::int32_t>(), Error);
  EXPECT_THROW(NpyArray({1}, std::vector<std::string>{"1"}).as<double>(), Error);
  EXPECT_THROW(NpyArray({1}, std::vector<double>{1}).strings(), Error);
  EXPECT_THROW(NpyArray({3}, std::vector<double>{1}), Error);
}

/// A file with the given header text in format 1 or 2.
std::string npy_file(std::string header, const std::string& data, char major = 1) {
  header += '\n';
  std::string out("\x93NUMPY", 6);
  out += major;
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  if (major == 2) out += std::string(2, '\0');
  return out + header + data;
}

TEST(Npy, both_formats_and_any_order_of_keys_are_read) {
  const TemporaryFolder folder;
  const std::string data(8, '\0');
  for (const char major : {'\x01', '\x02'}) {
    const auto path = folder.write(
        "a.npy", npy_file("{\"shape\": (1,), 'fortran_order': False, 'descr': '<f8'}", data, major));
    EXPECT_EQ(read_npy(path).as<double>(), std::vector<double>{0});
  }
}

TEST(Npy, an_archive_comes_back_and_is_the_same_each_time) {
  const TemporaryFolder folder;
  const NamedArray arrays[] = {{"x", NpyArray({2, 2}, std::vector<double>{1, 2, 3, 4})},
                               {"names", NpyArray({2}, std::vector<std::string>{"a", "bc"})}};
  write_npz(folder / "a.npz", arrays);
  write_npz(folder / "b.npz", arrays);
  EXPECT_EQ(content_of(folder / "a.npz"), content_of(folder / "b.npz"));
  const auto back = read_npz(folder / "a.npz");
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(array_named(back, "x", "a.npz").as<double>(), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(array_named(back, "names", "a.npz").strings(), (std::vector<std::string>{"a", "bc"}));
  try {
    array_named(back, "y", "a.npz");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a.npz: has no array 'y'; the arrays there are: x, names");
  }
  const NamedArray empty[] = {{"numbers", NpyArray({0, 3}, std::vector<double>{})},
                              {"words", NpyArray({0}, std::vector<std::string>{})}};
  write_npz(folder / "empty.npz", empty);
  const auto nothing = read_npz(folder / "empty.npz");
  EXPECT_EQ(array_named(nothing, "numbers", "empty.npz").shape(), (std::vector<std::size_t>{0, 3}));
  EXPECT_TRUE(array_named(nothing, "words", "empty.npz").strings().empty());
  write_npz(folder / "none.npz", {});
  EXPECT_TRUE(read_npz(folder / "none.npz").empty());
}

TEST(Npy, draws_are_readable_while_they_grow) {
  const TemporaryFolder folder;
  const auto path = folder / "chain.npy";
  NpyAppender out = NpyAppender::create(path, 3);
  EXPECT_EQ(NpyRows(path).rows(), 0U);
  for (std::size_t i = 0; i < 12; ++i) {
    const float x = static_cast<float>(i);
    out.append(std::vector<float>{x, x + 0.25f, x + 0.5f});
    const NpyRows rows(path);
    ASSERT_EQ(rows.rows(), i + 1);
    EXPECT_EQ(rows.columns(), 3U);
    EXPECT_EQ(rows.row(i)[1], x + 0.25f);
    EXPECT_EQ(read_npy(path).shape(), (std::vector<std::size_t>{i + 1, 3}));
  }
  out.sync();
  EXPECT_THROW(out.append(std::vector<float>{1}), Error);
  EXPECT_EQ(std::filesystem::file_size(path), 128U + 12 * 12);
}

TEST(Npy, resumed_draws_are_the_bytes_of_an_uninterrupted_run) {
  const TemporaryFolder folder;
  const auto row = [](std::size_t i) { return std::vector<float>{static_cast<float>(i), 7}; };
  NpyAppender whole = NpyAppender::create(folder / "whole.npy", 2),
              cut = NpyAppender::create(folder / "cut.npy", 2);
  for (std::size_t i = 0; i < 20; ++i) whole.append(row(i));
  for (std::size_t i = 0; i < 15; ++i) cut.append(row(i));
  // Killed inside a row: bytes that no count covers.
  std::ofstream(folder / "cut.npy", std::ios::binary | std::ios::app) << "xyz";
  EXPECT_EQ(NpyRows(folder / "cut.npy").rows(), 15U);
  cut = NpyAppender::reopen(folder / "cut.npy", 2, 11);
  EXPECT_EQ(cut.rows(), 11U);
  EXPECT_EQ(std::filesystem::file_size(folder / "cut.npy"), 128U + 11 * 8);
  for (std::size_t i = 11; i < 20; ++i) cut.append(row(i));
  EXPECT_EQ(content_of(folder / "cut.npy"), content_of(folder / "whole.npy"));
}

TEST(Npy, reopening_something_else_is_an_error) {
  const TemporaryFolder folder;
  const auto path = folder / "chain.npy";
  NpyAppender::create(path, 2).append(std::vector<float>{1, 2});
  EXPECT_THROW(NpyAppender::reopen(path, 3, 1), Error);
  EXPECT_THROW(NpyAppender::reopen(path, 2, 2), Error);
  EXPECT_THROW(NpyAppender::reopen(folder / "none.npy", 2, 0), Error);
  write_npy(folder / "double.npy", {1, 2}, std::vector<double>{1, 2});
  EXPECT_THROW(NpyAppender::reopen(folder / "double.npy", 2, 1), Error);
  EXPECT_EQ(NpyAppender::reopen(path, 2, 0).rows(), 0U);
}

TEST(AtomicFile, appears_whole_or_not_at_all) {
  const TemporaryFolder folder;
  const auto path = folder.write("a.txt", "old");
  {
    AtomicFile file(path);
    file.write("half of the n");
    EXPECT_EQ(content_of(path), "old");
  }
  EXPECT_EQ(content_of(path), "old");
  {
    AtomicFile file(path);
    file.write("new");
    file.commit();
  }
  EXPECT_EQ(content_of(path), "new");
  write_file_atomically(path, "newer");
  EXPECT_EQ(content_of(path), "newer");
  const auto entries = std::distance(std::filesystem::directory_iterator(folder.path()), {});
  EXPECT_EQ(entries, 1) << "a temporary file is left";
}

}  // namespace
}  // namespace smile
