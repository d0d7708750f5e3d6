// SPDX-License-Identifier: Apache-2.0
// Time of a sampler's step on large networks, and the share of it that is the sampler's own work: everything
// but value and gradient. In the first steps the moving estimates grow from 1 to the gradient's scale, by
// more than the closing sweep foresees, and it is done twice: those steps are told of apart.
//
//   bench_network_step [--device cpu|cuda] [--steps N] [NETWORK...]     lenet, resnet18, vit, gpt; default:
//   lenet resnet18
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "smile/config/sampler_factory.hpp"
#include "smile/ensemble/ensemble_runner.hpp"
#include "smile/ensemble/stream_normals.hpp"
#include "smile/experiment/network_engine.hpp"
#include "smile/targets/posterior.hpp"
#include "smile/torch/engine.hpp"

namespace {

using namespace smile;
using Clock = std::chrono::steady_clock;

/// Steps until the estimates have settled.
constexpr std::uint64_t kFirstSteps = 15;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Problem {
  std::string name;
  Config config;
  NetworkData data;
};

NetworkData random_images(std::size_t channels, std::size_t side, std::size_t count) {
  auto set = std::make_shared<ImageSet>();
  set->shape = {channels, side, side};
  set->pixels.resize(count * set->shape.size());
  Stream stream({1, 0, Purpose::diagnostics});
  for (auto& pixel : set->pixels) pixel = std::uint8_t(stream.below(256));
  for (std::size_t i = 0; i < count; ++i) set->labels.push_back(std::uint32_t(i % 10));
  std::vector<std::uint32_t> rows(count);
  for (std::size_t i = 0; i < count; ++i) rows[i] = std::uint32_t(i);
  auto images = std::make_shared<ImageDataset>();
  images->images = set;
  images->train = images->valid = images->test = ImageRows(set, rows, ImageNormalisation::unit(channels));
  NetworkData data;
  data.images = images;
  return data;
}

NetworkData random_text(std::size_t count, std::size_t context) {
  auto tokens = std::make_shared<std::vector<std::uint32_t>>(count);
  Stream stream({2, 0, Purpose::diagnostics});
  for (auto& token : *tokens) token = stream.below(65);
  std::vector<std::string> symbols;
  for (char c = '!'; symbols.size() < 65; ++c) symbols.emplace_back(1, c);
  auto text = std::make_shared<TextDataset>();
  text->vocabulary = Vocabulary(symbols);
  text->tokens = tokens;
  text->train = text->valid = text->test = TokenWindows(tokens, 0, count, context);
  NetworkData data;
  data.text = text;
  return data;
}

Problem problem_of(const std::string& name, bool on_device) {
  Problem p;
  p.name = name;
  Config& c = p.config;
  c.data.dataset.task = Task::classification;
  c.data.data_type = DataKind::image;
  c.training.sampler.name = "psmile";
  c.training.sampler.microcanonical.rule = StepSizeRule::energy;
  c.training.sampler.step.step_size = 1e-3;
  auto batch = [&](std::int64_t cpu, std::int64_t cuda) {
    c.training.sampler.batch_size = on_device ? cuda : cpu;
  };
  if (name == "lenet") {
    c.model.model = "LeNet";
    c.model.activation = Activation::gelu;
    batch(512, 512);
    p.data = random_images(1, 28, 2048);
  } else if (name == "resnet18") {
    c.model.model = "ResNet";
    batch(64, 512);
    p.data = random_images(3, 32, 2048);
  } else if (name == "vit") {
    c.model.model = "ViT";
    c.model.patch_size = 16, c.model.dim = 384, c.model.depth = 12, c.model.num_heads = 8;
    c.model.transformer_fc_dim = c.model.classifier_fc_dim = 1536;
    batch(16, 128);
    p.data = random_images(3, 160, 512);
  } else if (name == "gpt") {
    c.data.dataset.task = Task::multilabel;
    c.data.data_type = DataKind::text;
    c.model.model = "GPT";
    c.model.vocab_size = 65;
    c.model.context_len = 256, c.model.emb_size = 384, c.model.n_blocks = 6, c.model.n_heads = 6;
    c.model.qkv_dim = 384;
    batch(8, 128);
    p.data = random_text(200000, 256);
  } else {
    fmt::print(stderr, "error: {}: unknown network; lenet, resnet18, vit or gpt\n", name);
    std::exit(2);
  }
  return p;
}

/// Counts the time spent in value and gradient.
class TimedTarget final : public Target<ChainVector> {
 public:
  explicit TimedTarget(std::unique_ptr<Target<ChainVector>> inner) : inner_(std::move(inner)) {}
  std::size_t dimension() const override { return inner_->dimension(); }
  double log_density_and_gradient(const ChainVector& position, ChainVector& gradient,
                                  std::uint64_t step) override {
    const auto begin = Clock::now();
    const double value = inner_->log_density_and_gradient(position, gradient, step);
    seconds += since(begin);
    return value;
  }
  double seconds = 0;

