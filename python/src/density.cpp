// SPDX-License-Identifier: Apache-2.0
// Log-densities that are functions of Python, one chain after another on the calling thread.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "smile/config/config.hpp"
#include "smile/config/sampler_factory.hpp"
#include "smile/ensemble/chain.hpp"
#include "smile/error.hpp"
#include "smile/kernels/host_vector.hpp"
#include "smile/targets/batch_order.hpp"
#include "smile/targets/posterior.hpp"
#include "smile/targets/priors.hpp"

namespace smile::python {
namespace {

using Vector = HostVector<float>;
using Floats = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A function of Python that returns a value and a gradient. The position is handed out as a new array each
/// time: the function may keep it, and JAX may read it later.
class Function {
 public:
  Function(nb::object function, const char* name)
      : function_(std::move(function)), name_(name), numpy_(nb::module_::import_("numpy")) {}

  /// @param rows  of a mini-batch, or none  @param gradient @shape [d], overwritten
  double operator()(const Vector& position, const nb::object* rows, Vector& gradient) const {
    const std::size_t d = position.size();
    nb::object theta = array_of(position);
    nb::object result = rows ? function_(theta, *rows) : function_(theta);
    if (!PyTuple_Check(result.ptr()) || PyTuple_GET_SIZE(result.ptr()) != 2)
      throw Error(name_, "returned no pair", "return (value, gradient)");
    PyObject* value = PyTuple_GET_ITEM(result.ptr(), 0);
    const double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) throw nb::python_error();
    nb::object list = nb::borrow(PyTuple_GET_ITEM(result.ptr(), 1));
    Floats array;
    if (!nb::try_cast(list, array, false))
      array = nb::cast<Floats>(numpy_.attr("asarray")(list, "float32").attr("ravel")());
    if (array.shape(0) != d)
      throw Error(name_,
                  "its gradient has " + std::to_string(array.shape(0)) + " numbers where the position has " +
                      std::to_string(d),
                  "return one for each parameter");
    std::copy_n(array.data(), d, gradient.data());
    return number;
  }

 private:
  nb::object array_of(const Vector& position) const {
    if (position.data() != seen_) {
      seen_ = position.data();
      view_ = nb::cast(nb::ndarray<nb::numpy, const float>(position.data(), {position.size()}, nb::none()),
                       nb::rv_policy::reference);
      copy_ = view_.attr("copy");
    }
    return copy_();
  }

  nb::object function_;
  const char* name_;
  nb::module_ numpy_;
  mutable const float* seen_ = nullptr;
  mutable nb::object view_, copy_;
};

/// The prior once, the rows of the batch times N/B.
class PythonTarget final : public Target<Vector> {
 public:
  PythonTarget(nb::object density, nb::object prior, std::shared_ptr<const Prior> named, BatchOrder batches,
               bool in_batches, std::size_t dimension)
      : density_(std::move(density), in_batches ? "the log-likelihood" : "the log-density"),
        named_(std::move(named)),
        batches_(std::move(batches)),
        in_batches_(in_batches),
        dimension_(dimension),
        part_(dimension) {
    if (!prior.is_none()) prior_.emplace(std::move(prior), "the log-prior");
  }

  std::size_t dimension() const override { return dimension_; }

  double log_density_and_gradient(const Vector& position, Vector& gradient, std::uint64_t step) override {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (gradient.size() != dimension_) gradient = Vector(dimension_);
    if (!in_batches_) return density_(position, nullptr, gradient);
    const nb::object rows = rows_of(step);
    double value = density_(position, &rows, gradient);
    const double factor = double(batches_.observations()) / double(batches_.size(step));
    value *= factor;
    if (named_) return value + named_->log_density_and_gradient(position.span(), factor, gradient.span());
    for (float& g : gradient.span()) g = float(factor * double(g));
    if (!prior_) return value;
    value += (*prior_)(position, nullptr, part_);
    for (std::size_t i = 0; i < dimension_; ++i) gradient.data()[i] += part_.data()[i];
    return value;
  }

 private:
  nb::object rows_of(std::uint64_t step) {
    const auto rows = batches_.rows(step);
    std::vector<std::int64_t> numbers(batches_.size(step));
    if (rows.empty())
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::int64_t(i);
    else
      std::copy(rows.begin(), rows.end(), numbers.begin());
    const std::size_t size = numbers.size();
    return nb::cast(to_numpy(std::move(numbers), {size}));
  }

