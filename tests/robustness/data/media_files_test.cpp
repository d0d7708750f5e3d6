// SPDX-License-Identifier: Apache-2.0
// Images and texts that are missing, cut short, damaged, or not what they claim to be.
#include <gtest/gtest.h>

#include <functional>

#include "data/image_readers.hpp"
#include "files/gzip.hpp"
#include "smile/data/images.hpp"
#include "smile/data/text.hpp"
#include "smile/error.hpp"
#include "support/media_files.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_FALSE(error.mend().empty());
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "one line";
    return error.what();
  }
  return "no error";
}

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

/// Every error of a set of images in a folder.
class MediaFiles : public testing::Test {
 protected:
  std::string load(ImageOptions options = ImageOptions{.path = {}}) {
    options.path = folder.path();
    return error_of([&] { load_image_dataset(options); });
  }
  void write_idx(const std::string& images, const std::string& labels, const std::string& test_images,
                 const std::string& test_labels) {
    folder.write("train-images-idx3-ubyte", images);
    folder.write("train-labels-idx1-ubyte", labels);
    folder.write("t10k-images-idx3-ubyte", test_images);
    folder.write("t10k-labels-idx1-ubyte", test_labels);
  }
  const std::vector<int> labels_ = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
  TemporaryFolder folder;
};

TEST_F(MediaFiles, missing_files_are_listed) {
  EXPECT_TRUE(
      has(error_of([&] { load_image_dataset({.path = folder / "none"}); }), "none: no such file or folder"));
  EXPECT_TRUE(has(load(), "there are no images in it"));
  folder.write("train-images-idx3-ubyte", test::idx_images(12, 2, 2));
  folder.write("t10k-labels-idx1-ubyte", test::idx_labels(labels_));
  EXPECT_TRUE(
      has(load(), "these files are missing: train-labels-idx1-ubyte[.gz], t10k-images-idx3-ubyte[.gz]; put"));
  EXPECT_TRUE(
      has(error_of([&] { load_image_dataset({.path = folder / "fashion_mnist", .torchvision = true}); }),
          "these files are missing: train-images-idx3-ubyte[.gz], train-labels-idx1-ubyte[.gz], "
          "t10k-images-idx3-ubyte[.gz], t10k-labels-idx1-ubyte[.gz]; put"));
  EXPECT_TRUE(
      has(error_of([&] { load_image_dataset({.path = folder / "digits", .torchvision = true}); }),
          "names no set of torchvision's that is known here; let it end with one of fashionmnist, mnist"));
  fs::create_directories(folder / "cifar10/cifar-10-batches-py");
  EXPECT_TRUE(
      has(error_of([&] { load_image_dataset({.path = folder / "cifar10", .torchvision = true}); }),
          "these files are missing: data_batch_1.bin, data_batch_2.bin, data_batch_3.bin, data_batch_4.bin, "
          "data_batch_5.bin, test_batch.bin; put the binary version of the set there"));
  fs::create_directories(folder / "imagenette/train/n01");
  EXPECT_TRUE(has(error_of([&] { load_image_dataset({.path = folder / "imagenette", .torchvision = true}); }),
                  "the folder val is missing"));
  fs::remove(folder / "train-images-idx3-ubyte");
  folder.write("train.images", "x");
  EXPECT_TRUE(
      has(error_of([&] { load_image_dataset({.path = folder / "train.images"}); }), "no file of labels"));
}

