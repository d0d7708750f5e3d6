// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "smile/data/text.hpp"
#include "smile/error.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

using test::content_of;
using test::TemporaryFolder;

TEST(Text, tokens_are_code_points_in_order) {
  const std::string text = "b—a\n€a😀";
  const Vocabulary vocabulary = Vocabulary::of(text, "text");
  EXPECT_EQ(vocabulary.symbols(), (std::vector<std::string>{"\n", "a", "b", "—", "€", "😀"}));
  const auto tokens = vocabulary.encode(text, "text");
  EXPECT_EQ(tokens, (std::vector<std::uint32_t>{2, 3, 1, 0, 4, 1, 5}));
  EXPECT_EQ(vocabulary.decode(tokens), text);
  EXPECT_EQ(Vocabulary(vocabulary.symbols()), vocabulary);
}

TEST(Text, what_is_not_in_the_vocabulary_is_named) {
  const Vocabulary vocabulary = Vocabulary::of("abc\n", "text");
  try {
    vocabulary.encode("ab\nca—", "prompt");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "prompt:2:3");
    EXPECT_NE(error.cause().find("—"), std::string::npos);
  }
}

TEST(Text, bytes_that_are_no_utf8_are_named) {
  for (const char* bad :
       {"ab\n\xff", "ab\n\x80", "ab\n\xc0\xaf", "ab\n\xe2\x80", "ab\n\xed\xa0\x80", "ab\n\xf4\x90\x80\x80"}) {
    try {
      Vocabulary::of(bad, "file");
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), "file:2:1");
      EXPECT_NE(error.cause().find("UTF-8"), std::string::npos);
    }
  }
  EXPECT_THROW(Vocabulary::of(std::string("a\0b", 3), "file"), Error);
}

TEST(Text, vocabularies_are_checked) {
  EXPECT_THROW(Vocabulary({"b", "a"}), Error);
  EXPECT_THROW(Vocabulary({"a", "a"}), Error);
  EXPECT_THROW(Vocabulary({"ab"}), Error);
  EXPECT_THROW(Vocabulary({""}), Error);
}

TEST(Text, parts_are_contiguous_and_windows_have_every_token_once) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 1003; ++i) text += static_cast<char>('a' + i % 26);
  const TextDataset set =
      load_text_dataset({.path = folder.write("t.txt", "\xef\xbb\xbf" + text), .context = 16});
  EXPECT_EQ(set.vocabulary.size(), 26U);
  EXPECT_EQ(set.train.begin(), 0U);
  EXPECT_EQ(set.train.end(), 702U);
  EXPECT_EQ(set.valid.begin(), 702U);
  EXPECT_EQ(set.valid.end(), 802U);
  EXPECT_EQ(set.test.end(), 1003U);
  EXPECT_DOUBLE_EQ(set.train.observations(), 702.0 / 16);
  for (const TokenWindows* part : {&set.train, &set.valid, &set.test}) {
    std::vector<int> seen(part->tokens());
    for (std::size_t i = 0; i < part->windows(); ++i) {
      const auto window = part->window(i);
      EXPECT_EQ(window.length == 16, i + 1 < part->windows() || (part->tokens() - 1) % 16 == 0);
      std::vector<std::int64_t> inputs(window.length), targets(window.length);
      const std::uint32_t offset[] = {static_cast<std::uint32_t>(window.offset)};
      part->assemble(offset, window.length, inputs, targets);
      for (std::size_t k = 0; k < window.length; ++k) {
        ++seen[window.offset + k + 1];
        EXPECT_EQ(inputs[k], std::int64_t((part->begin() + window.offset + k) % 26));
        EXPECT_EQ(targets[k], std::int64_t((part->begin() + window.offset + k + 1) % 26));
      }
    }
    EXPECT_EQ(seen[0], 0);
    for (std::size_t k = 1; k < seen.size(); ++k) EXPECT_EQ(seen[k], 1);
  }
}

TEST(Text, training_windows_start_anywhere_and_end_inside) {
  const auto tokens = std::make_shared<const std::vector<std::uint32_t>>(30, 0U);
  const TokenWindows part(tokens, 5, 25, 12);  // 20 tokens: places 0 to 7
  std::map<std::uint32_t, int> count;
  std::vector<std::uint32_t> offsets(100), again(100);
  const StreamKey key{.seed = 1, .chain = 0, .purpose = Purpose::batches};
  for (std::uint64_t step = 0; step < 80; ++step) {
    part.random_offsets(key, step, offsets);
    part.random_offsets(key, step, again);
    EXPECT_EQ(offsets, again);
    for (const std::uint32_t offset : offsets) ++count[offset];
  }
  ASSERT_EQ(count.size(), 8U);
  EXPECT_EQ(count.rbegin()->first, 7U);
  for (const auto& [offset, times] : count) EXPECT_NEAR(times, 1000, 150);  // five standard deviations
  EXPECT_THROW(TokenWindows(tokens, 0, 12, 12).random_offsets(key, 0, offsets), Error);
}

TEST(Text, a_context_longer_than_a_part_is_refused) {
  const TemporaryFolder folder;
  const auto path = folder.write("t.txt", std::string(100, 'a') + std::string(900, 'b'));
  EXPECT_NO_THROW(load_text_dataset({.path = path, .context = 99}));
  try {
    load_text_dataset({.path = path, .context = 100});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.cause().find("a context of 100 characters"), std::string::npos);
    EXPECT_NE(error.cause().find("validation part of the text, which has 100"), std::string::npos);
  }
}

TEST(Text, info_comes_back_from_the_run_directory) {
  const TemporaryFolder folder;
  const std::string path = SMILE_SOURCE_DIR "/data/text/shakespeare.txt";
  const TextDataset set = load_text_dataset({.path = path, .context = 64, .max_characters = 5000});
  EXPECT_EQ(set.vocabulary.size(), 58U);  // of the whole file
  EXPECT_EQ(set.tokens->size(), 5000U);
  EXPECT_EQ(set.vocabulary.decode(*set.tokens), content_of(path).substr(0, 5000));
  save_dataset_info(set.info, folder / "splits.npz");
  const DatasetInfo info = load_dataset_info(folder / "splits.npz");
  ASSERT_TRUE(info.text.has_value());
  EXPECT_EQ(Vocabulary(info.text->vocabulary), set.vocabulary);
  EXPECT_EQ(info.text->context, 64U);
  EXPECT_EQ(info.text->test_end, 5000U);
  EXPECT_EQ(info.task, Task::multilabel);
}

}  // namespace
}  // namespace smile
