// SPDX-License-Identifier: Apache-2.0
#include "experiment/stored_run.hpp"

#include <fmt/format.h>

#include "run/network_record.hpp"
#include "run/remade.hpp"
#include "smile/config/options.hpp"
#include "smile/error.hpp"
#include "smile/run/inputs.hpp"
#include "smile/run/run_access.hpp"
#include "smile/run/run_paths.hpp"

namespace smile::experiment {

std::size_t StoredRun::draws() const {
  std::size_t total = 0;
  for (const ChainDraws& chain : chains) total += chain.count;
  return total;
}

StoredRun open_stored_run(const std::filesystem::path& path, bool incomplete, const std::string& data) {
  require_run(path);
  if (!incomplete) require_complete(path);
  const RunPaths paths(path);
  StoredRun run;
  run.path = path;
  Experiment& e = run.experiment;
  e.config = load_run_config(path, {.data = data, .needed = !data.empty()});
  if (!std::filesystem::exists(paths.data()))
    throw Error(path.string(), "the run has no dataset_splits.npz",
                "let it go on with `" + run::resume_command(path) + "`", ErrorKind::run);
  e.info = run::read_remade(path, [&] { return load_dataset_info(paths.data()); });
  if (e.config.model.is_native()) e.spec = fcn_spec(e.config, e.info.inputs());
  e.layout = read_layout(paths.parameters());
  // Runs of older versions have no record; what they froze is in no export then.
  if (!e.config.training.sampler.params_frozen.empty() && std::filesystem::exists(paths.network())) {
    run.whole = recorded_layout(path);
    e.frozen = std::make_shared<const FrozenParameters>(*run.whole, e.config.training.sampler.params_frozen);
  }
  run.records = read_records(e, path);
  run.chains = open_draws(e, path, run.records);
  for (const ChainRecord& record : run.records)
    if (record.status == ChainStatus::failed)
      run.remarks.push_back(fmt::format("chain {} failed and is left out: {}", record.chain, record.reason));
  return run;
}

}  // namespace smile::experiment
