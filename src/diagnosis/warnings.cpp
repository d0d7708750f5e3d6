// SPDX-License-Identifier: Apache-2.0
/// What a run says at its end.
#include <fmt/format.h>

#include <algorithm>

#include "smile/diagnosis/diagnosis.hpp"

namespace smile {
namespace {

std::string with_advice(const Finding& finding) {
  return finding.text + (finding.advice.empty() ? "" : "; " + finding.advice);
}

/// One finding and the chains that have it.
struct Shared {
  const Finding* finding;  ///< the first chain's
  std::vector<std::uint32_t> chains;
};

/// The same of several chains: one cause, and what a sampler says in the same words.
bool is_same(const Finding& a, const Finding& b) {
  return a.cause == b.cause && (a.cause != Cause::sampler || a.text == b.text);
}

std::string several(const Finding& finding) {
  if (finding.cause == Cause::sampler) return finding.text;
  for (const auto& row : Named<Cause>::all)
    if (row.value == finding.cause) return std::string(row.doc);
  return "";
}

}  // namespace

std::string chains_text(const std::vector<std::uint32_t>& chains) {
  return fmt::format("chain{} {}", chains.size() == 1 ? "" : "s", fmt::join(chains, ", "));
}

std::vector<std::string> chain_warnings(const RunDiagnosis& diagnosis) {
  std::vector<Shared> shared;
  for (const ChainDiagnosis& chain : diagnosis.chains)
    for (const Finding& finding : chain.findings) {
      if (finding.weight == Finding::Weight::note) continue;
      const auto known = std::find_if(shared.begin(), shared.end(),
                                      [&](const Shared& s) { return is_same(*s.finding, finding); });
      if (known == shared.end())
        shared.push_back({&finding, {chain.chain}});
      else
        known->chains.push_back(chain.chain);
    }
  std::vector<std::string> out;
  for (const Shared& s : shared) {
    const bool one = s.chains.size() == 1;
    std::string who = chains_text(s.chains);
    if (s.finding->weight == Finding::Weight::failure) who += one ? " is left out" : " are left out";
    out.push_back(one ? fmt::format("{}: {}", who, with_advice(*s.finding))
                      : fmt::format("{}: {} (chain {}: {})", who, several(*s.finding), s.chains[0],
                                    with_advice(*s.finding)));
  }
  return out;
}

std::vector<std::string> run_warnings(const RunDiagnosis& diagnosis) {
  std::vector<std::string> out;
  for (const Finding& finding : diagnosis.findings)
    if (finding.weight != Finding::Weight::note) out.push_back(with_advice(finding));
  return out;
}

}  // namespace smile