 private:
  std::unique_ptr<Target<ChainVector>> inner_;
};

void measure(const Problem& p, std::uint64_t steps) {
  const auto& sampler_config = p.config.training.sampler;
  const auto network = network_engine()->network(p.config, p.data);
  const std::size_t n = network->rows(Part::train), d = network->layout().size();
  const RunLengths lengths{{1000, 1000}, 1};
  const std::shared_ptr<const Prior> prior = make_prior("StandardNormal", {}, network->layout());
  ChainVector start(d);
  network->initialise({1, 0, Purpose::initialisation}, start);
  StreamNormals<ChainVector> normals(1, 0);
  if (auto chain = network_engine()->device_chain(p.config, *network, nullptr, start, prior, lengths, 0)) {
    // On a device: the time of a gradient alone is that of a step of sgld, which adds next to nothing.
    const auto time_of = [&](Sampler<ChainVector>& sampler, Target<ChainVector>& target) {
      sampler.start(start, target, normals);
      std::uint64_t t = 0;
      for (int i = 0; i < 5; ++i) sampler.step(target, normals, ++t);
      const auto begin = Clock::now();
      for (std::uint64_t i = 0; i < steps; ++i) sampler.step(target, normals, ++t);
      sampler.position();
      return since(begin) / double(steps);
    };
    Config plain = p.config;
    plain.training.sampler.name = "sgld";
    plain.training.sampler.step.step_size = 1e-12;
    auto gradient_chain = network_engine()->device_chain(plain, *network, nullptr, start, prior, lengths, 0);
    const double step = time_of(*chain->sampler, *chain->target);
    const double gradient = time_of(*gradient_chain->sampler, *gradient_chain->target);
    fmt::print(
        "{:9} cuda  d = {:9}  B = {:4}  {:8.2f} ms a step, {:7.2f} steps/s, sampler's own work {:5.2f} %\n",
        p.name, d, *sampler_config.batch_size, 1e3 * step, 1 / step,
        100 * std::max(0.0, 1 - 2 * gradient / step));
    return;
  }
  const BatchOrder batches =
      network->batches(std::size_t(*sampler_config.batch_size), BatchMode::even, {1, 0, Purpose::batches});
  TimedTarget target(
      std::make_unique<MinibatchPosterior<float>>(network->likelihood(Part::train), prior, batches));
  const auto sampler = make_sampler(sampler_config, lengths.plan, n);
  sampler->start(start, target, normals);
  sampler->step(target, normals, 1);  // touches all memory
  std::uint64_t t = 1;
  struct Measured {
    double step, own;  // seconds a step
    std::uint64_t refused;
  };
  const auto time_of = [&](std::uint64_t count) {
    Measured m{0, 0, 0};
    target.seconds = 0;
    const auto begin = Clock::now();
    for (std::uint64_t i = 0; i < count; ++i) m.refused += !sampler->step(target, normals, ++t).accepted();
    const double total = since(begin);
    m.step = total / double(count);
    m.own = (total - target.seconds) / double(count);
    return m;
  };
  const Measured first = time_of(kFirstSteps), m = time_of(steps);
  fmt::print(
      "{:9} cpu   d = {:9}  B = {:4}  {:8.2f} ms a step, {:7.2f} steps/s, sampler's own work {:5.2f} % "
      "({:.1f} ms; {} refused; first steps {:.2f} %, {} refused)\n",
      p.name, d, *sampler_config.batch_size, 1e3 * m.step, 1 / m.step, 100 * m.own / m.step, 1e3 * m.own,
      m.refused, 100 * first.own / first.step, first.refused);
}

}  // namespace

int main(int argc, char** argv) {
  std::string device = "cpu";
  std::uint64_t steps = 20;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--device" && i + 1 < argc)
      device = argv[++i];
    else if (argument == "--steps" && i + 1 < argc)
      steps = std::strtoull(argv[++i], nullptr, 10);
    else
      names.push_back(argument);
  }
  if (names.empty()) names = {"lenet", "resnet18"};
  use_torch_networks();
  try {
    for (const std::string& name : names) {
      Problem p = problem_of(name, device == "cuda");
      p.config.device = parse_name<Device>(device).value_or(Device::cpu);
      measure(p, steps);
    }
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return error.exit_status();
  }
  return 0;
}
