// SPDX-License-Identifier: Apache-2.0
#include "run/output_guard.hpp"

#include <algorithm>
#include <system_error>

#include "files/utf8.hpp"
#include "smile/config/config.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/run/inputs.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;

fs::path real(const fs::path& path) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(path, error);
  return error ? fs::absolute(path) : result;
}

/// The part of `path` below `folder`, or empty.
fs::path below(const fs::path& path, const fs::path& folder) {
  const auto [rest, end] = std::mismatch(path.begin(), path.end(), folder.begin(), folder.end());
  if (end != folder.end()) return {};
  fs::path part;
  for (auto step = rest; step != path.end(); ++step) part /= *step;
  return part;
}

}  // namespace

bool is_run_folder(const fs::path& folder) {
  std::error_code none;
  const auto is = [&](const fs::path& path) { return fs::exists(path, none); };
  const RunPaths paths(folder);
  return (paths.is_run() &&
          (is(paths.state()) || is(paths.log()) || is(paths.samples()) || is(paths.parameters()))) ||
         (is(paths.tuned()) && is(paths.log()));
}

OutputGuard& OutputGuard::reads(const fs::path& input) {
  if (!input.empty()) inputs_.push_back(real(input));
  return *this;
}

OutputGuard& OutputGuard::reads(const Config& config) {
  reads(config.data.path);
  if (config.data.test_path) reads(*config.data.test_path);
  const SplitFiles& rows = config.data.dataset.split_files;
  for (const auto& file : {rows.test, rows.train, rows.valid})
    if (file) reads(*file);
  if (config.evaluation_args.ood) reads(*config.evaluation_args.ood);
  if (config.model.path) reads(*config.model.path);
  if (config.training.warmstart.warmstart_exp_dir) reads(*config.training.warmstart.warmstart_exp_dir);
  if (config.training.warmstart.warmstart_files)
    for (const std::string& file : *config.training.warmstart.warmstart_files) reads(file);
  return *this;
}

OutputGuard& OutputGuard::reads_run(const fs::path& run) {
  try {
    reads(load_config(RunPaths(run).config().string()));
    for (const InputFile& file : read_inputs(run)) reads(file.absolute);
  } catch (const Error&) {
    // The command itself says what is wrong with the run.
  }
  return *this;
}

void OutputGuard::check(const fs::path& output, const fs::path& own_name) const {
  const std::string name = output.string();
  for (std::string_view rest = name; !rest.empty();) {
    const std::size_t length = data::next_code_point(rest).length;
    if (length == 0)
      throw Error("--out", "the name is not UTF-8 (byte " + std::to_string(name.size() - rest.size()) + ")",
                  "give a name in UTF-8");
    rest.remove_prefix(length);
  }
  const OutputTarget target = output_target(output);
  if (target.stream) return;
  const fs::path path = real(target.path);
  for (const fs::path& input : inputs_) {
    std::error_code none;
    const bool same = path == input || fs::equivalent(path, input, none);
    if (same || (fs::is_directory(input, none) && !below(path, input).empty()))
      throw Error(output.string(),
                  same ? "is a file that is read, and would be replaced"
                       : "lies in " + input.string() + ", which is read",
                  "give another file with --out");
  }
  for (fs::path folder = path.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    if (is_run_folder(folder)) {
      const fs::path inside = below(path, folder);
      if (RunPaths::is_own(*inside.begin()) && inside != own_name)
        throw Error(output.string(), "belongs to the run in " + folder.string(),
                    "give another file with --out");
    }
    if (folder == folder.parent_path()) break;
  }
}

}  // namespace smile
