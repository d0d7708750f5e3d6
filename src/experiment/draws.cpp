// SPDX-License-Identifier: Apache-2.0
#include "experiment/draws.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "files/file_error.hpp"
#include "run/remade.hpp"
#include "smile/data/prediction_images.hpp"
#include "smile/ensemble/checkpoint.hpp"
#include "smile/ensemble/draw_check.hpp"
#include "smile/ensemble/parallel.hpp"
#include "smile/error.hpp"
#include "smile/network/fcn_network.hpp"

namespace smile::experiment {

std::vector<ChainRecord> read_records(const Experiment& e, const std::filesystem::path& run) {
  std::vector<ChainRecord> records(e.chains());
  for (std::size_t i = 0; i < records.size(); ++i) {
    try {
      std::string remark;
      auto checkpoint = ensemble::read_checkpoint(checkpoint_path(run, std::uint32_t(i)), remark);
      if (checkpoint) records[i] = std::move(checkpoint->record);
    } catch (const data::MachineError&) {
      throw;  // nothing is known of the chain
    } catch (const Error& error) {
      records[i].status = ChainStatus::failed;
      records[i].reason = error.where() + ": " + error.cause();
    }
    records[i].chain = std::uint32_t(i);
    if (records[i].status == ChainStatus::failed) continue;
    if (std::string problem = draws_problem(run, records[i]); !problem.empty()) {
      records[i].status = ChainStatus::failed;
      records[i].reason = std::move(problem);
    }
  }
  return records;
}

std::vector<ChainDraws> open_draws(const Experiment& e, const std::filesystem::path& run,
                                   std::span<const ChainRecord> records) {
  const std::size_t burn_in = std::size_t(e.config.training.sampler.burn_in);
  std::vector<ChainDraws> draws;
  for (const ChainRecord& record : records) {
    const auto path = draws_path(run, record.chain);
    if (record.status == ChainStatus::failed || !DrawsReader::exist(path)) continue;
    DrawsReader rows(path);
    if (rows.columns() != e.dimension())
      throw Error(path.string(), "the draws are of a network of another size",
                  "evaluate with the configuration of the run", ErrorKind::run);
    if (rows.rows() <= burn_in) continue;
    const std::size_t count = rows.rows() - burn_in;
    draws.push_back({record.chain, std::move(rows), burn_in, count, 1});
  }
  if (draws.empty()) {
    std::string why;
    for (const ChainRecord& record : records)
      if (record.status == ChainStatus::failed && why.empty())
        why = " (chain " + std::to_string(record.chain) + " failed: " + record.reason + ")";
    throw Error(run.string(), "no chain has draws to evaluate" + why,
                why.empty() ? "let the run go on with `" + run::resume_command(run) + "`"
                            : "lower step_size; trace/ shows where it went wrong",
                ErrorKind::run);
  }
  return draws;
}

CompleteDraw complete_draws(const Experiment& e, const Network& network, const std::filesystem::path& run) {
  const auto& patterns = e.config.training.sampler.params_frozen;
  if (patterns.empty()) return {};
  const auto frozen = std::make_shared<const FrozenParameters>(network.layout(), patterns);
  const auto members = std::make_shared<const std::vector<HostVector<float>>>(
      read_members(run, e.chains(), network.layout().size()));
  return [members, frozen](std::uint32_t chain, HostVector<float>& draw) {
    HostVector<float> whole = (*members)[chain];
    frozen->put(draw.span(), whole);
    draw.swap(whole);
  };
}

bool for_each_prediction(const Network& network, Part part, std::span<const ChainDraws> chains,
                         std::size_t threads, const OutputSink& sink,
                         const std::function<bool(std::size_t done)>& keep_going,
                         const CompleteDraw& complete) {
  const auto one_by_one = [&](const OutputBlock& block) {
    const std::size_t width = block.outputs.size() / block.count;
    for (std::size_t i = 0; i < block.count; ++i)
      sink(block.chain, block.first + i, block.positions[i].span(), block.outputs.subspan(i * width, width));
  };
  return for_each_block(network, part, chains, threads, one_by_one, keep_going, complete);
}

bool for_each_block(const Network& network, Part part, std::span<const ChainDraws> chains,
                    std::size_t threads, const OutputBlockSink& sink,
                    const std::function<bool(std::size_t done)>& keep_going, const CompleteDraw& complete) {
  constexpr std::size_t kBlockBytes = std::size_t{32} << 20, kBlockDraws = 512;
  const std::size_t width = network.points(part) * network.outputs();
  const std::size_t d = chains.empty() ? 0 : chains.front().stored.columns();
  std::size_t longest = 1;
  for (const ChainDraws& draws : chains) longest = std::max(longest, draws.count);
  const std::size_t most = std::min(kBlockDraws, longest);
  const std::size_t block =
      std::clamp(kBlockBytes / ((width + d) * sizeof(float)), std::min(threads, most), most);
  std::vector<float> outputs(block * width);
  std::vector<HostVector<float>> positions(block, HostVector<float>(d));
  std::vector<std::unique_ptr<Predictor>> predictors(threads);

  std::size_t done = 0;
  for (std::size_t chain = 0; chain < chains.size(); ++chain) {
    const ChainDraws& draws = chains[chain];
    for (std::size_t first = 0; first < draws.count; first += block) {
      const std::size_t count = std::min(block, draws.count - first);
      ensemble::parallel_for(threads, threads, [&](std::size_t t) {
        if (!predictors[t]) predictors[t] = network.predictor();
        for (std::size_t i = t; i < count; i += threads) {
          if (positions[i].size() != d) positions[i].resize(d);
          draws.read(first + i, positions[i].span());
          if (complete) complete(draws.chain, positions[i]);
          predictors[t]->predict(part, positions[i], std::span(outputs).subspan(i * width, width));
        }
      });
      sink({chain, first, count, std::span<const HostVector<float>>(positions).first(count),
            std::span<const float>(outputs).first(count * width)});
      done += count;
      if (!keep_going(done)) return false;
    }
  }
  return true;
}

std::shared_ptr<const Network> network_over(const Experiment& e, const PredictionRows& rows) {
  std::vector<double> targets = rows.targets.empty() ? std::vector<double>(rows.rows) : rows.targets;
  for (double& target : targets)
    if (std::isnan(target)) target = 0;  // only outputs are asked for
  if (e.is_native())
    return std::make_shared<FcnNetwork>(
        e.spec, nullptr, nullptr,
        std::make_shared<const FcnData<float>>(rows.rows, e.info.inputs(), rows.features, targets));
  auto table = std::make_shared<Dataset>();
  table->info = e.info;
  table->test = {rows.rows, rows.features, targets};
  // The engine looks at a training row to see that data and network fit.
  table->train = {1, {rows.features.begin(), rows.features.begin() + std::ptrdiff_t(e.info.inputs())}, {0}};
  return make_network(e.config, {table, nullptr, nullptr});
}

std::shared_ptr<const Network> network_over(const Experiment& e, const ImageRows& images) {
  auto data = std::make_shared<ImageDataset>();
  data->info = e.info;
  data->train = data->valid = data->test = images;
  return make_network(e.config, {nullptr, data, nullptr});
}

OutOfDistribution load_out_of_distribution(const Experiment& e) {
  const std::string& path = *e.config.evaluation_args.ood;
  if (e.config.data.data_type == DataKind::text)
    throw Error(e.config.place("evaluation_args.ood"), "out-of-distribution sets are for tables and images",
                "leave the key out");
  if (e.config.data.data_type == DataKind::tabular) {
    PredictionRows rows = load_prediction_rows(path, e.config.data.table, e.info);
    const bool known =
        std::none_of(rows.targets.begin(), rows.targets.end(), [](double y) { return std::isnan(y); });
    return {network_over(e, rows), known ? rows.targets : std::vector<double>()};
  }
  PredictionImageReader reader(path, e.info, e.config.data.image_size.has_value());
  PredictionImages images;
  reader.next(std::max<std::size_t>(1, reader.size()), images);
  if (!e.config.data.flatten) return {network_over(e, images.images), {}};
  PredictionRows rows;
  rows.rows = images.images.size();
  rows.features = flatten(images.images).features;
  return {network_over(e, rows), {}};
}

}  // namespace smile::experiment