TEST_F(MediaFiles, idx_files_of_the_wrong_kind_or_size) {
  const std::string images = test::idx_images(12, 2, 3), names = test::idx_labels(labels_);
  write_idx(names, names, images, names);
  EXPECT_TRUE(has(
      load(), "train-images-idx3-ubyte: the file begins with the number 2049 where IDX images have 2051"));
  write_idx(images, images, images, names);
  EXPECT_TRUE(has(
      load(), "train-labels-idx1-ubyte: the file begins with the number 2051 where IDX labels have 2049"));
  write_idx(images, test::idx_labels({0, 1}), images, names);
  EXPECT_TRUE(has(load(), "has 2 labels, but"));
  write_idx(images, names, test::idx_images(12, 3, 2), names);
  EXPECT_TRUE(has(load(), "the test images are 2 × 3 (grey), the training images 3 × 2 (grey)"));
  write_idx(images.substr(0, 70), names, images, names);
  EXPECT_TRUE(
      has(load(),
          "train-images-idx3-ubyte: the IDX file is cut short: 54 bytes of data where its header says 72"));
  write_idx(images + "x", names, images, names);
  EXPECT_TRUE(has(load(), "surplus bytes: 73"));
  write_idx(images.substr(0, 10), names, images, names);
  EXPECT_TRUE(has(load(), "the IDX header is cut short"));
  write_idx("", names, images, names);
  EXPECT_TRUE(has(load(), "too short to be an IDX file"));
  const std::string huge = test::big_endian(0x803) + std::string(12, '\xff');
  write_idx(huge, names, images, names);
  EXPECT_TRUE(has(load(), "train-images-idx3-ubyte: the IDX"));
  const std::string packed = test::gzipped(images);
  write_idx(packed.substr(0, packed.size() - 9), names, images, names);
  EXPECT_TRUE(has(load(), "train-images-idx3-ubyte: the gzip file is cut short"));
  std::string wrong = packed;
  wrong[packed.size() - 6] = static_cast<char>(wrong[packed.size() - 6] ^ 1);  // the checksum
  write_idx(wrong, names, images, names);
  EXPECT_TRUE(has(load(), "the gzip file is damaged (incorrect data check)"));
}

TEST_F(MediaFiles, labels_out_of_range_are_named) {
  const std::string images = test::idx_images(12, 2, 3);
  auto far = labels_, next = labels_;
  far[7] = 200;
  next[5] = 3;
  write_idx(images, test::idx_labels(far), images, test::idx_labels(labels_));
  EXPECT_TRUE(has(load(), "train-labels-idx1-ubyte: the label of item 7 is 200, out of the range 0 to 2"));
  EXPECT_TRUE(has(load({.path = {}, .classes = 3}),
                  "train-labels-idx1-ubyte: the label of item 7 is 200, out of the range 0 to 2"));
  write_idx(images, test::idx_labels(labels_), images, test::idx_labels(next));
  EXPECT_TRUE(has(load(), "t10k-labels-idx1-ubyte: the label of item 5 is 3, out of the range 0 to 2"));
  EXPECT_EQ(load({.path = {}, .classes = 4}), "no error");
  write_idx(images, test::idx_labels(std::vector<int>(12, 0)), images,
            test::idx_labels(std::vector<int>(12, 0)));
  EXPECT_TRUE(has(load(), "the images are all of one class"));
}

