// SPDX-License-Identifier: Apache-2.0
#include "config/read.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

#include "files/file_error.hpp"
#include "smile/error.hpp"

namespace smile::schema {
namespace {

constexpr std::size_t kLargestFile = std::size_t{4} << 20;

std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

bool is_quoted(const YAML::Node& node) {
  return node.IsScalar() && node.Tag() == "!";
}

/// What is written there, for a message.
std::string shown_value(const YAML::Node& node) {
  if (node.IsNull()) return "nothing (null)";
  if (node.IsSequence()) return "the list `" + shown(flow_text(node)) + "`";
  if (node.IsMap()) return "a mapping";
  return is_quoted(node) ? "the quoted text `\"" + shown(node.Scalar()) + "\"`"
                         : "`" + shown(node.Scalar()) + "`";
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return result;
}

bool parse(const std::string& text, bool& value) {
  const std::string word = lower_case(text);
  value = word == "true";
  return word == "true" || word == "false";
}

bool parse(std::string_view text, std::int64_t& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

bool parse(std::string_view text, double& value) {
  bool negative = false;
  std::string_view body = text;
  if (body.starts_with('+') || body.starts_with('-')) {
    negative = body.front() == '-';
    body.remove_prefix(1);
  }
  const std::string word = lower_case(body);
  if (word == ".inf" || word == "inf" || word == "infinity") {
    value = negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    return true;
  }
  // from_chars would also take "nan" and "infinity…".
  if (body.empty() || !(std::isdigit(static_cast<unsigned char>(body[0])) || body[0] == '.')) return false;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (error != std::errc{} || end != body.data() + body.size()) return false;
  if (negative) value = -value;
  return true;
}

/// Reads one value of one key; knows where it stands.
class Reader {
 public:
  Reader(const Key& key, const std::string& place)
      : key_(key), where_(place + ": " + std::string(key.path)) {}

  void read(const YAML::Node& node, bool& value) const {
    if (!plain(node) || !parse(node.Scalar(), value)) refuse(node, "neither true nor false");
  }
  void read(const YAML::Node& node, std::int64_t& value) const {
    if (!plain(node) || !parse(node.Scalar(), value)) refuse(node, "not an integer");
    // Bounds are far below 2^53 or 9e18, where the rounding of this conversion does not matter.
    check_range(node, static_cast<double>(value));
  }
  void read(const YAML::Node& node, std::uint64_t& value) const {
    std::int64_t whole = 0;
    read(node, whole);  // Ranges of counts begin at 0 or 1.
    value = static_cast<std::uint64_t>(whole);
  }
  void read(const YAML::Node& node, double& value) const {
    if (!plain(node) || !parse(node.Scalar(), value)) refuse(node, "not a number");
    check_range(node, value);
  }
  void read(const YAML::Node& node, std::string& value) const {
    if (!node.IsScalar()) refuse(node, "not a single text");
    value = node.Scalar();
    if (!key_.alternatives().empty()) {
      value = chosen(node, value);
    } else if (value.empty()) {
      refuse(node, "empty");
    } else if (value.find('\0') != std::string::npos) {
      refuse(node, "not a text (it holds a zero byte)");
    }
  }
  template <class T>
  void read(const YAML::Node& node, std::vector<T>& values) const {
    if (!node.IsSequence()) {
      throw Error(where_, shown_value(node) + " is not a list",
                  node.IsScalar() ? "put the values in brackets: " + allowed_text(key_) : expected());
    }
    values.clear();
    for (const YAML::Node& element : node) {
      T value{};
      read(element, value);
      if (!key_.alternatives().empty() && std::find(values.begin(), values.end(), value) != values.end()) {
        throw Error(where_, shown_value(element) + " is listed twice", "name each once");
      }
      values.push_back(std::move(value));
    }
    if constexpr (std::is_same_v<T, std::int64_t>) {
      if (values.empty()) throw Error(where_, "the list is empty", expected());
    }
  }
  template <class T>
  void read(const YAML::Node& node, std::optional<T>& value) const {
    const bool word =
        !key_.null_word.empty() && node.IsScalar() && lower_case(node.Scalar()) == key_.null_word;
    if (node.IsNull() || word) {
      value.reset();
      return;
    }
    T inner{};
    read(node, inner);
    if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      if (inner.empty()) throw Error(where_, "the list is empty", "give at least one entry, or write null");
    }
    value = std::move(inner);
  }
  /// Null for a key that has no null: the word that stands for it, or an error.
  void refuse_null() const {
    throw Error(where_, "no value is given", "write " + allowed_text(key_) + ", or leave the key out");
  }

 private:
  static bool plain(const YAML::Node& node) { return node.IsScalar() && !is_quoted(node); }
  std::string expected() const { return "expected " + allowed_text(key_); }

  [[noreturn]] void refuse(const YAML::Node& node, const std::string& why) const {
    std::string mend = expected();
    if (is_quoted(node)) {
      std::int64_t whole = 0;
      double number = 0;
      bool truth = false;
      const std::string& text = node.Scalar();
      const bool fits = why == "not an integer" ? parse(text, whole)
                        : why == "not a number" ? parse(text, number)
                                                : parse(text, truth);
      if (fits) mend = "write `" + text + "` without quotes (" + allowed_text(key_) + ")";
    } else if (double number = 0; node.IsScalar() && why == "not an integer" &&
                                  parse(node.Scalar(), number) && std::trunc(number) == number &&
                                  std::abs(number) < 1e15) {
      mend = "write `" + std::to_string(static_cast<std::int64_t>(number)) + "` (" + allowed_text(key_) + ")";
    }
    throw Error(where_, shown_value(node) + " is " + why, mend);
  }

  void check_range(const YAML::Node& node, double value) const {
    const Range& range = key_.range;
    const bool infinite_is_fine = range.infinity_allowed && value > 0;
    const bool low = value > range.low || (value == range.low && !range.without_low);
    const bool high = value < range.high || (value == range.high && !range.without_high);
    if (std::isfinite(value) ? low && high : infinite_is_fine) return;
    // A bound that the words leave out (a count's guard against overflow) is said here.
    const std::string bound =
        std::isfinite(range.high) && value > range.high && range.high >= 1e9 ? " and at most 1e12" : "";
    throw Error(where_, shown_value(node) + " is out of range", expected() + bound);
  }

  std::string chosen(const YAML::Node& node, const std::string& text) const {
    const std::string word = lower_case(text);
    for (const Choice& choice : key_.alternatives()) {
      bool match = lower_case(choice.name) == word;
      for (const std::string_view alias : choice.aliases) match = match || lower_case(alias) == word;
      if (!match) continue;
      if (choice.torch && !is_available(choice)) {
        throw Error(
            where_, "`" + std::string(choice.name) + "` is not available in this build",
            "configure with -DSMILE_WITH_TORCH=ON, or use one of " + choices_text(key_.alternatives()));
      }
      if (!choice.available) {
        throw Error(where_, "`" + std::string(choice.name) + "` is not available in this build",
                    "use one of " + choices_text(key_.alternatives()));
      }
      // The alias of a sampler stays: which sampler it means depends on other keys.
      const bool keep = key_.path == "training.sampler.name" && lower_case(choice.name) != word;
      return keep ? word : std::string(choice.name);
    }
    const Choice* nearest = nullptr;
    std::size_t least = std::max<std::size_t>(2, text.size() / 3) + 1;
    for (const Choice& choice : key_.alternatives()) {
      const std::size_t distance = edit_distance(choice.name, text);
      if (is_available(choice) && distance < least) {
        least = distance;
        nearest = &choice;
      }
    }
    const std::string hint =
        nearest ? "did you mean `" + std::string(nearest->name) + "`? allowed: " : "allowed: ";
    throw Error(where_, shown_value(node) + " is not known", hint + choices_text(key_.alternatives()));
  }

  const Key& key_;
  std::string where_;
};

}  // namespace

std::string shown(const std::string& text) {
  constexpr std::size_t kLongest = 60;
  std::string result;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (result.size() >= kLongest && (code & 0xc0) != 0x80) return result + "…";
    result += code < 0x20 || code == 0x7f ? '?' : c;
  }
  return result;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto simple = [](std::string_view text) {
    std::string word = lower_case(text);
    std::erase_if(word, [](char c) { return c == '_' || c == '-'; });
    return word;
  };
  const std::string left = simple(a), right = simple(b);
  // Rows of the dynamic programme; two rows back are needed for a swap of neighbours.
  std::vector<std::vector<std::size_t>> cost(left.size() + 1, std::vector<std::size_t>(right.size() + 1));
  for (std::size_t i = 0; i <= left.size(); ++i) {
    for (std::size_t j = 0; j <= right.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const std::size_t replace = cost[i - 1][j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[left.size()][right.size()];
}

std::string flow_text(const YAML::Node& node) {
  if (node.IsNull()) return "null";
  if (node.IsScalar()) {
    if (!is_quoted(node)) return node.Scalar();
    std::string quoted = "'";
    for (const char c : node.Scalar()) quoted += c == '\'' ? std::string("''") : std::string(1, c);
    return quoted + "'";
  }
  std::string text = node.IsSequence() ? "[" : "{";
  for (const auto& element : node) {
    if (text.size() > 1) text += ", ";
    text +=
        node.IsSequence() ? flow_text(element) : flow_text(element.first) + ": " + flow_text(element.second);
  }
  return text + (node.IsSequence() ? "]" : "}");
}

std::string read_text_file(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) throw Error(file, "no such file", "check the path");
  if (std::filesystem::is_directory(status)) throw Error(file, "is a folder", "name the file in it");
  struct Input {
    int descriptor;
    ~Input() { ::close(descriptor); }
  } input{data::open_file(file, O_RDONLY)};
  if (input.descriptor < 0 && (errno == EACCES || errno == EPERM))
    throw Error(file, "cannot be opened", "check its permissions");
  if (input.descriptor < 0) throw data::write_error(file, "cannot be opened", errno);
  std::string text(kLargestFile + 1, '\0');
  text.resize(data::read_some(input.descriptor, text.data(), text.size(), file));
  if (text.size() > kLargestFile) throw Error(file, "larger than 4 MiB", "is it a configuration?");
  return text;
}

namespace {

/// Where the first event of a document stands.
class FirstMark final : public YAML::EventHandler {
 public:
  YAML::Mark mark = YAML::Mark::null_mark();

 private:
  void see(const YAML::Mark& at) {
    if (mark.is_null()) mark = at;
  }
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& at, YAML::anchor_t) override { see(at); }
  void OnAlias(const YAML::Mark& at, YAML::anchor_t) override { see(at); }
  void OnScalar(const YAML::Mark& at, const std::string&, YAML::anchor_t, const std::string&) override {
    see(at);
  }
  void OnSequenceStart(const YAML::Mark& at, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    see(at);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& at, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    see(at);
  }
  void OnMapEnd() override {}
};

/// The mark of what follows the first document, or a null mark. YAML::LoadAll would do, but yaml-cpp 0.7
/// never ends there on text such as ", a".
YAML::Mark second_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  FirstMark first, second;
  if (!parser.HandleNextDocument(first)) return YAML::Mark::null_mark();
  if (!parser.HandleNextDocument(second)) return YAML::Mark::null_mark();
  return second.mark.is_null() ? first.mark : second.mark;
}

}  // namespace

