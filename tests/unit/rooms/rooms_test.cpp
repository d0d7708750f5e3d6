// SPDX-License-Identifier: Apache-2.0
// A room includes only rooms above it, in the order that CONTRIBUTING.md states; its exceptions are stated
// there, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace smile {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = SMILE_SOURCE_DIR;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// The words of the list that begins with `opening` and ends with a full stop.
std::vector<std::string> listed(const std::string& opening) {
  const std::string text = text_of(kRoot / "CONTRIBUTING.md");
  const auto begin = text.find(opening);
  EXPECT_NE(begin, std::string::npos) << opening;
  const auto from = begin + opening.size();
  const std::string list = text.substr(from, text.find('.', from) - from);
  std::vector<std::string> words;
  const std::regex word("[a-z0-9_]+");
  for (auto at = std::sregex_iterator(list.begin(), list.end(), word); at != std::sregex_iterator(); ++at)
    words.push_back(at->str());
  return words;
}

/// The room of a path below src/ or include/smile/, or of an include; empty for what lies beside the rooms.
std::string room_of(const std::string& path) {
  const auto slash = path.find('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

struct Include {
  std::string file, from, to, what;
  bool is_private;  ///< a header under src/
};

std::vector<Include> includes(const std::set<std::string>& rooms) {
  std::vector<Include> list;
  const std::regex line("#include \"([^\"]+)\"");
  for (const fs::path& base : {kRoot / "src", kRoot / "include" / "smile"})
    for (const auto& entry : fs::recursive_directory_iterator(base)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".cpp" && ending != ".hpp") continue;
      const std::string text = text_of(entry.path()), name = fs::relative(entry.path(), base).string();
      for (auto at = std::sregex_iterator(text.begin(), text.end(), line); at != std::sregex_iterator();
           ++at) {
        std::string what = (*at)[1];
        const bool is_private = !what.starts_with("smile/");
        if (!is_private) what = what.substr(6);
        const std::string to = room_of(what);
        if (rooms.contains(to)) list.push_back({name, room_of(name), to, what, is_private});
      }
    }
  return list;
}

TEST(Rooms, EveryFolderIsListed) {
  const auto order = listed("rooms in the order ");
  std::set<std::string> known(order.begin(), order.end()), there;
  EXPECT_EQ(known.size(), order.size()) << "a room is listed twice";
  for (const fs::path& base : {kRoot / "src", kRoot / "include" / "smile"})
    for (const auto& entry : fs::directory_iterator(base))
      if (entry.is_directory()) there.insert(entry.path().filename().string());
  EXPECT_EQ(known, there);
}

TEST(Rooms, IncludeOnlyRoomsAboveThem) {
  const auto order = listed("rooms in the order ");
  const auto excepted = listed("the one exception is ");  // from, to, header
  ASSERT_GE(excepted.size(), 3u);
  std::map<std::string, std::size_t> rank;
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  std::size_t seen = 0, used = 0;
  for (const Include& include : includes({order.begin(), order.end()})) {
    ++seen;
    if (include.from.empty() || rank.at(include.to) <= rank.at(include.from)) continue;
    const bool stated = include.from == excepted[0] && include.to == excepted[1] &&
                        include.what == excepted[1] + "/" + excepted[2] + ".hpp";
    used += stated;
    EXPECT_TRUE(stated) << include.file << " includes " << include.what << ", which is a room below";
  }
  EXPECT_GT(seen, 500u);
  EXPECT_GT(used, 0u) << "the stated exception is none";
}

/// The paths, without ending, of the list that begins with `opening` and ends with a full stop.
std::set<std::string> listed_headers(const std::string& opening) {
  const std::string text = text_of(kRoot / "CONTRIBUTING.md");
  const auto begin = text.find(opening);
  EXPECT_NE(begin, std::string::npos) << opening;
  if (begin == std::string::npos) return {};
  const std::string list = text.substr(begin, text.find('.', begin) - begin);
  std::set<std::string> headers;
  const std::regex path("[a-z0-9_]+(/[a-z0-9_-]+)+");
  for (auto at = std::sregex_iterator(list.begin(), list.end(), path); at != std::sregex_iterator(); ++at)
    headers.insert(at->str());
  return headers;
}

TEST(Rooms, KeepTheirPrivateHeaders) {
  const auto order = listed("rooms in the order ");
  const auto stated = listed_headers("Private headers that other rooms include");
  std::set<std::string> used;
  for (const Include& include : includes({order.begin(), order.end()})) {
    if (include.from == include.to || !include.is_private) continue;
    const std::string header = fs::path(include.what).replace_extension().string();
    EXPECT_TRUE(stated.contains(header)) << include.file << " includes the private header " << include.what;
    used.insert(header);
  }
  EXPECT_EQ(used, stated) << "a header is stated that no other room includes";
}

TEST(Rooms, TheCoreKnowsNothingOfLibTorch) {
  for (const fs::path& base : {kRoot / "src", kRoot / "include" / "smile", kRoot / "apps"})
    for (const auto& entry : fs::recursive_directory_iterator(base)) {
      const std::string name = fs::relative(entry.path(), base).string();
      if (!entry.is_regular_file() || room_of(name) == "torch") continue;
      EXPECT_EQ(text_of(entry.path()).find("#include <torch/"), std::string::npos) << name;
    }
}

TEST(Rooms, TheLargestIsNotTheHouse) {
  std::map<std::string, std::size_t> lines;
  std::size_t all = 0;
  for (const fs::path& base : {kRoot / "src", kRoot / "include" / "smile"})
    for (const auto& entry : fs::recursive_directory_iterator(base)) {
      if (!entry.is_regular_file()) continue;
      const std::string text = text_of(entry.path());
      const auto count = std::size_t(std::count(text.begin(), text.end(), '\n'));
      lines[room_of(fs::relative(entry.path(), base).string())] += count;
      all += count;
    }
  // data reads six families of files, each a small reader of its own.
  for (const auto& [room, count] : lines)
    if (room != "data") {
      EXPECT_LE(double(count), 0.15 * double(all)) << room << ": " << count << " of " << all;
    }
}

}  // namespace
}  // namespace smile
