// SPDX-License-Identifier: Apache-2.0
#include "device_chain.hpp"

#include <mutex>
#include <optional>
#include <utility>

#include "config/make_sampler.hpp"
#include "smile/random/stream.hpp"
#include "smile/targets/posterior.hpp"
#include "smile/torch/tensor_prior.hpp"
#include "smile/torch/tensor_vector.hpp"

namespace smile::deep {
namespace {

using torch::Tensor;

/// The posterior of MinibatchPosterior, on the network's device.
class DevicePosterior final : public Target<TensorVector> {
 public:
  DevicePosterior(FlatNetwork workspace, const Batches& data, std::shared_ptr<const Prior> prior,
                  BatchOrder batches, LikelihoodScale scale, double temperature)
      : network_(std::move(workspace)),
        data_(data),
        prior_(*prior, data_.device()),
        batches_(std::move(batches)),
        scale_(scale),
        inverse_temperature_(1 / temperature) {}

  std::size_t dimension() const override { return network_.layout().size(); }

  double log_density_and_gradient(const TensorVector& position, TensorVector& gradient,
                                  std::uint64_t step) override {
    compute_on_one_thread();
    const TensorVector::OnDevice scope(data_.device());
    if (gradient.size() != position.size()) gradient = TensorVector(position.size());
    Tensor g = gradient.tensor();
    const double f = factor(step);
    const double value =
        value_and_gradient(network_, data_, Part::train, batches_.rows(step), position.tensor(), g);
    const double sum = f * value + prior_.add_gradient(position.tensor(), f, g).item<double>();
    if (inverse_temperature_ != 1) g.mul_(inverse_temperature_);
    return inverse_temperature_ * sum;
  }

  double log_density(const TensorVector& position, std::uint64_t step) override {
    compute_on_one_thread();
    const double value = value_of(network_, data_, Part::train, batches_.rows(step), position.tensor());
    return inverse_temperature_ *
           (factor(step) * value + prior_.log_density(position.tensor()).item<double>());
  }

 private:
  double factor(std::uint64_t step) const {
    if (batches_.full()) return 1;
    const std::size_t n = batches_.observations();
    if (scale_ == LikelihoodScale::floor_of_batches)
      return double(std::max<std::size_t>(1, n / batches_.batch_size()));
    return double(n) / double(batches_.size(step));
  }

  FlatNetwork network_;
  Batches data_;
  TensorPrior prior_;
  BatchOrder batches_;
  LikelihoodScale scale_;
  double inverse_temperature_;
};

/// Functions of (seed, chain, purpose, step). On the CPU those of the host's chains; a GPU's generator is
/// seeded anew for every vector.
class DeviceNormals final : public NormalSource<TensorVector> {
 public:
  DeviceNormals(std::uint64_t seed, std::uint32_t chain, torch::Device device)
      : seed_(seed), chain_(chain), device_(device) {}

  void normals(TensorVector& out, Purpose purpose, std::uint64_t step) override {
    Tensor to = out.tensor();
    if (device_.is_cpu()) {
      fill_normals({seed_, chain_, purpose}, step,
                   std::span<float>(to.data_ptr<float>(), std::size_t(to.numel())));
      return;
    }
    // The generator of a device is shared by the chains on it.
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    at::Generator generator = at::globalContext().defaultGenerator(device_);
    generator.set_current_seed(Stream({seed_, chain_, purpose}, step).bits64());
    to.normal_(0, 1, generator);
  }
  double uniform(Purpose purpose, std::uint64_t step) override {
    return Stream({seed_, chain_, purpose}, step).uniform();
  }

 private:
  std::uint64_t seed_;
  std::uint32_t chain_;
  torch::Device device_;
};

/// Stands for the device's posterior where the runner wants a target; only its dimension is asked.
class HostTarget final : public Target<ChainVector> {
 public:
  explicit HostTarget(std::size_t dimension) : dimension_(dimension) {}
  std::size_t dimension() const override { return dimension_; }
  double log_density_and_gradient(const ChainVector&, ChainVector&, std::uint64_t) override {
    throw Error("device", "the host has no part in this chain", "report this fault of the program");
  }

