// SPDX-License-Identifier: Apache-2.0
#include "smile/targets/frozen.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "smile/error.hpp"

namespace smile {
namespace {

/// Whether `pattern` (`*`: any text) matches the whole of `text`.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() != '*')
    return !text.empty() && pattern.front() == text.front() && matches(pattern.substr(1), text.substr(1));
  for (std::size_t i = 0; i <= text.size(); ++i)
    if (matches(pattern.substr(1), text.substr(i))) return true;
  return false;
}

class FrozenLikelihood final : public Likelihood<float> {
 public:
  FrozenLikelihood(std::unique_ptr<Likelihood<float>> inner, std::shared_ptr<const FrozenParameters> frozen,
                   const HostVector<float>& whole)
      : inner_(std::move(inner)), frozen_(std::move(frozen)), whole_(whole), gradient_(whole.size()) {}

  const ParameterLayout& layout() const override { return frozen_->moving(); }
  std::size_t observations() const override { return inner_->observations(); }
  double log_likelihood_and_gradient(std::span<const std::uint32_t> rows, const HostVector<float>& position,
                                     HostVector<float>& gradient) override {
    frozen_->put(position.span(), whole_);
    const double value = inner_->log_likelihood_and_gradient(rows, whole_, gradient_);
    frozen_->take(gradient_, gradient);
    return value;
  }
  double log_likelihood(std::span<const std::uint32_t> rows, const HostVector<float>& position) override {
    frozen_->put(position.span(), whole_);
    return inner_->log_likelihood(rows, whole_);
  }

 private:
  std::unique_ptr<Likelihood<float>> inner_;
  std::shared_ptr<const FrozenParameters> frozen_;
  HostVector<float> whole_, gradient_;
};

}  // namespace

bool is_frozen(const std::string& name, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return matches(pattern, name) || matches(pattern + ".*", name);
  });
}

void require_matches(const std::vector<std::string>& names, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns)
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string& name) { return is_frozen(name, {pattern}); }))
      throw Error("training.sampler.params_frozen", "`" + pattern + "` matches no parameter",
                  names.empty() ? "the network has none" : "parameters have names such as " + names.front());
}

FrozenParameters::FrozenParameters(const ParameterLayout& all, const std::vector<std::string>& patterns)
    : patterns_(patterns), all_(all.size()) {
  std::vector<std::string> names;
  for (const ParameterGroup& group : all.groups) names.push_back(group.name);
  require_matches(names, patterns);
  for (const ParameterGroup& group : all.groups) {
    if (is_frozen(group.name, patterns)) continue;
    moving_.add(group.name, group.shape, group.kind, group.fan_in, group.fan_out);
    from_.push_back(group.offset);
  }
  if (moving_.groups.empty())
    throw Error("training.sampler.params_frozen", "no parameter is left to sample", "freeze fewer");
}

std::vector<std::uint32_t> FrozenParameters::places() const {
  std::vector<std::uint32_t> places;
  for (std::size_t g = 0; g < from_.size(); ++g)
    for (std::size_t i = 0; i < moving_.groups[g].size(); ++i) places.push_back(std::uint32_t(from_[g] + i));
  return places;
}

void FrozenParameters::take(const HostVector<float>& whole, HostVector<float>& out) const {
  if (out.size() != moving_.size()) out.resize(moving_.size());
  for (std::size_t i = 0; i < from_.size(); ++i) {
    const ParameterGroup& group = moving_.groups[i];
    std::copy_n(whole.data() + from_[i], group.size(), out.data() + group.offset);
  }
}

void FrozenParameters::put(std::span<const float> moving, HostVector<float>& whole) const {
  for (std::size_t i = 0; i < from_.size(); ++i) {
    const ParameterGroup& group = moving_.groups[i];
    std::copy_n(moving.data() + group.offset, group.size(), whole.data() + from_[i]);
  }
}

std::unique_ptr<Likelihood<float>> freeze(std::unique_ptr<Likelihood<float>> likelihood,
                                          std::shared_ptr<const FrozenParameters> frozen,
                                          const HostVector<float>& whole) {
  return std::make_unique<FrozenLikelihood>(std::move(likelihood), std::move(frozen), whole);
}

}  // namespace smile
