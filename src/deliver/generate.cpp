// SPDX-License-Identifier: Apache-2.0
#include "smile/deliver/generate.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "evaluation/softmax.hpp"
#include "experiment/draws.hpp"
#include "experiment/experiment.hpp"
#include "run/network_record.hpp"
#include "run/remade.hpp"
#include "smile/data/text.hpp"
#include "smile/error.hpp"
#include "smile/experiment/network_engine.hpp"
#include "smile/run/inputs.hpp"
#include "smile/run/run_access.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;

/// Draws spread evenly over all that the chains have.
std::vector<HostVector<float>> choose_draws(std::span<const experiment::ChainDraws> chains, std::size_t most,
                                            const experiment::CompleteDraw& complete) {
  std::size_t total = 0;
  for (const auto& chain : chains) total += chain.count;
  const std::size_t count = std::min(total, most);
  std::vector<HostVector<float>> positions;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t at = (2 * i + 1) * total / (2 * count);
    for (const auto& chain : chains) {
      if (at < chain.count) {
        positions.emplace_back(chain.stored.columns());
        chain.read(at, positions.back().span());
        if (complete) complete(chain.chain, positions.back());
        break;
      }
      at -= chain.count;
    }
  }
  return positions;
}

/// An index drawn in proportion to p^(1/T).
std::uint32_t draw_token(const std::vector<double>& p, double temperature, double uniform) {
  const double largest = *std::max_element(p.begin(), p.end());
  std::vector<double> weights(p.size());
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    sum += weights[i] = std::exp(std::log(p[i] / largest) / temperature);
  double left = uniform * sum;
  for (std::size_t i = 0; i + 1 < p.size(); ++i) {
    left -= weights[i];
    if (left < 0) return std::uint32_t(i);
  }
  return std::uint32_t(p.size() - 1);
}

}  // namespace

std::string generate_text(const std::string& run, const GenerateOptions& options) {
  const fs::path path(run);
  require_run(path);
  if (!(options.temperature > 0))
    throw Error("--temperature", std::to_string(options.temperature) + " is not positive",
                "give a number above 0, 1 for the model's own distribution");
  Config config = load_run_config(path);
  const DatasetInfo info = run::read_remade(path, [&] { return load_dataset_info(RunPaths(path).data()); });
  if (!info.text || config.task() != Task::multilabel)
    throw Error(run, "the run is of no language model", "give a run with data_type: text");
  const NetworkEngine* engine = require_network_engine(run, "the language model " + config.model.model);
  const Vocabulary vocabulary(info.text->vocabulary);
  const std::size_t context = info.text->context;
  std::vector<std::uint32_t> tokens = vocabulary.encode(options.prompt, "--prompt");
  const std::size_t given = tokens.size();
  if (tokens.empty()) {
    const auto& symbols = vocabulary.symbols();
    const auto line = std::find(symbols.begin(), symbols.end(), "\n");
    tokens.push_back(line == symbols.end() ? 0 : std::uint32_t(line - symbols.begin()));
  }

  const experiment::Experiment e = experiment::prepare(config);
  experiment::check_same_network(path, e.config, *e.network);
  const auto records = experiment::read_records(e, path);
  for (const ChainRecord& record : records)
    if (record.status == ChainStatus::failed && options.on_message)
      options.on_message("chain " + std::to_string(record.chain) +
                         " failed and is left out: " + record.reason);
  const auto positions =
      choose_draws(experiment::open_draws(e, path, records), std::max<std::size_t>(1, options.draws),
                   experiment::complete_draws(e, *e.network, path));
  const auto model = engine->language_model(e.config);
  std::vector<float> logits(vocabulary.size());
  if (options.on_text) options.on_text(options.prompt);
  for (std::size_t i = 0; i < options.tokens; ++i) {
    const std::size_t first = tokens.size() > context ? tokens.size() - context : 0;
    std::vector<double> mean(vocabulary.size()), p(vocabulary.size());
    for (const auto& position : positions) {
      model->next(std::span(tokens).subspan(first), position, logits);
      if (!softmax(std::span<const float>(logits), std::span(p)).finite)
        throw Error(run, "a draw's outputs are not finite numbers",
                    "see smile diagnose for the chains that can be used", ErrorKind::run);
      for (std::size_t c = 0; c < p.size(); ++c) mean[c] += p[c];
    }
    Stream stream({options.seed, 0, Purpose::predictive}, i);
    tokens.push_back(draw_token(mean, options.temperature, stream.uniform()));
    if (options.on_text) options.on_text(vocabulary.decode(std::span(tokens).last(1)));
  }
  return options.prompt + vocabulary.decode(std::span(tokens).subspan(std::max<std::size_t>(given, 1)));
}

}  // namespace smile