  Function density_;
  std::optional<Function> prior_;
  std::shared_ptr<const Prior> named_;
  BatchOrder batches_;
  const bool in_batches_;
  const std::size_t dimension_;
  Vector part_;
};

struct Draws {
  std::vector<float> positions;
  std::vector<double> log_density, step_size, energy_change;
  std::vector<std::uint64_t> refused;  ///< since the draw before
  std::vector<std::uint8_t> nonfinite;
};

nb::dict chain_dict(Draws draws, const ChainRecord& record, std::size_t d, double seconds) {
  nb::dict out;
  const std::size_t count = draws.log_density.size();
  out["draws"] = to_numpy(std::move(draws.positions), {count, d});
  out["log_density"] = to_numpy(std::move(draws.log_density), {count});
  out["step_size"] = to_numpy(std::move(draws.step_size), {count});
  out["energy_error"] = to_numpy(std::move(draws.energy_change), {count});
  out["refused"] = to_numpy(std::move(draws.refused), {count});
  out["nonfinite"] = to_numpy(std::move(draws.nonfinite), {count});
  out["status"] = record.status == ChainStatus::failed ? "failed" : "complete";
  out["reason"] = record.reason;
  out["steps"] = record.step;
  out["warmup_steps"] = record.warmup_steps;
  out["warmup_gradients"] = record.monitor.warmup.gradients;
  out["gradients"] = record.monitor.sampling.gradients;
  out["findings"] = record.findings;
  nb::dict tuned;
  for (const auto& [name, value] : record.tuned) tuned[name.c_str()] = value;
  out["tuned"] = tuned;
  out["seconds"] = seconds;
  return out;
}

using SettingTuple = std::tuple<std::string, std::string, std::string>;

nb::list sample(nb::object density,
                nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu> start,
                const std::vector<SettingTuple>& settings, std::size_t observations, nb::object prior,
                bool has_named_prior, nb::object on_progress) {
  std::vector<Setting> list;
  for (const auto& [key, value, where] : settings) list.push_back({key, value, where});
  const Config config = parse_config("{}", "sample", list);
  const SamplerConfig& sampler = config.training.sampler;
  const bool in_batches = observations > 0;
  const std::size_t rows = in_batches ? observations : 1, chains = start.shape(0), d = start.shape(1);
  const RunLengths lengths = make_run_lengths(sampler, rows);
  std::shared_ptr<const Prior> named;
  if (has_named_prior) {
    ParameterLayout layout;
    layout.add("theta", {d}, ParameterKind::other);
    named = make_prior(sampler.prior_config.name, sampler.prior_config.values(), layout,
                       sampler.prior_config.seed.value_or(config.rng));
  }
  nb::list out;
  for (std::size_t k = 0; k < chains; ++k) {
    const auto chain_number = std::uint32_t(k);
    const auto begin = std::chrono::steady_clock::now();
    ChainSetup setup;
    BatchOrder order = in_batches && sampler.is_stochastic() && sampler.batch_size
                           ? BatchOrder(rows, std::size_t(*sampler.batch_size), sampler.batches,
                                        StreamKey{config.rng, chain_number, Purpose::batches})
                           : BatchOrder(rows);
    setup.target = std::make_unique<PythonTarget>(density, prior, named, std::move(order), in_batches, d);
    setup.sampler = make_sampler(sampler, lengths.plan, rows);
    setup.start = Vector(d);
    std::copy_n(start.data() + k * d, d, setup.start.data());
    ChainOptions options;
    options.seed = config.rng;
    options.chain = chain_number;
    options.failure.max_nonfinite_fraction = sampler.max_nonfinite_fraction;
    Chain chain(std::move(setup), options);
    const ChainRecord& record = chain.record();
    Draws draws;
    std::uint64_t refused = 0, bad = 0;
    auto told = begin;
    chain.advance(record.total_steps, [&](const StepReport& report, std::uint64_t t) {
      refused += !report.accepted();
      bad += !is_finite_step(report.refusal) || report.refusal == Refusal::divergence;
      if (!on_progress.is_none() && (t % 64 == 0 || t == record.total_steps)) {
        const auto now = std::chrono::steady_clock::now();
        if (now - told > std::chrono::milliseconds(100) || t == record.total_steps) {
          told = now;
          on_progress("chain " + std::to_string(k), t, record.total_steps, "steps",
                      double(t) / std::chrono::duration<double>(now - begin).count(), report.log_density,
                      report.step_size, t == record.total_steps);
        }
      }
      if (t <= record.warmup_steps ||
          !is_stored(t - record.warmup_steps - 1, lengths.thinning, report.exploring))
        return true;
      const auto draw = chain.position().span();
      draws.positions.insert(draws.positions.end(), draw.begin(), draw.end());
      draws.log_density.push_back(report.log_density);
      draws.step_size.push_back(report.step_size);
      draws.energy_change.push_back(report.energy_change);
      draws.refused.push_back(refused);
      draws.nonfinite.push_back(bad > 0);
      refused = bad = 0;
      return true;
    });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    out.append(chain_dict(std::move(draws), record, d, seconds));
  }
  return out;
}

}  // namespace

void add_density(nb::module_& module) {
  module.def("sample", &sample, nb::arg("density"), nb::arg("start"), nb::arg("settings"),
             nb::arg("observations"), nb::arg("prior").none(), nb::arg("has_named_prior"),
             nb::arg("on_progress").none(), "Chains over a function of Python, one dictionary each.");
}

}  // namespace smile::python
