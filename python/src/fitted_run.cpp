// SPDX-License-Identifier: Apache-2.0
// A stored run, asked in memory.
#include "smile/deliver/fitted_run.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings.hpp"
#include "interruptible.hpp"

namespace smile::python {
namespace {

nb::dict info_dict(const FittedRun& run) {
  const DatasetInfo& info = run.info();
  const Config& config = run.config();
  nb::dict out;
  out["task"] = std::string(name_of(info.task));
  out["features"] = info.feature_names;
  out["categories"] = info.feature_categories;
  out["target"] = info.target_name;
  out["target_position"] = info.target_position;
  out["has_header"] = info.has_header;
  out["labels"] = info.labels.names;
  out["target_mean"] = info.normalisation.target_mean;
  out["target_sd"] = info.normalisation.target_sd;
  out["source"] = info.source;
  out["train_rows"] = to_numpy(info.train_rows, {info.train_rows.size()});
  out["valid_rows"] = to_numpy(info.valid_rows, {info.valid_rows.size()});
  out["test_rows"] = to_numpy(info.test_rows, {info.test_rows.size()});
  out["missing"] = std::string(name_of(config.data.table.missing));
  out["sampler"] = config.training.sampler.name;
  out["seed"] = config.rng;
  out["thinning"] = config.training.sampler.n_thinning;
  nb::list tensors;
  for (const ParameterGroup& group : run.layout().groups)
    tensors.append(nb::make_tuple(group.name, group.shape, group.offset));
  out["tensors"] = tensors;
  nb::list chains;
  for (std::size_t k = 0; k < run.chains(); ++k)
    chains.append(nb::make_tuple(run.number(k), run.draws(k), run.first_draw(k)));
  out["chains"] = chains;
  out["remarks"] = run.remarks();
  return out;
}

/// The last `count` draws of every chain. @return [chains, count, d]
nb::ndarray<nb::numpy, float> draws_of(const FittedRun& run, std::size_t count) {
  const std::size_t d = run.layout().size();
  std::vector<float> values(run.chains() * count * d);
  {
    nb::gil_scoped_release release;
    for (std::size_t k = 0; k < run.chains(); ++k)
      for (std::size_t i = 0; i < count; ++i)
        run.read(k, i, std::span(values).subspan((k * count + i) * d, d));
  }
  return to_numpy(std::move(values), {run.chains(), count, d});
}

nb::dict statistics_of(const FittedRun& run, std::size_t k) {
  const auto rows = run.statistics(k);
  nb::dict out;
  const auto put = [&]<class T>(const char* name, T DrawRow::*member) {
    std::vector<T> values;
    for (const DrawRow& row : rows) values.push_back(row.*member);
    const std::size_t size = values.size();
    out[name] = to_numpy(std::move(values), {size});
  };
  put("step", &DrawRow::step);
  put("log_density", &DrawRow::log_density);
  put("energy_change", &DrawRow::energy_change);
  put("step_size", &DrawRow::step_size);
  put("gradient_norm", &DrawRow::gradient_norm);
  put("refused_so_far", &DrawRow::refused_so_far);
  put("nonfinite_so_far", &DrawRow::nonfinite_so_far);
  return out;
}

std::shared_ptr<const Table> rows_for(const FittedRun& run, const std::vector<ColumnTuple>& columns,
                                      bool has_names) {
  return table_of(columns, has_names, std::string(name_of(run.config().data.table.missing)));
}

nb::tuple predict(const FittedRun& run, const std::vector<ColumnTuple>& columns, bool has_names,
                  const std::vector<double>& quantiles, int threads) {
  const auto table = rows_for(run, columns, has_names);
  Interruptible calls{nb::none(), nb::none()};
  RowPredictions out = calls.run([&] { return run.predict(table, quantiles, threads, calls.stop()); });
  const std::size_t rows = out.rows, width = out.columns.size(), labels = out.labels.size();
  return nb::make_tuple(out.columns, to_numpy(std::move(out.numbers), {rows, width}),
                        to_numpy(std::move(out.labels), {labels}), out.scores);
}

nb::tuple predict_draws(const FittedRun& run, const std::vector<ColumnTuple>& columns, bool has_names,
                        int threads) {
  const auto table = rows_for(run, columns, has_names);
  Interruptible calls{nb::none(), nb::none()};
  DrawPredictions out = calls.run([&] { return run.predict_draws(table, threads, calls.stop()); });
  std::vector<std::size_t> shape{out.draws, out.rows};
  if (out.sds.empty()) {
    shape.push_back(out.width);
    return nb::make_tuple(to_numpy(std::move(out.values), shape), nb::none());
  }
  auto means = to_numpy(std::move(out.values), shape);
  return nb::make_tuple(means, to_numpy(std::move(out.sds), shape));
}

}  // namespace

void add_fitted_run(nb::module_& module) {
  nb::class_<FittedRun>(module, "FittedRun", "The draws of a run on a table, opened for predictions.")
      .def(nb::init<const std::string&, bool>(), nb::arg("directory"), nb::arg("incomplete") = false,
           nb::call_guard<nb::gil_scoped_release>())
      .def("info", &info_dict, "What the run was made of.")
      .def("draws", &draws_of, nb::arg("count"), "The first draws of every chain, [chains, count, d].")
      .def("statistics", &statistics_of, nb::arg("chain"), "What was noted of a chain's draws, by name.")
      .def("predict", &predict, nb::arg("columns"), nb::arg("has_names"), nb::arg("quantiles"),
           nb::arg("threads"), "Names of the columns, numbers [rows, columns], labels [rows], scores.")
      .def("predict_draws", &predict_draws, nb::arg("columns"), nb::arg("has_names"), nb::arg("threads"),
           "Means and sds [draws, rows], or probabilities [draws, rows, classes] and None.")
      .def(
          "targets",
          [](const FittedRun& run, const std::vector<ColumnTuple>& columns, bool has_names) {
            std::vector<double> targets = run.targets(rows_for(run, columns, has_names));
            const std::size_t size = targets.size();
            return to_numpy(std::move(targets), {size});
          },
          nb::arg("columns"), nb::arg("has_names"), "The targets of rows that have them.");
}

}  // namespace smile::python
