// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "smile/data/images.hpp"
#include "smile/error.hpp"
#include "support/media_files.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

std::vector<int> labels_of(int count, int classes) {
  std::vector<int> labels;
  for (int i = 0; i < count; ++i) labels.push_back(i % classes);
  return labels;
}

/// 40 training and 10 test images of 4 × 3 pixels in 5 classes.
void write_idx_set(const TemporaryFolder& folder, bool packed) {
  const auto put = [&](const std::string& name, const std::string& content) {
    folder.write(packed ? name + ".gz" : name, packed ? test::gzipped(content) : content);
  };
  put("train-images-idx3-ubyte", test::idx_images(40, 4, 3));
  put("train-labels-idx1-ubyte", test::idx_labels(labels_of(40, 5)));
  put("t10k-images-idx3-ubyte", test::idx_images(10, 4, 3));
  put("t10k-labels-idx1-ubyte", test::idx_labels(labels_of(10, 5)));
}

TEST(Images, idx_files_plain_and_packed_give_the_same_set) {
  for (const bool packed : {false, true}) {
    const TemporaryFolder folder;
    write_idx_set(folder, packed);
    const ImageDataset set = load_image_dataset(
        {.path = folder.path(), .split = {.train = 0.6, .valid = 0.2, .test = 0.2}, .seed = 3});
    EXPECT_EQ(set.images->shape, (ImageShape{1, 4, 3}));
    ASSERT_EQ(set.images->size(), 50U);
    EXPECT_EQ(set.train.size(), 30U);  // 0.6 : 0.2 of 40
    EXPECT_EQ(set.valid.size(), 10U);
    EXPECT_EQ(set.test.size(), 10U);
    EXPECT_EQ(set.info.labels.classes(), 5U);
    EXPECT_EQ(set.info.labels.names[4], "4");
    EXPECT_EQ(set.info.labels.counts[4], 10U);
    // Rows of training and validation are those of the training file, each once; the test part is in order.
    std::set<std::uint32_t> rows(set.info.train_rows.begin(), set.info.train_rows.end());
    rows.insert(set.info.valid_rows.begin(), set.info.valid_rows.end());
    EXPECT_EQ(rows.size(), 40U);
    EXPECT_EQ(*rows.rbegin(), 39U);
    EXPECT_EQ(set.info.test_rows.front(), 40U);
    EXPECT_EQ(set.info.test_rows.back(), 49U);
    EXPECT_FALSE(std::is_sorted(set.info.train_rows.begin(), set.info.train_rows.end()));
    for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(set.train.labels()[i], set.info.train_rows[i] % 5);
    // A pixel of the file, to [0, 1].
    std::vector<float> batch(2 * 12);
    const std::uint32_t items[] = {7, 2};
    set.test.assemble(items, batch);
    for (std::size_t k = 0; k < 12; ++k) {
      EXPECT_FLOAT_EQ(batch[k], float((7 * 12 + k) % 251) / 255);
      EXPECT_FLOAT_EQ(batch[12 + k], float((2 * 12 + k) % 251) / 255);
    }
    std::vector<float> all(10 * 12);
    set.test.assemble({}, all);
    EXPECT_TRUE(std::equal(batch.begin(), batch.begin() + 12, all.begin() + 7 * 12));
  }
}

TEST(Images, split_follows_the_seed_alone) {
  const TemporaryFolder folder;
  write_idx_set(folder, true);
  const auto rows = [&](std::uint64_t seed) {
    return load_image_dataset({.path = folder.path(), .seed = seed}).info.train_rows;
  };
  EXPECT_EQ(rows(1), rows(1));
  EXPECT_NE(rows(1), rows(2));
  const auto limited = load_image_dataset({.path = folder.path(), .seed = 1, .max_rows = 16});
  EXPECT_EQ(limited.train.size(), 14U);
  EXPECT_EQ(limited.valid.size(), 2U);
  EXPECT_EQ(limited.test.size(), 10U);
}

TEST(Images, cifar_records_are_normalised_per_channel) {
  const TemporaryFolder folder;
  folder.write("train-some.bin.gz", test::gzipped(test::cifar_records(labels_of(20, 10))));
  folder.write("test-some.bin", test::cifar_records({9, 0}));
  folder.write("batches.meta.txt",
               "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n");
  const ImageDataset set = load_image_dataset({.path = folder.path()});
  EXPECT_EQ(set.images->shape, (ImageShape{3, 32, 32}));
  EXPECT_EQ(set.info.labels.names[9], "truck");
  ASSERT_EQ(set.test.size(), 2U);
  EXPECT_EQ(set.test.labels()[0], 9U);
  std::vector<float> batch(2 * 3072);
  set.test.assemble({}, batch);
  const double mean[] = {0.4914, 0.4822, 0.4465}, sd[] = {0.247, 0.243, 0.261};
  for (const std::size_t k : {0, 1023, 1024, 2047, 2048, 3071})
    EXPECT_NEAR(batch[3072 + k], (double((7 + k) % 256) / 255 - mean[k / 1024]) / sd[k / 1024], 1e-6);
  const ImageDataset plain = load_image_dataset({.path = folder.path(), .normalize = false});
  plain.test.assemble({}, batch);
  EXPECT_FLOAT_EQ(batch[3], 3.0F / 255);
}