TEST_F(MediaFiles, cifar_files_that_are_cut_short_or_of_another_kind) {
  const std::string records = test::cifar_records({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  folder.write("train.one.bin", records);
  folder.write("test.bin", records.substr(0, 3073 * 2 - 1));
  EXPECT_TRUE(has(load(), "test.bin: 6145 bytes are no whole number of CIFAR-10 records of 3073 bytes"));
  folder.write("test.bin", "");
  EXPECT_TRUE(has(load(), "test.bin: no data"));
  std::string wrong = records;
  wrong[3073 * 4] = 10;
  folder.write("test.bin", wrong);
  EXPECT_TRUE(has(load(), "test.bin: the label of record 4 is 10, out of the range 0 to 9"));
  EXPECT_TRUE(has(load({.format = ImageFormat::cifar100, .path = {}}),
                  "no whole number of CIFAR-100 records of 3074 bytes"));
}

TEST_F(MediaFiles, broken_images_are_named) {
  const auto picture = test::smooth_picture(16, 16);
  const std::string jpeg = test::jpeg_file(16, 16, 3, picture),
                    png = test::png_file(16, 16, PNG_FORMAT_RGB, picture);
  for (const char* part : {"train", "val"})
    for (const char* name : {"a", "b"}) {
      fs::create_directories(folder / (std::string(part) + "/" + name));
      for (int i = 0; i < 8; ++i)
        folder.write(std::string(part) + "/" + name + "/" + std::to_string(i) + ".png", png);
    }
  EXPECT_EQ(load(), "no error");
  folder.write("val/b/cut.jpg", jpeg.substr(0, jpeg.size() / 2));
  EXPECT_TRUE(has(load(), "val/b/cut.jpg: the JPEG file is damaged or cut short ("));
  folder.write("val/a/cut.png", png.substr(0, png.size() / 2));
  folder.write("val/a/text.jpg", "text");
  folder.write("val/a/void.jpg", "");
  const std::string all = load();
  EXPECT_TRUE(has(all, "4 images cannot be read: "));
  for (const char* name : {"val/a/cut.png", "val/a/text.jpg", "val/a/void.jpg", "val/b/cut.jpg"})
    EXPECT_TRUE(has(all, name));
  for (const char* name : {"val/a/cut.png", "val/a/text.jpg", "val/a/void.jpg", "val/b/cut.jpg"})
    fs::remove(folder / name);
  folder.write("val/b/wide.png", test::png_file(8, 32, PNG_FORMAT_RGB, test::smooth_picture(8, 32)));
  EXPECT_TRUE(has(load(), "val/b/wide.png: the image is 32 × 8 pixels, but "));
  EXPECT_TRUE(has(load(), "set data.image_size"));
  EXPECT_EQ(load({.path = {}, .side = 8}), "no error");
  fs::create_directories(folder / "val/c");
  EXPECT_TRUE(has(load({.path = {}, .side = 8}), "val/c: the training images have no class of this name"));
  fs::remove_all(folder / "val");
  fs::create_directories(folder / "val/a");
  EXPECT_TRUE(has(load(), "val: its class folders hold no images"));
}

TEST_F(MediaFiles, texts_that_cannot_be_read) {
  const auto load_text = [&](const fs::path& path) {
    return error_of([&] { load_text_dataset({.path = path}); });
  };
  EXPECT_TRUE(has(load_text(folder / "none.txt"), "none.txt: no such file"));
  EXPECT_TRUE(has(load_text(folder.path()), "is a folder"));
  EXPECT_TRUE(has(load_text(folder.write("t.txt", "")), "t.txt: no data"));
  EXPECT_TRUE(has(load_text(folder.write("t.txt", "\xef\xbb\xbf")), "t.txt: no data"));
  EXPECT_TRUE(
      has(load_text(folder.write("t.txt", "one\ntw\xf6")), "t.txt:2:3: the bytes there are no UTF-8"));
  EXPECT_TRUE(
      has(load_text(folder.write("t.txt", std::string("a\0b", 3))), "t.txt:1:2: the file holds a zero byte"));
  EXPECT_TRUE(has(load_text(folder.write("t.txt", "short")),
                  "a context of 256 characters and the one that follows are longer than the training part"));
}

/// Whatever is done to a file: an Error, or a valid result. A crash, a hang or a sanitizer's report fails.
void cut_and_flip(const std::string& whole, const std::function<void(const std::string&)>& read,
                  const std::function<void(std::size_t size)>& accepted_cut) {
  for (std::size_t size = 0; size < whole.size(); ++size) {
    try {
      read(whole.substr(0, size));
    } catch (const Error&) {
      continue;
    }
    accepted_cut(size);
  }
  std::string damaged = whole;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int mask : {0x01, 0x80, 0xff}) {
      damaged[i] = static_cast<char>(whole[i] ^ mask);
      try {
        read(damaged);
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      }
    }
    damaged[i] = whole[i];
  }
}

void expect_valid(const data::ReadImages& read) {
  EXPECT_EQ(read.images.pixels.size(), read.images.size() * read.images.shape.size());
}

