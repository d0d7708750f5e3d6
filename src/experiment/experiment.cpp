// SPDX-License-Identifier: Apache-2.0
#include "experiment/experiment.hpp"

#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "experiment/draws.hpp"
#include "experiment/laplace_of.hpp"
#include "experiment/network_data.hpp"
#include "smile/config/options.hpp"
#include "smile/ensemble/parallel.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/network/fcn_network.hpp"
#include "smile/run/inputs.hpp"
#include "smile/run/run_paths.hpp"
#include "smile/targets/batch_order.hpp"
#include "smile/targets/posterior.hpp"
#include "smile/targets/tempered.hpp"

namespace smile::experiment {
namespace {

void check_lengths(const Experiment& e) {
  const SamplerConfig& sampler = e.config.training.sampler;
  const auto& lengths = e.lengths;
  if (lengths.thinning > lengths.plan.sampling_steps)
    throw Error("training.sampler.n_thinning",
                fmt::format("{} is more than n_samples = {}, so that one draw would be stored",
                            sampler.n_thinning, sampler.n_samples),
                "lower n_thinning or raise n_samples");
  const std::uint64_t stored = (lengths.plan.sampling_steps + lengths.thinning - 1) / lengths.thinning;
  if (std::uint64_t(sampler.burn_in) >= stored)
    throw Error("training.sampler.burn_in",
                fmt::format("{} drops all {} draws that a chain stores", sampler.burn_in, stored),
                "lower burn_in, or store more draws (n_samples, n_thinning)");
}

/// The native network over parts whose rows are read one at a time.
/// @param part  of a part: its rows in the form of the network
template <class Make>
void make_native(Experiment& e, std::size_t inputs, std::size_t training_rows, const Make& part) {
  fit_to_data(e.config, training_rows, e.info.labels.classes());
  e.spec = fcn_spec(e.config, inputs);
  e.spec.validate();
  e.training = {part(Part::train), part(Part::valid)};
  e.network = std::make_shared<FcnNetwork>(e.spec, e.training.train, e.training.valid, part(Part::test));
}

/// A table's rows go from where they lie into the network's forms of them, without a copy between.
void load_native_table(Experiment& e, const std::shared_ptr<const Table>& given) {
  SplitTable data = load_split_table(e.config, given);
  e.info = std::move(data.info);
  e.warnings.insert(e.warnings.end(), data.warnings.begin(), data.warnings.end());
  // The split table reads its rows by what it knows of them.
  data.info = DatasetInfo();
  data.info.task = e.info.task;
  data.info.feature_columns = e.info.feature_columns;
  data.info.normalisation = e.info.normalisation;
  const std::size_t inputs = e.info.inputs();
#ifdef __GLIBC__
  ::malloc_trim(0);  // what the split held for a moment goes back before the network's own forms are made
#endif
  const auto native = [&](const std::vector<std::uint32_t>& rows, std::size_t count) {
    return std::make_shared<const FcnData<float>>(
        count, inputs,
        [&](std::size_t i, std::span<double> features) { return data.read(rows[i], features); });
  };
  const std::size_t test_rows = evaluated_rows(e.config.evaluation_args, e.info.test_rows.size());
  std::shared_ptr<const FcnData<float>> valid;
  make_native(e, inputs, e.info.train_rows.size(), [&](Part part) {
    switch (part) {
      case Part::train:
        return native(e.info.train_rows, e.info.train_rows.size());
      case Part::valid:
        return valid = native(e.info.valid_rows, e.info.valid_rows.size());
      case Part::test:
        break;
    }
    const bool as_valid = test_rows == e.info.valid_rows.size() && e.info.test_rows == e.info.valid_rows;
    return as_valid ? valid : native(e.info.test_rows, test_rows);
  });
  const auto targets = [&](const std::vector<std::uint32_t>& rows, std::size_t count) {
    return DataPart{count, {}, data.scaled_targets(std::span(rows).first(count))};
  };
  e.valid = targets(e.info.valid_rows, e.info.valid_rows.size());
  e.test = targets(e.info.test_rows, test_rows);
}

/// Reads the data and makes the network; texts and images are left to the engine of large networks.
void load(Experiment& e, const std::shared_ptr<const Table>& given) {
  if (e.config.data.data_type == DataKind::tabular && e.config.model.is_native())
    return load_native_table(e, given);
  NetworkData data = load_network_data(e.config, e.info, e.warnings, given);
  if (data.table && e.config.model.is_native()) {  // flattened images
    const Dataset& table = *data.table;
    const std::size_t inputs = table.train.features.size() / std::max<std::size_t>(1, table.train.rows);
    make_native(e, inputs, table.train.rows, [&](Part part) {
      const DataPart& rows = part == Part::train   ? table.train
                             : part == Part::valid ? table.valid
                                                   : table.test;
      return std::make_shared<const FcnData<float>>(rows.rows, inputs, rows.features, rows.targets);
    });
    e.valid = targets_of(data, Part::valid);
    e.test = targets_of(data, Part::test);
    return;
  }
  const std::size_t rows = data.table    ? data.table->train.rows
                           : data.images ? data.images->train.size()
                                         : std::size_t(std::lround(data.text->train.observations()));
  fit_to_data(e.config, rows, data.text ? data.text->vocabulary.size() : e.info.labels.classes());
  e.network = make_network(e.config, data);
  for (std::string& remark : e.network->remarks()) e.warnings.push_back(std::move(remark));
  e.valid = targets_of(data, Part::valid);
  e.test = targets_of(data, Part::test);
}

}  // namespace

const NetworkEngine* Experiment::engine() const {
  return is_native() || !config.model.row().torch ? nullptr : network_engine();
}

std::shared_ptr<const Network> make_network(const Config& config, const NetworkData& data) {
  const ModelRow& model = config.model.row();
  if (model.make != nullptr) return model.make(config, data);
  return require_network_engine(config.place("model.model"), config.model.model)->network(config, data);
}

Experiment prepare(const Config& given, const std::shared_ptr<const Table>& table) {
  Experiment e;
  e.config = with_found_inputs(given);
  load(e, table);
  const Config& config = e.config;
  e.layout = e.network->layout();
  if (!config.training.sampler.params_frozen.empty()) {
    e.frozen = std::make_shared<const FrozenParameters>(e.layout, config.training.sampler.params_frozen);
    e.layout = e.frozen->moving();
  }
  const PriorConfig& prior = config.training.sampler.prior_config;
  if (!prior.row().from_members)
    e.prior = make_prior(prior.name, prior.values(), e.layout, prior.seed.value_or(e.seed()));
  e.lengths = make_run_lengths(config.training.sampler, e.observations());
  check_lengths(e);
  // What the sampler itself refuses is to be known before anything is written.
  if (config.training.sampler.row().dynamics == Dynamics::laplace)
    require_laplace(e);
  else
    make_sampler(config.training.sampler, e.lengths.plan, e.observations());
  if (config.training.warmstart.include && config.training.warmstart.warmstart_files && e.engine())
    for (const std::string& file : *config.training.warmstart.warmstart_files) {
      const StreamKey rest{e.seed(), 0, Purpose::initialisation};
      e.engine()->read_parameters(file, *e.network,
                                  config.training.warmstart.warmstart_subset ? &rest : nullptr);
    }
  if (config.evaluation_args.ood) e.out_of_distribution = load_out_of_distribution(e);
  if (e.engine() && !e.engine()->why_one_thread().empty())
    e.warnings.push_back("one chain is computed at a time: " + e.engine()->why_one_thread());
  return e;
}

std::size_t evaluated_rows(const EvaluationArgs& args, std::size_t rows) {
  std::size_t used = rows;
  if (args.datapoint_limit) used = std::min(used, std::size_t(*args.datapoint_limit));
  const std::size_t batch = std::size_t(args.data_batch_size);
  if (args.whole_batches && used >= batch) used -= used % batch;
  return used;
}

std::unique_ptr<Likelihood<float>> make_likelihood(const Experiment& e, const HostVector<float>& member) {
  return e.frozen ? e.network->conditional_likelihood(Part::train, e.frozen, member)
                  : e.network->likelihood(Part::train);
}

std::unique_ptr<Target<HostVector<float>>> make_target(const Experiment& e, std::uint32_t chain,
                                                       const HostVector<float>& member) {
  const SamplerConfig& sampler = e.config.training.sampler;
  auto likelihood = make_likelihood(e, member);
  BatchOrder batches = sampler.is_stochastic() && sampler.batch_size
                           ? e.network->batches(std::size_t(*sampler.batch_size), sampler.batches,
                                                StreamKey{e.seed(), chain, Purpose::batches})
                           : BatchOrder(e.observations());
  auto posterior = std::make_unique<MinibatchPosterior<float>>(std::move(likelihood), e.prior,
                                                               std::move(batches), sampler.likelihood_scale);
  const double temperature = sampler.step.temperature;
  if (temperature == 1 || sampler.row().has_temperature()) return posterior;
  return std::make_unique<TemperedTarget<float>>(std::move(posterior), temperature);
}

std::size_t thread_count(const Experiment& e, const RunOptions& options, std::size_t jobs) {
  if (e.engine() && !e.engine()->why_one_thread().empty()) return 1;
  const std::size_t wanted = options.threads > 0 ? std::size_t(options.threads) : ensemble::usable_cores();
  return std::max<std::size_t>(1, std::min(wanted, jobs));
}

void complete_prior(Experiment& e, const std::filesystem::path& run,
                    const std::vector<HostVector<float>>& members) {
  if (e.prior) return;
  const PriorConfig& prior = e.config.training.sampler.prior_config;
  const LayerScales scales = layer_scales(e.network->layout(), members);
  e.prior = make_prior(prior.name, prior.values(), e.layout, prior.seed.value_or(e.seed()), scales);
  nlohmann::ordered_json text;
  for (const ParameterGroup& group : e.layout.groups)
    for (const PriorSection& section : e.prior->sections())
      if (group.offset >= section.offset && group.offset < section.offset + section.size)
        text[group.name] = section.scale;
  write_file_atomically(RunPaths(run).prior(), text.dump(1) + "\n");
}

void remark(const RunOptions& options, const RunDirectory& directory, const std::string& text) {
  directory.log(text);
  if (options.on_message) options.on_message(text);
}

}  // namespace smile::experiment
