#include "experiment/stored_run.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "smile/error.hpp"
#include "smile/experiment/config_options.hpp"
#include "smile/experiment/run_access.hpp"

namespace smile::experiment {

std::size_t StoredRun::draws() const {
  std::size_t total = 0;
  for (const ChainDraws& chain : chains) total += chain.count;
  return total;
}

namespace {

/// parameters.json: what the draws are made of, whatever the network.
ParameterLayout read_layout(const std::filesystem::path& path) {
  std::ifstream in(path);
  const auto json = nlohmann::json::parse(in, nullptr, false);
  ParameterLayout layout;
  try {
    for (const auto& tensor : json) {
      const auto shape = tensor.at("shape").get<std::vector<std::size_t>>();
      if (layout.add(tensor.at("name"), shape, ParameterKind::other) != tensor.at("offset")) layout = {};
    }
  } catch (const nlohmann::json::exception&) {
    layout = {};
  }
  if (layout.size() == 0)
    throw Error(path.string(), "cannot be read as the list of a run's parameters",
                "let the run go on with --resume, which writes the file where it is missing", ErrorKind::run);
  return layout;
}

}  // namespace

StoredRun open_stored_run(const std::filesystem::path& path, bool incomplete) {
  require_run(path);
  if (!incomplete) require_complete(path);
  StoredRun run;
  run.path = path;
  Experiment& e = run.experiment;
  e.config = load_config((path / "config.yaml").string());
  if (!std::filesystem::exists(path / "dataset_splits.npz"))
    throw Error(path.string(), "the run has no dataset_splits.npz", "let it go on with --resume",
                ErrorKind::run);
  e.info = load_dataset_info(path / "dataset_splits.npz");
  if (e.config.model.is_native()) e.spec = fcn_spec(e.config, e.info.inputs());
  e.layout = read_layout(path / "parameters.json");
  run.records = read_records(e, path);
  run.chains = open_draws(e, path, run.records);
  for (const ChainRecord& record : run.records)
    if (record.status == ChainStatus::failed)
      run.remarks.push_back(fmt::format("chain {} failed and is left out: {}", record.chain, record.reason));
  return run;
}

}  // namespace smile::experiment