// The names of CIFAR-100's files with the records of CIFAR-10.
TEST(Images, the_length_of_a_record_tells_cifar_10_from_100) {
  TemporaryFolder folder;
  folder.write("train.bin", test::cifar_records(labels_of(20, 10)));
  folder.write("test.bin", test::cifar_records({9, 0}));
  const ImageDataset data = load_image_dataset({.path = folder.path()});
  EXPECT_EQ(data.info.labels.classes(), 10u);
}

TEST(Images, cifar_100_takes_the_fine_label) {
  const TemporaryFolder folder;
  std::string records;
  for (int i = 0; i < 20; ++i)
    records += std::string{static_cast<char>(3), static_cast<char>(80 + i)} +
               std::string(3072, static_cast<char>(i));
  folder.write("train.bin", records);
  folder.write("test.bin", records.substr(0, 3074));
  const ImageDataset set = load_image_dataset({.path = folder.path()});
  EXPECT_EQ(set.info.labels.classes(), 100U);
  EXPECT_EQ(set.test.labels()[0], 80U);
}

/// A JPEG file with an Exif segment that has the orientation tag behind another one.
std::string tagged(const std::string& jpeg, int orientation, bool big_endian) {
  const auto number = [&](std::uint32_t value, int bytes) {
    std::string out;
    for (int k = 0; k < bytes; ++k) out += char(value >> 8 * (big_endian ? bytes - 1 - k : k));
    return out;
  };
  const std::string value = number(std::uint32_t(orientation), 2) + std::string(2, '\0');
  const std::string segment = std::string("Exif\0\0", 6) + (big_endian ? "MM" : "II") + number(42, 2) +
                              number(8, 4) + number(2, 2) + number(0x0100, 2) + number(4, 2) + number(1, 4) +
                              number(77, 4) + number(0x0112, 2) + number(3, 2) + number(1, 4) + value +
                              number(0, 4);
  const auto length = segment.size() + 2;
  return jpeg.substr(0, 2) + "\xff\xe1" + char(length >> 8) + char(length & 0xff) + segment + jpeg.substr(2);
}

TEST(Images, the_orientation_tag_of_jpeg_files_is_applied) {
  const TemporaryFolder folder;
  const std::size_t height = 24, width = 40;
  const std::string jpeg = test::jpeg_file(height, width, 3, test::smooth_picture(height, width));
  const DecodedImage stored = read_image_file(folder.write("s.jpg", jpeg));
  // Row and column of the stored picture that are seen at row y and column x, as the standard's drawings
  // show.
  using Place = std::pair<std::size_t, std::size_t>;
  const std::size_t h = height - 1, w = width - 1;
  const std::function<Place(std::size_t, std::size_t)> seen[] = {
      [](auto y, auto x) { return Place(y, x); },          [=](auto y, auto x) { return Place(y, w - x); },
      [=](auto y, auto x) { return Place(h - y, w - x); }, [=](auto y, auto x) { return Place(h - y, x); },
      [](auto y, auto x) { return Place(x, y); },          [=](auto y, auto x) { return Place(h - x, y); },
      [=](auto y, auto x) { return Place(h - x, w - y); }, [=](auto y, auto x) { return Place(x, w - y); }};
  for (int tag = 1; tag <= 8; ++tag)
    for (const bool big : {false, true}) {
      const DecodedImage image = read_image_file(folder.write("t.jpg", tagged(jpeg, tag, big)));
      ASSERT_EQ(image.height, tag < 5 ? height : width) << tag;
      ASSERT_EQ(image.width, tag < 5 ? width : height) << tag;
      std::size_t wrong = 0;
      for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t y = 0; y < image.height; ++y)
          for (std::size_t x = 0; x < image.width; ++x) {
            const auto [row, column] = seen[tag - 1](y, x);
            wrong += image.pixels[(c * image.height + y) * image.width + x] !=
                     stored.pixels[(c * height + row) * width + column];
          }
      EXPECT_EQ(wrong, 0u) << tag;
    }
  // Segments cut anywhere, and values out of range, leave the picture as it is stored.
  for (const int tag : {0, 9, 255})
    EXPECT_EQ(read_image_file(folder.write("t.jpg", tagged(jpeg, tag, false))).pixels, stored.pixels);
  const std::string whole = tagged("\xff\xd8", 6, true).substr(6);
  for (std::size_t length = 0; length < whole.size() - 8; ++length) {
    const std::string cut = jpeg.substr(0, 2) + "\xff\xe1" + char(0) + char(length + 2) +
                            whole.substr(0, length) + jpeg.substr(2);
    EXPECT_EQ(read_image_file(folder.write("t.jpg", cut)).height, height) << length;
  }
}