YAML::Node parse_document(const std::string& text, const std::string& name) {
  YAML::Node document;
  YAML::Mark rest = YAML::Mark::null_mark();
  try {
    document = YAML::Load(text);
    rest = second_document(text);
  } catch (const YAML::Exception& exception) {
    const auto line = static_cast<std::size_t>(std::max(exception.mark.line, 0));
    std::istringstream lines(text);
    std::string content;
    for (std::size_t i = 0; i <= line && std::getline(lines, content); ++i) {
    }
    const std::size_t indent = content.find_first_not_of(" \t");
    const bool tab = content.substr(0, indent).find('\t') != std::string::npos;
    throw Error(
        name + ":" + std::to_string(line + 1) + ":" + std::to_string(std::max(exception.mark.column, 0) + 1),
        "not valid YAML (" + shown(exception.msg) + ")",
        tab ? "indent with spaces instead of tabs" : "write `key: value` lines, indented with spaces");
  }
  if (!rest.is_null()) {
    const std::string place = name + ":" + std::to_string(rest.line + 1);
    if (("\n" + text).find("\n---") == std::string::npos) {
      throw Error(place, "not valid YAML (what stands here belongs to no key)",
                  "write `key: value` lines, indented with spaces");
    }
    throw Error(place, "a second document begins here", "keep one document in a file (no `---` lines)");
  }
  if (document.IsNull() || !document.IsDefined()) {
    throw Error(name, "the file is empty", "write at least `data:` with `path` and `task`");
  }
  if (!document.IsMap()) {
    throw Error(name + ":1", shown_value(document) + " is not a mapping of keys",
                "write `key: value` lines, such as `rng: 1`");
  }
  return document;
}