TEST(DamagedMedia, idx) {
  const TemporaryFolder folder;
  const std::string images = test::idx_images(3, 5, 4), labels = test::idx_labels({0, 1, 2});
  const auto never = [](std::size_t size) { ADD_FAILURE() << "cut to " << size << " bytes and accepted"; };
  for (const bool packed : {false, true}) {
    const auto form = [&](const std::string& file) { return packed ? test::gzipped(file) : file; };
    folder.write("images", form(images));
    folder.write("labels", form(labels));
    cut_and_flip(
        form(images),
        [&](const std::string& file) {
          expect_valid(data::read_idx(folder.write("i", file), folder / "labels"));
        },
        never);
    cut_and_flip(
        form(labels),
        [&](const std::string& file) {
          expect_valid(data::read_idx(folder / "images", folder.write("l", file)));
        },
        never);
  }
}

TEST(DamagedMedia, cifar) {
  const TemporaryFolder folder;
  const std::string records = test::cifar_records({1, 9, 3});
  for (std::size_t size = 0; size < records.size(); size += 61) {
    if (size > 0 && size % 3073 == 0) continue;
    EXPECT_NE(error_of([&] { data::read_cifar({folder.write("c.bin", records.substr(0, size))}, false); }),
              "no error");
  }
  cut_and_flip(
      test::gzipped(records.substr(0, 3073)),
      [&](const std::string& file) { expect_valid(data::read_cifar({folder.write("c.bin", file)}, false)); },
      [](std::size_t size) { ADD_FAILURE() << "cut to " << size << " bytes and accepted"; });
}

TEST(DamagedMedia, jpeg_and_png) {
  const auto picture = test::smooth_picture(12, 20);
  const auto grey = std::vector<std::uint8_t>(picture.begin(), picture.begin() + 240);
  for (const std::string& whole :
       {test::jpeg_file(12, 20, 3, picture), test::jpeg_file(12, 20, 1, grey),
        test::png_file(12, 20, PNG_FORMAT_RGB, picture), test::png_file(12, 20, PNG_FORMAT_GRAY, grey)}) {
    const auto pixels = data::decode_image(whole, "x").pixels;
    const auto read = [&](const std::string& file) {
      const DecodedImage image = data::decode_image(file, "x");
      EXPECT_EQ(image.pixels.size(), 3 * image.height * image.width);
    };
    // PNG's last chunk holds nothing: without it the image is whole.
    cut_and_flip(whole, read, [&](std::size_t size) {
      EXPECT_EQ(data::decode_image(whole.substr(0, size), "x").pixels, pixels) << size;
    });
  }
}

TEST(DamagedMedia, text) {
  const TemporaryFolder folder;
  cut_and_flip(
      "a—b€c😀\nd—e\n",
      [&](const std::string& file) {
        const TextDataset set = load_text_dataset({.path = folder.write("t", file),
                                                   .context = 1,
                                                   .split = {.train = 0.4, .valid = 0.3, .test = 0.3}});
        EXPECT_LE(set.vocabulary.size(), set.tokens->size());
      },
      [](std::size_t) {});
}

TEST(DamagedMedia, huge_images_are_refused_before_memory_is_asked_for) {
  const TemporaryFolder folder;
  std::string png = test::png_file(2, 2, PNG_FORMAT_RGB, std::vector<std::uint8_t>(12));
  png.replace(16, 8, test::big_endian(900000) + test::big_endian(900000));
  // The header's checksum, so that the size is believed.
  png.replace(29, 4,
              test::big_endian(
                  static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(png.data()) + 12, 17))));
  EXPECT_TRUE(has(error_of([&] { read_image_file(folder.write("huge.png", png)); }), "huge.png: the PNG "));
  std::string jpeg = test::jpeg_file(8, 8, 3, test::smooth_picture(8, 8));
  const std::size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
  EXPECT_TRUE(has(error_of([&] { read_image_file(folder.write("huge.jpg", jpeg)); }),
                  "huge.jpg: the JPEG image is too large"));
}

}  // namespace
}  // namespace smile
