// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "files/half.hpp"
#include "smile/error.hpp"
#include "smile/files/draws.hpp"
#include "smile/files/npy.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using test::content_of;
using test::TemporaryFolder;

std::vector<float> draw_of(std::size_t i, std::size_t columns) {
  std::vector<float> draw(columns);
  for (std::size_t k = 0; k < columns; ++k)
    draw[k] = float(std::sin(double(i * 31 + k))) * std::ldexp(1.0F, int(k % 9) - 4);
  return draw;
}

/// Half precision by the definition: the nearest of all 2^16 numbers, ties to the even one.
TEST(Half, rounds_to_the_nearest_number_ties_to_even) {
  const auto check = [](std::uint16_t bits) {
    const float here = data::float_of_half(bits),
                next = data::float_of_half(static_cast<std::uint16_t>(bits + 1));
    EXPECT_EQ(data::half_of(here), bits);
    EXPECT_EQ(data::half_of(-here), bits | 0x8000);
    const float middle = (here + next) / 2;  // exact in float
    EXPECT_EQ(data::half_of(middle), bits % 2 == 0 ? bits : bits + 1) << here;
    EXPECT_EQ(data::half_of(std::nextafter(middle, 0.0F)), bits);
    EXPECT_EQ(data::half_of(std::nextafter(middle, 1e6F)), bits + 1);
  };
  for (unsigned bits = 0; bits < 0x7bff; ++bits) check(static_cast<std::uint16_t>(bits));
  EXPECT_EQ(data::float_of_half(1), 0x1p-24F);
  EXPECT_EQ(data::float_of_half(0x0400), 0x1p-14F);
  EXPECT_EQ(data::float_of_half(0x3c00), 1.0F);
  EXPECT_EQ(data::float_of_half(0x7bff), 65504.0F);
  EXPECT_EQ(data::half_of(65519.0F), 0x7bff);
  EXPECT_EQ(data::half_of(65520.0F), 0x7c00);
  EXPECT_EQ(data::half_of(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(data::half_of(-std::numeric_limits<float>::infinity()), 0xfc00);
  EXPECT_TRUE(std::isinf(data::float_of_half(0x7c00)));
  EXPECT_TRUE(std::isnan(data::float_of_half(data::half_of(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Half, bfloat_is_the_upper_half_of_a_float_rounded) {
  for (unsigned upper = 0; upper < 0x7f7f; ++upper) {
    const auto bits = static_cast<std::uint16_t>(upper);
    const float here = data::float_of_bfloat(bits);
    EXPECT_EQ(data::bfloat_of(here), bits);
    const float middle = std::bit_cast<float>((upper << 16) | 0x8000U);
    EXPECT_EQ(data::bfloat_of(middle), upper % 2 == 0 ? upper : upper + 1);
    EXPECT_EQ(data::bfloat_of(std::nextafter(middle, 0.0F)), upper);
    EXPECT_EQ(data::bfloat_of(-std::nextafter(middle, INFINITY)), (upper + 1) | 0x8000U);
  }
  EXPECT_EQ(data::bfloat_of(1.0F), 0x3f80);
  EXPECT_TRUE(std::isinf(data::float_of_bfloat(data::bfloat_of(std::numeric_limits<float>::max()))));
  EXPECT_TRUE(std::isnan(data::float_of_bfloat(data::bfloat_of(std::bit_cast<float>(0x7f800001U)))));
}

struct Form {
  DrawsType type;
  bool shared;
};
class Draws : public testing::TestWithParam<Form> {
 protected:
  static constexpr std::size_t kColumns = 37;
  DrawsWriter::Options options() const {
    return {.type = GetParam().type,
            .largest_shared_draw = GetParam().shared ? kColumns * 4 : kColumns * 2 - 1};
  }
  std::vector<float> stored(std::size_t i) const {
    auto draw = draw_of(i, kColumns);
    for (float& value : draw) {
      if (GetParam().type == DrawsType::float16) value = data::float_of_half(data::half_of(value));
      if (GetParam().type == DrawsType::bfloat16) value = data::float_of_bfloat(data::bfloat_of(value));
    }
    return draw;
  }
};

TEST_P(Draws, come_back_as_they_were_written) {
  const TemporaryFolder folder;
  const fs::path path = folder / "chain-03.npy";
  EXPECT_FALSE(DrawsReader::exist(path));
  DrawsWriter writer = DrawsWriter::create(path, kColumns, options());
  for (std::size_t i = 0; i < 5; ++i) {
    writer.append(draw_of(i, kColumns));
    const DrawsReader growing(path);  // readable while it grows
    EXPECT_EQ(growing.rows(), i + 1);
  }
  writer.sync();
  EXPECT_EQ(writer.rows(), 5U);
  EXPECT_EQ(fs::exists(path), GetParam().shared);
  EXPECT_EQ(fs::exists(folder / "chain-03/draw-000004.npy"), !GetParam().shared);
  const DrawsReader reader(path);
  EXPECT_EQ(reader.rows(), 5U);
  EXPECT_EQ(reader.columns(), kColumns);
  EXPECT_EQ(reader.type(), GetParam().type);
  std::vector<float> draw(kColumns);
  for (const std::size_t i : {4, 0, 2}) {
    reader.read(i, draw);
    EXPECT_EQ(draw, stored(i));
    std::vector<float> some(2);
    const std::vector<std::size_t> parameters{36, 5};
    reader.read(i, parameters, some);
    EXPECT_EQ(some, (std::vector<float>{stored(i)[36], stored(i)[5]}));
  }
  EXPECT_THROW(reader.read(5, draw), Error);
  // NumPy's own form, whatever the type.
  const NpyArray array = read_npy(GetParam().shared ? path : folder / "chain-03/draw-000002.npy");
  if (GetParam().type != DrawsType::bfloat16) {
    const auto values = array.as<float>();
    EXPECT_EQ(values[GetParam().shared ? 2 * kColumns + 7 : 7], stored(2)[7]);
  } else {
    const auto bits = array.as<std::uint32_t>();
    EXPECT_EQ(std::bit_cast<float>(bits[GetParam().shared ? 2 * kColumns + 7 : 7] << 16), stored(2)[7]);
  }
}

TEST_P(Draws, go_on_after_those_that_count) {
  const TemporaryFolder folder;
  const fs::path path = folder / "chain-00.npy", whole = folder / "chain-01.npy";
  {
    DrawsWriter writer = DrawsWriter::create(path, kColumns, options());
    for (std::size_t i = 0; i < 6; ++i) writer.append(draw_of(100 + i, kColumns));
  }
  // Another form that is there is replaced.
  fs::create_directories(folder / "chain-01");
  folder.write("chain-01/draw-000000.npy", "x");
  folder.write("chain-01.npy", "x");
  DrawsWriter all = DrawsWriter::create(whole, kColumns, options());
  for (std::size_t i = 0; i < 4; ++i) all.append(draw_of(100 + i, kColumns));
  for (std::size_t i = 4; i < 7; ++i) all.append(draw_of(i, kColumns));
  DrawsWriter writer = DrawsWriter::reopen(path, kColumns, 4, options());
  EXPECT_EQ(DrawsReader(path).rows(), 4U);
  for (std::size_t i = 4; i < 7; ++i) writer.append(draw_of(i, kColumns));
  if (GetParam().shared) {
    EXPECT_EQ(content_of(path), content_of(whole));
  } else {
    for (int i = 0; i < 7; ++i) {
      const std::string name = "draw-00000" + std::to_string(i) + ".npy";
      EXPECT_EQ(content_of(folder / "chain-00" / name), content_of(folder / "chain-01" / name));
    }
    EXPECT_FALSE(fs::exists(folder / "chain-00/draw-000007.npy"));
  }
  EXPECT_THROW(DrawsWriter::reopen(path, kColumns, 9, options()), Error);
  EXPECT_THROW(DrawsWriter::reopen(path, kColumns + 1, 4, options()), Error);
  auto other = options();
  other.type = other.type == DrawsType::float16 ? DrawsType::bfloat16 : DrawsType::float16;
  if (!GetParam().shared) other.largest_shared_draw = 1;
  EXPECT_THROW(DrawsWriter::reopen(path, kColumns, 4, other), Error);
}

// Half precision ends at 65504: a draw beyond it is no draw.
TEST(DrawsWriter, RefusesWhatFloat16DoesNotHold) {
  TemporaryFolder folder;
  const std::vector<float> fits{65519, -65504, 1}, beyond{1, -65520, 1};
  DrawsWriter writer = DrawsWriter::create(folder / "chain-00.npy", 3, {.type = DrawsType::float16});
  writer.append(fits);
  try {
    writer.append(beyond);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("parameter 1 of a draw is -65520"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("draws_dtype: bfloat16"), std::string::npos) << error.what();
  }
  DrawsWriter wide = DrawsWriter::create(folder / "chain-01.npy", 3, {.type = DrawsType::bfloat16});
  wide.append(beyond);
}

INSTANTIATE_TEST_SUITE_P(Forms, Draws,
                         testing::Values(Form{DrawsType::float32, true}, Form{DrawsType::float16, true},
                                         Form{DrawsType::bfloat16, true}, Form{DrawsType::float32, false},
                                         Form{DrawsType::float16, false}, Form{DrawsType::bfloat16, false}),
                         [](const auto& form) {
                           return std::string(name_of(form.param.type)) +
                                  (form.param.shared ? "Shared" : "FileEach");
                         });

TEST(DrawsFiles, damage_is_an_error) {
  const TemporaryFolder folder;
  const auto error_of = [&](const char* name) {
    try {
      const DrawsReader reader(folder / name);
      std::vector<float> draw(reader.columns());
      for (std::size_t i = 0; i < reader.rows(); ++i) reader.read(i, draw);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(error_of("none.npy").find("none.npy: no such file"), std::string::npos);
  write_npy(folder / "double.npy", {2, 2}, std::vector<double>(4));
  EXPECT_NE(error_of("double.npy").find("is no file of draws"), std::string::npos);
  DrawsWriter::create(folder / "cut.npy", 3, {}).append(std::vector<float>(3));
  const std::string whole = content_of(folder / "cut.npy");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    folder.write("cut.npy", whole.substr(0, size));
    EXPECT_NE(error_of("cut.npy"), "no error") << size;
  }
  auto each = DrawsWriter::create(folder / "each.npy", 3, {.largest_shared_draw = 1});
  each.append(std::vector<float>(3));
  each.append(std::vector<float>(3));
  write_npy(folder / "each/draw-000001.npy", {2}, std::vector<float>(2));
  EXPECT_NE(error_of("each.npy").find("draw-000001.npy: is a draw of another size"), std::string::npos);
}

TEST(DrawsFiles, names_of_types) {
  EXPECT_EQ(parse_name<DrawsType>("bfloat16"), DrawsType::bfloat16);
  EXPECT_EQ(name_of(DrawsType::float16), "float16");
  EXPECT_FALSE(parse_name<DrawsType>("half"));
}

}  // namespace
}  // namespace smile
