// SPDX-License-Identifier: Apache-2.0
#include "smile/experiment/init.hpp"

#include <system_error>
#include <utility>

#include "run/output_guard.hpp"
#include "smile/config/draft.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"

namespace smile {

InitSummary write_first_configuration(const InitOptions& options) {
  namespace fs = std::filesystem;
  InitSummary summary;
  summary.file = options.out.empty() ? options.data.filename().replace_extension(".yaml") : options.out;
  OutputGuard().reads(options.data).check(summary.file);
  std::error_code none;
  if (fs::is_regular_file(summary.file, none) && !options.replace)
    throw Error(summary.file.string(), "is there already",
                "give another name with --out, or --replace to write it anew");
  ConfigDraft draft = draft_config(options.data, {.target = options.target});
  AtomicFile file(summary.file);
  file.write(draft.yaml);
  file.commit();
  summary.assumptions = std::move(draft.assumptions);
  return summary;
}

}  // namespace smile