 private:
  std::size_t dimension_;
};

class DeviceSampler final : public Sampler<ChainVector> {
 public:
  DeviceSampler(std::unique_ptr<Sampler<TensorVector>> sampler, std::unique_ptr<DevicePosterior> target,
                DeviceNormals normals, torch::Device device)
      : sampler_(std::move(sampler)), target_(std::move(target)), normals_(normals), device_(device) {}

  void start(const ChainVector& position, Target<ChainVector>&, NormalSource<ChainVector>&) override {
    const TensorVector::OnDevice scope(device_);
    TensorVector there(position.size());
    Tensor to = there.tensor();
    to.copy_(tensor_view(position.data(), position.size()));
    sampler_->start(there, *target_, normals_);
    fetched_ = false;
  }
  StepReport step(Target<ChainVector>&, NormalSource<ChainVector>&, std::uint64_t t) override {
    const TensorVector::OnDevice scope(device_);
    fetched_ = false;
    return sampler_->step(*target_, normals_, t);
  }
  const ChainVector& position() const override {
    if (!fetched_) fetch(sampler_->position(), position_);
    fetched_ = true;
    return position_;
  }
  void move_to(const ChainVector& position) override {
    const TensorVector::OnDevice scope(device_);
    TensorVector there(position.size());
    Tensor to = there.tensor();
    to.copy_(tensor_view(position.data(), position.size()));
    sampler_->move_to(there);
    fetched_ = false;
  }
  std::uint64_t warmup_steps() const override { return sampler_->warmup_steps(); }
  std::uint64_t total_steps() const override { return sampler_->total_steps(); }
  std::uint64_t audit_interval() const override { return sampler_->audit_interval(); }
  void serialise(Archive& archive) override {
    const TensorVector::OnDevice scope(device_);
    sampler_->serialise(archive);
    fetched_ = false;
  }
  bool velocity(ChainVector& out) const override {
    const TensorVector::OnDevice scope(device_);
    TensorVector there;
    if (!sampler_->velocity(there)) return false;
    fetch(there, out);
    return true;
  }
  std::vector<std::string> findings() const override { return sampler_->findings(); }
  std::vector<std::pair<std::string, double>> tuned() const override { return sampler_->tuned(); }

 private:
  static void fetch(const TensorVector& from, ChainVector& to) {
    if (to.size() != from.size()) to = ChainVector(from.size());
    tensor_view(to.data(), to.size()).copy_(from.tensor());
  }

  std::unique_ptr<Sampler<TensorVector>> sampler_;
  std::unique_ptr<DevicePosterior> target_;
  DeviceNormals normals_;
  torch::Device device_;
  mutable ChainVector position_;
  mutable bool fetched_ = false;
};

}  // namespace

ChainSetup make_device_chain(const SamplerConfig& config, const TorchNetwork& network,
                             const FrozenParameters* frozen, const HostVector<float>& member,
                             std::shared_ptr<const Prior> prior, const RunLengths& lengths,
                             std::uint64_t seed, std::uint32_t chain) {
  const std::size_t n = network.rows(Part::train);
  BatchOrder batches =
      config.is_stochastic() && config.batch_size
          ? network.batches(std::size_t(*config.batch_size), config.batches, {seed, chain, Purpose::batches})
          : BatchOrder(n);
  const torch::Device device = network.data().device();
  const TensorVector::OnDevice scope(device);
  auto posterior = std::make_unique<DevicePosterior>(
      network.workspace(frozen, member), network.data(), std::move(prior), std::move(batches),
      config.likelihood_scale, config.row().has_temperature() ? 1 : config.step.temperature);
  ChainSetup setup;
  setup.target = std::make_unique<HostTarget>(posterior->dimension());
  setup.sampler =
      std::make_unique<DeviceSampler>(experiment::make_sampler_of<TensorVector>(config, lengths.plan, n),
                                      std::move(posterior), DeviceNormals(seed, chain, device), device);
  return setup;
}

}  // namespace smile::deep