TEST(Images, jpeg_and_png_of_every_kind_are_rgb) {
  const TemporaryFolder folder;
  const std::size_t height = 24, width = 40;
  const auto picture = test::smooth_picture(height, width);
  std::vector<std::uint8_t> grey, transparent;
  for (std::size_t i = 0; i < height * width; ++i) {
    grey.push_back(picture[3 * i + 1]);
    for (std::size_t c = 0; c < 3; ++c) transparent.push_back(picture[3 * i + c]);
    transparent.push_back(i == 0 ? 0 : 255);
  }
  const auto check = [&](const DecodedImage& image, bool colour, int tolerance) {
    ASSERT_EQ(image.height, height);
    ASSERT_EQ(image.width, width);
    ASSERT_EQ(image.pixels.size(), 3 * height * width);
    for (std::size_t i = 1; i < height * width; ++i)
      for (std::size_t c = 0; c < 3; ++c)
        EXPECT_NEAR(int(image.pixels[c * height * width + i]), int(colour ? picture[3 * i + c] : grey[i]),
                    tolerance);
  };
  check(read_image_file(folder.write("c.jpg", test::jpeg_file(height, width, 3, picture))), true, 6);
  check(read_image_file(folder.write("g.jpg", test::jpeg_file(height, width, 1, grey))), false, 2);
  check(read_image_file(folder.write("c.png", test::png_file(height, width, PNG_FORMAT_RGB, picture))), true,
        0);
  check(read_image_file(folder.write("g.png", test::png_file(height, width, PNG_FORMAT_GRAY, grey))), false,
        0);
  const auto clear =
      read_image_file(folder.write("t.png", test::png_file(height, width, PNG_FORMAT_RGBA, transparent)));
  check(clear, true, 0);
  EXPECT_EQ(clear.pixels[0], 0);
  // The content counts, not the name.
  check(read_image_file(folder.write("x.jpg", test::png_file(height, width, PNG_FORMAT_RGB, picture))), true,
        0);
}

TEST(Images, sixteen_bits_are_as_bright_as_eight) {
  const TemporaryFolder folder;
  const std::vector<std::uint8_t> eight(16, 0x64);
  const std::vector<std::uint16_t> sixteen(16, 0x6464);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = image.height = 4;
  image.format = PNG_FORMAT_LINEAR_Y;
  image.flags = PNG_IMAGE_FLAG_COLORSPACE_NOT_sRGB;
  const auto path = folder / "sixteen.png";
  ASSERT_NE(png_image_write_to_file(&image, path.c_str(), 0, sixteen.data(), 0, nullptr), 0);
  std::string bytes = test::content_of(path);
  // A 16-bit file by libpng has a gamma chunk (linear); those of cameras and editors have none.
  const auto chunk = bytes.find("gAMA");
  if (chunk != std::string::npos) bytes.erase(chunk - 4, 16);
  EXPECT_EQ(read_image_file(folder.write("plain.png", bytes)).pixels,
            read_image_file(folder.write("eight.png", test::png_file(4, 4, PNG_FORMAT_GRAY, eight))).pixels);
}

