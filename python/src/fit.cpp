// SPDX-License-Identifier: Apache-2.0
// Runs: the pipeline of the command line with rows in memory.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "interruptible.hpp"
#include "smile/config/catalogue.hpp"
#include "smile/config/config.hpp"
#include "smile/data/dataset.hpp"
#include "smile/diagnosis/diagnosis.hpp"
#include "smile/error.hpp"
#include "smile/experiment/pipeline.hpp"
#include "smile/instruction_set.hpp"
#include "smile/report/html_report.hpp"
#include "smile/run/run_inspection.hpp"
#include "smile/run/run_paths.hpp"

namespace smile::python {
namespace {

NumberType type_of(const nb::dlpack::dtype& type, const std::string& name) {
  if (type == nb::dtype<float>()) return NumberType::float32;
  if (type == nb::dtype<double>()) return NumberType::float64;
  if (type == nb::dtype<std::int64_t>()) return NumberType::int64;
  throw Error("column " + name, "its numbers are of a type that is not read in place",
              "convert it to float32, float64 or int64");
}

/// (key, value as YAML, place for messages)
using SettingTuple = std::tuple<std::string, std::string, std::string>;

Config config_of(const std::string& text, const std::string& name,
                 const std::vector<SettingTuple>& settings) {
  std::vector<Setting> list;
  for (const auto& [key, value, where] : settings) list.push_back({key, value, where});
  return parse_config(text, name, list);
}

nb::dict summary_dict(const RunSummary& summary) {
  nb::dict out;
  out["status"] = std::string(name_of(summary.status));
  out["directory"] = summary.directory;
  out["reason"] = summary.reason;
  nb::list metrics;
  for (const MetricRow& row : summary.metrics)
    metrics.append(nb::make_tuple(row.name, row.ensemble, row.sampling));
  out["metrics"] = metrics;
  out["warnings"] = summary.warnings;
  out["findings"] = summary.findings;
  out["seconds"] = summary.seconds;
  out["chains"] = summary.chains;
  out["failed_chains"] = summary.failed_chains;
  out["draws"] = summary.draws;
  return out;
}

nb::dict run(const std::string& text, const std::string& name, const std::vector<SettingTuple>& settings,
             const std::string& out, const std::vector<ColumnTuple>& columns, bool has_names, int threads,
             bool resume, const std::vector<std::uint32_t>& chains, nb::object on_progress,
             nb::object on_message) {
  Interruptible calls(std::move(on_progress), std::move(on_message));
  const Config config = config_of(text, name, settings);
  const std::string missing(name_of(config.data.table.missing));
  std::shared_ptr<const Table> table = columns.empty() ? nullptr : table_of(columns, has_names, missing);
  RunOptions options;
  options.out = out;
  options.threads = threads;
  options.resume = resume;
  options.chains = chains;
  options.stop = calls.stop();
  options.on_progress = [&](const Progress& progress) { calls.tell(progress); };
  options.on_message = [&](const std::string& message) { calls.tell(message); };
  RunSummary summary = calls.run([&] { return run_experiment(config, options, table); });
  summary.warnings.insert(summary.warnings.begin(), config.warnings.begin(), config.warnings.end());
  return summary_dict(summary);
}

nb::dict evaluate(const std::string& directory, const std::vector<ColumnTuple>& columns, bool has_names,
                  int threads, nb::object on_progress, nb::object on_message) {
  Interruptible calls(std::move(on_progress), std::move(on_message));
  RunData data;
  if (!columns.empty()) {
    const Config config = load_config(RunPaths(directory).config().string());
    data.table = table_of(columns, has_names, std::string(name_of(config.data.table.missing)));
  }
  RunOptions options;
  options.threads = threads;
  options.stop = calls.stop();
  options.on_progress = [&](const Progress& progress) { calls.tell(progress); };
  options.on_message = [&](const std::string& message) { calls.tell(message); };
  return summary_dict(calls.run([&] { return evaluate_run(directory, options, data); }));
}

template <class Entries>
nb::list catalogue(const Entries& entries) {
  nb::list out;
  for (const auto& entry : entries)
    if (entry.available) out.append(nb::make_tuple(entry.name, entry.description));
  return out;
}

}  // namespace

std::shared_ptr<const Table> table_of(const std::vector<ColumnTuple>& columns, bool has_names,
                                      const std::string& missing) {
  std::vector<MemoryColumn> list;
  std::size_t rows = 0;
  for (const auto& [name, values, words] : columns) {
    if (!list.empty() && values.shape(0) != rows)
      throw Error("column " + name,
                  std::to_string(values.shape(0)) + " rows where those before have " + std::to_string(rows),
                  "give columns of the same length");
    rows = values.shape(0);
    const auto type = type_of(values.dtype(), name);
    list.push_back({name, values.data(), std::ptrdiff_t(values.stride(0)) * std::ptrdiff_t(values.itemsize()),
                    type, words});
  }
  // The caller's list holds the arrays for as long as its call lasts.
  nb::gil_scoped_release release;
  return memory_table(std::move(list), rows, has_names, parse_name<MissingPolicy>(missing).value());
}

void add_fit(nb::module_& module) {
  module.def("run", &run, nb::arg("text"), nb::arg("name"), nb::arg("settings"), nb::arg("out"),
             nb::arg("columns"), nb::arg("has_names"), nb::arg("threads"), nb::arg("resume"),
             nb::arg("chains"), nb::arg("on_progress").none(), nb::arg("on_message").none(),
             "Runs an experiment into the folder `out`, on rows in memory where columns are given; where "
             "chains are named, "
             "those alone, into a folder that other processes may work in.");
  module.def("evaluate", &evaluate, nb::arg("directory"), nb::arg("columns"), nb::arg("has_names"),
             nb::arg("threads"), nb::arg("on_progress").none(), nb::arg("on_message").none(),
             "Evaluates the draws of a run again.");
  module.def(
      "chains_of",
      [](const std::string& text, const std::string& name, const std::vector<SettingTuple>& settings) {
        return config_of(text, name, settings).training.sampler.n_chains;
      },
      nb::arg("text"), nb::arg("name"), nb::arg("settings"), "Chains of a run with this configuration.");
  module.def(
      "complete_config",
      [](const std::string& text, const std::string& name, const std::vector<SettingTuple>& settings) {
        return to_yaml(config_of(text, name, settings));
      },
      nb::arg("text"), nb::arg("name"), nb::arg("settings"), "The completed configuration as YAML.");
  module.def(
      "diagnose",
      [](const std::string& directory) {
        const RunDiagnosis diagnosis = diagnose_run(directory);
        return nb::make_tuple(to_json(diagnosis), to_text(diagnosis));
      },
      nb::arg("directory"), "The verdict on a run's chains, as JSON and as text.");
  module.def("write_report", &write_report, nb::arg("directory"), nb::arg("out"),
             "Writes the report page of an evaluated run; returns its path.");
  module.def(
      "member_path",
      [](const std::string& directory, std::size_t number) {
        return RunPaths(directory).member(number).string();
      },
      nb::arg("directory"), nb::arg("number"), "Where a run keeps a warm-started network.");
  module.def(
      "samplers", [] { return catalogue(list_samplers()); }, "Names and lines of the samplers.");
  module.def(
      "priors", [] { return catalogue(list_priors()); }, "Names and lines of the priors.");
  module.def(
      "keys",
      [] {
        nb::list out;
        for (const KeyEntry& key : list_keys())
          out.append(
              nb::make_tuple(key.path, key.allowed, key.default_value, key.description, key.used_with));
        return out;
      },
      "The keys of the configuration: path, what is allowed, default, line, used with.");
  module.attr("MEMORY_PATH") = kMemoryPath;
}

}  // namespace smile::python
