// SPDX-License-Identifier: Apache-2.0
#include "benchmark/analytic_ledger.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "evaluation/json_number.hpp"
#include "smile/error.hpp"

namespace smile::analytic {
namespace {

using nlohmann::json;

/// What is not finite was written as null.
double number(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

std::string line_of(std::size_t bundle, const std::vector<ChainOutcome>& outcomes) {
  json line{{"bundle", bundle}, {"chains", json::array()}};
  for (const ChainOutcome& o : outcomes)
    line["chains"].push_back({o.bias, o.authors, o.effective, o.failed, o.refused, o.steps});
  return line.dump() + "\n";
}

std::vector<ChainOutcome> outcomes_of(const json& line) {
  std::vector<ChainOutcome> outcomes;
  for (const json& chain : line.at("chains")) {
    ChainOutcome& o = outcomes.emplace_back();
    o.bias = number(chain.at(0));
    o.authors = number(chain.at(1));
    o.effective = number(chain.at(2));
    o.failed = chain.at(3);
    o.refused = chain.at(4);
    o.steps = chain.at(5);
  }
  return outcomes;
}

}  // namespace

Ledger::Ledger(const std::filesystem::path& file, const std::string& benchmark) {
  std::uint64_t bytes = 0;
  {
    std::ifstream in(file, std::ios::binary);
    std::string line;
    bool same = bool(std::getline(in, line)) && line == benchmark && !in.eof();
    if (same) bytes = line.size() + 1;
    // A last line without its end was cut.
    while (same && std::getline(in, line) && !in.eof()) {
      const json parsed = json::parse(line, nullptr, false);
      try {
        known_[parsed.at("bundle")] = outcomes_of(parsed);
      } catch (const json::exception&) {
        break;
      }
      bytes += line.size() + 1;
    }
  }
  std::error_code error;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), error);
  if (error)
    throw Error(file.parent_path().string(), "the folder cannot be made (" + error.message() + ")",
                "give another `saving_dir` or --out", ErrorKind::run);
  file_ = std::make_unique<ensemble::TextAppender>(file, bytes, benchmark + "\n");
  file_->flush();
}

const std::vector<ChainOutcome>* Ledger::find(std::size_t bundle) const {
  const auto place = known_.find(bundle);
  return place == known_.end() ? nullptr : &place->second;
}

void Ledger::add(std::size_t bundle, const std::vector<ChainOutcome>& outcomes) {
  for (const ChainOutcome& o : outcomes)
    if (!o.recorded.empty()) return;
  const std::string line = line_of(bundle, outcomes);
  const std::lock_guard lock(mutex_);
  file_->append(line);
  file_->flush();
}

}  // namespace smile::analytic