TEST(Images, class_folders_become_labels) {
  const TemporaryFolder folder;
  for (const char* part : {"train", "val"})
    for (const char* name : {"zebra", "ant"}) {
      const std::string at = std::string(part) + "/" + name;
      fs::create_directories(folder / at);
      for (int i = 0; i < 6; ++i)
        folder.write(at + "/" + std::to_string(i) + (i % 2 ? ".PNG" : ".JPEG"),
                     i % 2 ? test::png_file(20, 20, PNG_FORMAT_RGB, test::smooth_picture(20, 20))
                           : test::jpeg_file(20, 20, 3, test::smooth_picture(20, 20)));
    }
  folder.write("train/ant/.hidden.jpg", "x");
  folder.write("train/ant/readme.txt", "x");
  fs::create_directories(folder / "train/ant/more");
  const ImageDataset set = load_image_dataset({.path = folder.path(), .side = 10});
  EXPECT_EQ(set.images->shape, (ImageShape{3, 10, 10}));
  EXPECT_EQ(set.info.labels.names, (std::vector<std::string>{"ant", "zebra"}));
  EXPECT_EQ(set.images->size(), 24U);
  EXPECT_EQ(set.test.size(), 12U);
  EXPECT_EQ(set.test.labels()[0], 0U);
  EXPECT_EQ(set.test.labels()[11], 1U);
  EXPECT_EQ(set.info.image->channel_mean, (std::vector<double>{0.485, 0.456, 0.406}));
  ASSERT_EQ(set.warnings.size(), 1U);
  EXPECT_NE(set.warnings[0].find("2 files"), std::string::npos);
  fs::rename(folder / "val/zebra", folder / "val.zebra");
  const ImageDataset without = load_image_dataset({.path = folder.path(), .side = 10});
  ASSERT_EQ(without.warnings.size(), 2U);
  EXPECT_EQ(without.warnings[1], "class 'zebra' has no test image");
  fs::rename(folder / "val.zebra", folder / "val/zebra");
  // Without a train folder the three parts come from all images.
  const ImageDataset one =
      load_image_dataset({.path = folder / "train", .split = {.train = 0.5, .valid = 0.25, .test = 0.25}});
  EXPECT_EQ(one.train.size(), 6U);
  EXPECT_EQ(one.valid.size(), 3U);
  EXPECT_EQ(one.test.size(), 3U);
  const ImageDataset two = load_image_dataset({.path = folder / "train", .test_path = folder / "val"});
  EXPECT_EQ(two.test.size(), 12U);
}

TEST(Images, torchvision_paths_find_the_usual_places) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "data/FashionMNIST/raw");
  {
    const TemporaryFolder source;
    write_idx_set(source, true);
    for (const auto& entry : fs::directory_iterator(source.path()))
      fs::copy(entry.path(), folder / "data/FashionMNIST/raw" / entry.path().filename());
  }
  const auto load = [&](const char* path) {
    return load_image_dataset({.path = folder / path, .torchvision = true});
  };
  EXPECT_EQ(load("data/fashion_mnist").images->size(), 50U);
  fs::rename(folder / "data/FashionMNIST/raw", folder / "data/fashion-mnist");
  EXPECT_EQ(load("data/fashion-mnist/").images->size(), 50U);
  fs::remove(folder / "data/fashion-mnist/t10k-labels-idx1-ubyte.gz");
  try {
    load("data/fashion-mnist");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.cause().find("these files are missing: t10k-labels-idx1-ubyte"), std::string::npos);
  }
}

TEST(Images, resizing_keeps_constants_means_and_orientation) {
  const std::vector<std::uint8_t> constant(3 * 7 * 5, 93);
  for (const std::size_t side : {1, 3, 11})
    for (const std::uint8_t pixel : resize_image(constant, {3, 7, 5}, side, side)) EXPECT_EQ(pixel, 93);
  // Halving averages: the triangle filter of width 2 weighs two pixels of a ramp alike inside.
  std::vector<std::uint8_t> ramp(64 * 64);
  for (std::size_t y = 0; y < 64; ++y)
    for (std::size_t x = 0; x < 64; ++x) ramp[y * 64 + x] = static_cast<std::uint8_t>(2 * x + y);
  const auto half = resize_image(ramp, {1, 64, 64}, 32, 32);
  for (std::size_t y = 1; y < 31; ++y)
    for (std::size_t x = 1; x < 31; ++x)
      EXPECT_NEAR(half[y * 32 + x], 2 * (2 * double(x) + 0.5) + 2 * double(y) + 0.5, 0.51);
  const auto twice = resize_image(ramp, {1, 64, 64}, 128, 128);
  for (std::size_t y = 1; y < 127; ++y)
    for (std::size_t x = 1; x < 127; ++x)
      EXPECT_NEAR(twice[y * 128 + x], 2 * (double(x) / 2 - 0.25) + double(y) / 2 - 0.25, 0.51);
}

