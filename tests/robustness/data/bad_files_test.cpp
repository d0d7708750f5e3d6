// SPDX-License-Identifier: Apache-2.0
// Files that are missing, damaged, or not what they claim to be, and disks that are full.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>

#include "smile/data/dataset.hpp"
#include "smile/data/table.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/files/npy.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

using test::content_of;
using test::TemporaryFolder;

template <class Call>
std::string error_of(Call call, ErrorKind kind = ErrorKind::usage) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_FALSE(error.mend().empty());
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << "one line";
    return text;
  }
  return "no error";
}

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

TEST(BadFiles, every_reader_says_what_is_wrong_with_the_path) {
  const TemporaryFolder folder;
  for (const char* name : {"t.data", "t.csv", "t.npy"}) {
    EXPECT_TRUE(has(error_of([&] { read_table(folder / name); }), std::string(name) + ": no such file; "));
    std::filesystem::create_directory(folder / name);
    EXPECT_TRUE(has(error_of([&] { read_table(folder / name); }), std::string(name) + ": is a folder; "));
    std::filesystem::remove(folder / name);
    folder.write(name, "");
    EXPECT_TRUE(has(error_of([&] { read_table(folder / name); }), name));
    if (::geteuid() != 0) {  // root reads everything
      ::chmod((folder / name).c_str(), 0);
      EXPECT_TRUE(has(error_of([&] { read_table(folder / name); }), "may not be read"));
      ::chmod((folder / name).c_str(), 0600);
    }
    std::filesystem::remove(folder / name);
  }
  EXPECT_TRUE(has(error_of([] { read_table("/dev/null"); }), "/dev/null: is not a regular file"));
}

TEST(BadFiles, tables_without_rows_are_no_data) {
  const TemporaryFolder folder;
  EXPECT_TRUE(has(error_of([&] { read_table(folder.write("t.csv", "a,b\n")); }), "no data after the header"));
  EXPECT_TRUE(has(error_of([&] { read_table(folder.write("t.csv", "\n \n\n")); }), "no data"));
  EXPECT_TRUE(has(error_of([&] { read_table(folder.write("t.csv", "\xef\xbb\xbf")); }), "no data"));
  EXPECT_TRUE(has(error_of([&] { read_table(folder.write("t.data", "  \n")); }), "no data"));
}

TEST(BadFiles, what_is_no_text_is_named) {
  const TemporaryFolder folder;
  using std::string_literals::operator""s;
  EXPECT_TRUE(has(error_of([&] { read_table(folder.write("t.data", "1 2\n3 \0"s)); }),
                  "t.data:2:1: binary content (byte 0)"));
  EXPECT_TRUE(has(error_of([&] { read_table(folder.write("t.csv", "\x1f\x8b\x08\x00"s)); }),
                  "compressed by gzip; unpack it"));
  EXPECT_TRUE(has(error_of([&] {
                    read_table(folder.write("t.csv",
                                            "\xff\xfe"
                                            "1\0"s));
                  }),
                  "text in UTF-16"));
  EXPECT_TRUE(
      has(error_of([&] { read_table(folder.write("t.csv", "PK\x03\x04")); }), "a ZIP archive, as .xlsx"));
  // Bytes above 127 are no error of their own, but no number either; long garbage is cut in the message.
  const std::string message =
      error_of([&] { read_table(folder.write("t.csv", "1,2\n3," + std::string(5000, '\xe9') + "\n")); });
  EXPECT_TRUE(has(message, "t.csv:2:2: "));
  EXPECT_TRUE(
      has(error_of([&] { read_table(folder.write("t.csv", "1,2\n3," + std::string(5000, 'x') + "\n")); }),
          "x…'"));
}

TEST(BadFiles, random_bytes_never_crash_a_reader) {
  const TemporaryFolder folder;
  std::uint64_t state = 12345;
  const std::string alphabet = "0123456789.,;\t \"\n\r-+eEaNx?\xef\xbb\xbf";
  std::size_t accepted = 0;
  for (int k = 0; k < 500; ++k) {
    std::string text;
    const std::size_t length = 1 + k % 40;
    for (std::size_t i = 0; i < length; ++i) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      text += alphabet[(state >> 33) % alphabet.size()];
    }
    for (const char* name : {"t.csv", "t.data"}) {
      try {
        const Table t = read_table(folder.write(name, text));
        EXPECT_EQ(t.values.size(), t.rows * t.columns);
        EXPECT_EQ(t.lines.size(), t.rows);
        ++accepted;
      } catch (const Error&) {
      }
    }
  }
  EXPECT_GT(accepted, 10U) << "the texts should not all be refused";
}