bool Walker::section(const std::string& path, const YAML::Node& value, const std::string& place) {
  if (value.IsNull()) return true;  // A section whose keys are all commented out.
  throw Error(place + ": " + path, shown_value(value) + " stands where a section belongs",
              "write the section's keys below it, indented");
}

void Walker::walk(const YAML::Node& mapping, const std::string& prefix, const std::string& fixed_place) {
  std::map<std::string, int> seen;
  for (const auto& pair : mapping) {
    const int line = pair.first.Mark().line + 1;
    const std::string place = fixed_place.empty() ? name_ + ":" + std::to_string(line) : fixed_place;
    if (!pair.first.IsScalar()) throw Error(place, "a key is not a single word", "write `key: value`");
    const std::string& name = pair.first.Scalar();
    const std::string path = canonical_path(joined(prefix, name));
    if (const auto [first, fresh] = seen.emplace(path, line); !fresh) {
      throw Error(place + ": " + joined(prefix, shown(name)),
                  "the key appears twice (first in line " + std::to_string(first->second) + ")",
                  "remove one of them");
    }
    if (const Key* key = find_key(path)) {
      leaf(*key, pair.second, place);
    } else if (is_section(path)) {
      if (pair.second.IsMap()) {
        walk(pair.second, path, fixed_place);
      } else {
        section(path, pair.second, place);
      }
    } else {
      unknown_key(mapping, prefix, name, pair.second, place);
    }
  }
}

