// SPDX-License-Identifier: Apache-2.0
#include "support/quadratic_target.hpp"

namespace smile::test {

std::vector<Planted> planted_of(const Json& input) {
  std::vector<Planted> planted;
  if (!input.contains("planted")) return planted;
  for (const Json& p : input["planted"]) {
    const std::string strangers = unknown_keys(p, {"step", "evaluation", "what", "entry", "value"});
    if (!strangers.empty()) throw std::runtime_error(strangers);
    const std::string what = p.at("what");
    if (what != "gradient" && what != "log_density") throw std::runtime_error("planted in " + what);
    planted.push_back({p.at("step"), p.at("evaluation"), what == "gradient",
                       what == "gradient" ? p.at("entry").get<std::size_t>() : 0, number(p.at("value"))});
  }
  return planted;
}

CaseTolerance case_tolerance(const Json& file, const Json& test_case, bool single_precision,
                             std::uint64_t steps) {
  const char* precision = single_precision ? "float32" : "float64";
  const Json& own = test_case.contains("tolerance") ? test_case["tolerance"] : file.at("tolerance");
  const Json& entry = own.at(precision);
  if (!entry.is_object()) throw std::runtime_error("no tolerance for " + std::string(precision));
  return {tolerance(entry), entry.contains("steps") ? entry["steps"].get<std::uint64_t>() : steps};
}

}  // namespace smile::test