TEST(Images, augmented_batches_are_views_of_the_images) {
  // A ramp in x and y: every crop of it is a ramp whose slope tells its size, and whose sign tells a flip.
  auto images = std::make_shared<ImageSet>();
  images->shape = {2, 20, 30};
  images->labels.assign(400, 0);
  for (std::size_t i = 0; i < 400; ++i) {
    for (std::size_t k = 0; k < 600; ++k) images->pixels.push_back(static_cast<std::uint8_t>(k % 30 * 4));
    for (std::size_t k = 0; k < 600; ++k) images->pixels.push_back(static_cast<std::uint8_t>(k / 30 * 6));
  }
  std::vector<std::uint32_t> rows(400);
  std::iota(rows.begin(), rows.end(), 0U);
  const ImageRows part(images, rows, ImageNormalisation::unit(2));
  std::vector<float> batch(400 * 1200), again(batch.size());
  const StreamKey key{.seed = 5, .chain = 2, .purpose = Purpose::augmentation};
  part.assemble_augmented({}, key, 9, batch);
  part.assemble_augmented({}, key, 9, again);
  EXPECT_EQ(batch, again);
  part.assemble_augmented({}, key, 10, again);
  EXPECT_NE(batch, again);
  int flipped = 0, cropped = 0;
  std::set<int> lefts, tops;
  for (std::size_t i = 0; i < 400; ++i) {
    const float* image = batch.data() + i * 1200;
    const float across = (image[20] - image[10]) * 255 / 10,
                down = (image[600 + 15 * 30] - image[600 + 5 * 30]) * 255 / 10;
    flipped += across < 0;
    const bool whole = std::abs(std::abs(across) - 4) < 1e-3;
    cropped += !whole;
    EXPECT_NEAR(std::abs(across), whole ? 4 : 4 * 0.7, 1e-3);  // 21 of 30 columns
    EXPECT_NEAR(down, whole ? 6 : 6 * 0.7, 1e-3);              // 14 of 20 rows, never upside down
    if (whole) continue;
    const float left = std::min(image[0], image[29]) * 255 / 4;
    lefts.insert(static_cast<int>(std::lround(left)));
    tops.insert(static_cast<int>(std::lround(image[600] * 255 / 6)));
  }
  EXPECT_NEAR(flipped, 200, 50);  // five standard deviations
  EXPECT_NEAR(cropped, 380, 22);
  EXPECT_EQ(lefts.size(), 10U);  // every place of 21 columns in 30
  EXPECT_EQ(*lefts.rbegin(), 9);
  EXPECT_EQ(tops.size(), 7U);
  // What one image becomes depends on its place in the batch alone.
  const std::uint32_t items[] = {3, 1};
  std::vector<float> two(2 * 1200);
  part.assemble_augmented(items, key, 9, two);
  EXPECT_TRUE(std::equal(two.begin(), two.end(), batch.begin()));
}

TEST(Images, flattened_images_are_rows_of_a_table) {
  const TemporaryFolder folder;
  write_idx_set(folder, false);
  const ImageDataset images = load_image_dataset({.path = folder.path()});
  const Dataset table = flatten(images);
  ASSERT_EQ(table.test.rows, 10U);
  ASSERT_EQ(table.test.features.size(), 120U);
  EXPECT_NEAR(table.test.features[14], 14.0 / 255, 1e-7);
  EXPECT_EQ(table.test.targets[3], 3.0);
}

TEST(Images, info_comes_back_from_the_run_directory) {
  const TemporaryFolder folder;
  write_idx_set(folder, true);
  const ImageDataset set = load_image_dataset({.path = folder.path()});
  save_dataset_info(set.info, folder / "splits.npz");
  const DatasetInfo info = load_dataset_info(folder / "splits.npz");
  ASSERT_TRUE(info.image.has_value());
  EXPECT_FALSE(info.text.has_value());
  EXPECT_EQ(info.image->height, 4U);
  EXPECT_EQ(info.image->width, 3U);
  EXPECT_EQ(info.image->channel_sd, (std::vector<double>{1}));
  EXPECT_EQ(info.checksum, set.info.checksum);
  EXPECT_EQ(info.test_rows, set.info.test_rows);
  EXPECT_EQ(info.labels.names, set.info.labels.names);
}

TEST(Images, shipped_sample_reads) {
  const ImageDataset set = load_image_dataset({.path = SMILE_SOURCE_DIR "/data/fashion-mnist-small"});
  EXPECT_EQ(set.images->shape, (ImageShape{1, 28, 28}));
  EXPECT_EQ(set.train.size() + set.valid.size(), 600U);
  EXPECT_EQ(set.test.size(), 200U);
  for (const std::size_t count : set.info.labels.counts) EXPECT_EQ(count, 80U);
  // Mean pixel of Fashion-MNIST's training images is 0.2860.
  std::vector<float> pixels(set.train.size() * 784);
  set.train.assemble({}, pixels);
  EXPECT_NEAR(std::accumulate(pixels.begin(), pixels.end(), 0.0) / double(pixels.size()), 0.286, 0.02);
}

}  // namespace
}  // namespace smile