void Walker::unknown_key(const YAML::Node& mapping, const std::string& prefix, const std::string& name,
                         const YAML::Node& value, const std::string& place) const {
  std::set<std::string> present;
  for (const auto& pair : mapping) present.insert(pair.first.Scalar());
  // Children of this section, nearest first; equals stay in the order of the schema.
  struct Candidate {
    std::size_t distance;
    std::string name;
    bool works;
  };
  std::vector<Candidate> candidates;
  std::set<std::string> listed;
  const std::size_t skip = prefix.empty() ? 0 : prefix.size() + 1;
  for (const Key& key : keys()) {
    if (skip > 0 && !key.path.starts_with(prefix + ".")) continue;
    const std::string_view rest = key.path.substr(skip);
    const std::string child(rest.substr(0, rest.find('.')));
    if (!listed.insert(child).second) continue;
    const bool leaf_key = child.size() == rest.size();
    const bool works = leaf_key ? takes(key, value) : value.IsMap();
    candidates.push_back({edit_distance(child, name), child, works});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
  const std::string where = place + ": " + joined(prefix, shown(name));
  const std::size_t near = std::max<std::size_t>(2, name.size() / 3);

  if (!candidates.empty() && candidates[0].distance <= near && present.contains(candidates[0].name)) {
    throw Error(where, "unknown key, and `" + candidates[0].name + "` is there already", "remove this line");
  }
  // The same word one section away: moved by mistake.
  if (candidates.empty() || candidates[0].distance > near) {
    for (const Key& key : keys()) {
      const std::size_t inside = ("." + std::string(key.path)).find("." + name + ".");
      if (inside != std::string::npos && value.IsMap()) {
        throw Error(where, "unknown key",
                    "it belongs at `" + std::string(key.path.substr(0, inside + name.size())) + "`");
      }
      const bool same_word = key.path == name || key.path.ends_with("." + name);
      if (same_word && takes(key, value)) {
        throw Error(where, "unknown key", "it belongs at `" + std::string(key.path) + "`");
      }
    }
  }
  for (const Candidate& candidate : candidates) {
    if (!candidate.works || present.contains(candidate.name)) continue;
    const std::string lead = candidate.distance <= near ? "did you mean `" : "the nearest known key is `";
    throw Error(where, "unknown key", lead + candidate.name + "`" + (candidate.distance <= near ? "?" : ""));
  }
  throw Error(where, "unknown key", "remove it; `smile list keys` prints all keys");
}

void assign(const Key& key, const YAML::Node& value, const std::string& place, Config& config) {
  const Reader reader(key, place);
  std::visit(
      [&](const auto& at) {
        if constexpr (std::is_same_v<std::decay_t<decltype(at)>, NamedMember>) {
          if (value.IsNull() && !key.null_word.empty()) return at.set(config, {key.null_word});
          if (value.IsNull()) reader.refuse_null();
          std::vector<std::string> names(1);
          if (at.list)
            reader.read(value, names);
          else
            reader.read(value, names.front());
          at.set(config, std::vector<std::string_view>(names.begin(), names.end()));
        } else {
          auto& member = *at(config);
          using T = std::decay_t<decltype(member)>;
          constexpr bool kOptional = requires(T t) {
            t.reset();
          };
          if constexpr (std::is_same_v<T, std::string>) {
            if (value.IsNull() && !key.null_word.empty()) {
              member = key.null_word;
              return;
            }
          }
          if constexpr (!kOptional) {
            if (value.IsNull()) reader.refuse_null();
          }
          reader.read(value, member);
        }
      },
      key.member.slot);
}

}  // namespace smile::schema