std::string good_npy(const TemporaryFolder& folder) {
  write_npy(folder / "good.npy", {2, 2}, std::vector<double>{1, 2, 3, 4});
  return content_of(folder / "good.npy");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(BadFiles, numpy_files_of_other_kinds_are_refused) {
  const TemporaryFolder folder;
  const std::string good = good_npy(folder);
  const auto error_with = [&](const std::string& from, const std::string& to) {
    return error_of([&] { read_npy(folder.write("a.npy", replaced(good, from, to))); });
  };
  EXPECT_TRUE(has(error_with("NUMPY", "NUMPI"), "a.npy: is not a NumPy file"));
  EXPECT_TRUE(has(error_with("'<f8'", "'>f8'"), "elements of type '>f8' are not supported; convert with"));
  EXPECT_TRUE(has(error_with("'<f8'", "'|O8'"), "elements of type '|O8'"));
  EXPECT_TRUE(has(error_with("False", "True "), "Fortran order"));
  EXPECT_TRUE(has(error_with("(2, 2)", "(2, 3)"), "cut short: 32 bytes of data where the shape asks for 48"));
  EXPECT_TRUE(has(error_with("(2, 2)", "(2 2) "), "damaged NumPy header"));
  EXPECT_TRUE(has(error_with("(2, 2), }  ", "(99999999999999999999,)}"), "damaged NumPy header"));
  EXPECT_TRUE(has(error_with("(2, 2), }                     ", "(9999999999,9999999999,9999),}"),
                  "impossibly large"));
  EXPECT_TRUE(has(error_with("'descr'", "'describ'"), "damaged NumPy header"));
}

TEST(BadFiles, numpy_files_cut_anywhere_are_refused) {
  const TemporaryFolder folder;
  const std::string good = good_npy(folder);
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(error_of([&] { read_npy(folder.write("a.npy", good.substr(0, length))); }), "no error")
        << length;
}

TEST(BadFiles, archives_cut_or_altered_anywhere_are_refused) {
  const TemporaryFolder folder;
  const NamedArray arrays[] = {{"x", NpyArray({2}, std::vector<double>{1, 2})},
                               {"y", NpyArray({1}, std::vector<std::string>{"word"})}};
  write_npz(folder / "good.npz", arrays);
  const std::string good = content_of(folder / "good.npz");
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(error_of([&] { read_npz(folder.write("a.npz", good.substr(0, length))); }), "no error")
        << length;
  // A changed byte is found by a checksum, or it stands where it changes nothing that is read (dates,
  // attributes).
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    try {
      const auto back = read_npz(folder.write("a.npz", bad));
      for (const NamedArray& array : back) {
        if (array.name != "x") continue;
        EXPECT_EQ(array.array.as<double>(), (std::vector<double>{1, 2})) << at;
      }
    } catch (const Error&) {
    }
  }
  std::string bad = good;
  bad[30 + 5 + arrays[0].array.header().size()] ^= 1;  // behind the entry's head and its name, "x.npy"
  EXPECT_TRUE(has(error_of([&] { read_npz(folder.write("a.npz", bad)); }), "array 'x' has a wrong checksum"));
}

TEST(BadFiles, a_splits_file_without_an_array_names_it) {
  const TemporaryFolder folder;
  const NamedArray arrays[] = {{"train", NpyArray({1}, std::vector<std::uint32_t>{1})}};
  write_npz(folder / "s.npz", arrays);
  EXPECT_TRUE(has(error_of([&] { load_dataset_info(folder / "s.npz"); }), "s.npz: has no array 'valid'"));
}

TEST(FullDisk, a_full_device_is_an_error_with_a_mend) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  EXPECT_TRUE(has(error_of([] { NpyAppender::create("/dev/full", 3); }, ErrorKind::run),
                  "/dev/full: cannot write the file (No space left on device); free space there"));
}

/// Limits the size of files that this process writes; a write beyond it fails as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(FullDisk, draws_before_a_failed_write_stay_valid) {
  const TemporaryFolder folder;
  const auto path = folder / "chain.npy";
  NpyAppender out = NpyAppender::create(path, 100);
  const std::vector<float> row(100, 2.5f);
  std::size_t written = 0;
  {
    const FileSizeLimit limit(128 + 3 * 400 + 50);  // the fourth row fits in part
    EXPECT_TRUE(has(error_of(
                        [&] {
                          for (; written < 10; ++written) out.append(row);
                        },
                        ErrorKind::run),
                    "cannot write the file"));
  }
  EXPECT_EQ(written, 3U);
  EXPECT_EQ(out.rows(), 3U);
  EXPECT_EQ(NpyRows(path).rows(), 3U);
  EXPECT_EQ(read_npy(path).as<float>(), std::vector<float>(300, 2.5f));
  // With space again the run goes on as if nothing had been.
  out.append(std::vector<float>(100, 7.0f));
  EXPECT_EQ(NpyRows(path).row(3)[0], 7.0f);
  EXPECT_EQ(std::filesystem::file_size(path), 128U + 4 * 400);
}

TEST(FullDisk, a_failed_write_leaves_the_old_file) {
  const TemporaryFolder folder;
  const auto path = folder.write("a.npy", "old");
  {
    const FileSizeLimit limit(1000);
    EXPECT_TRUE(has(error_of([&] { write_npy(path, {1000}, std::vector<double>(1000)); }, ErrorKind::run),
                    "a.npy: cannot write"));
  }
  EXPECT_EQ(content_of(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
      << "a temporary file is left";
}

TEST(FullDisk, folders_that_are_missing_or_closed_are_named) {
  const TemporaryFolder folder;
  EXPECT_TRUE(has(error_of([&] { write_file_atomically(folder / "none/a.txt", "x"); }, ErrorKind::run),
                  "none/a.txt: cannot create the file (No such file or directory); create the folder first"));
  EXPECT_TRUE(has(error_of([&] { NpyAppender::create(folder / "none/a.npy", 1); }, ErrorKind::run),
                  "create the folder first"));
}

}  // namespace
}  // namespace smile
