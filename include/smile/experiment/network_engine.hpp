// SPDX-License-Identifier: Apache-2.0
/// Networks that this library has no engine of its own for: who provides them registers here (smile::torch).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "smile/config/config.hpp"
#include "smile/config/sampler_factory.hpp"
#include "smile/data/dataset.hpp"
#include "smile/data/images.hpp"
#include "smile/data/text.hpp"
#include "smile/ensemble/ensemble_runner.hpp"
#include "smile/network/network.hpp"
#include "smile/targets/priors.hpp"

namespace smile {

/// What a network is given: one of the three is set. The parts are as the experiment wants them evaluated.
struct NetworkData {
  std::shared_ptr<const Dataset> table;
  std::shared_ptr<const ImageDataset> images;
  std::shared_ptr<const TextDataset> text;
};

/// A language model without a data set, for writing text; one thread's.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;
  /// Logits of the token that follows. @param tokens  at most the context, at least one
  /// @param logits @shape [vocabulary], overwritten
  virtual void next(std::span<const std::uint32_t> tokens, const HostVector<float>& position,
                    std::span<float> logits) = 0;
};

class NetworkEngine {
 public:
  virtual ~NetworkEngine() = default;
  virtual std::unique_ptr<LanguageModel> language_model(const Config& config) const = 0;
  /// The network that `model` names on `device`, over the data.
  /// @throws Error for what cannot work: sizes that do not fit, a file that is no network, no such device
  virtual std::shared_ptr<const Network> network(const Config& config, const NetworkData& data) const = 0;
  /// Parameters of a network file (`warmstart_files`) for `network`. @shape [d]
  /// @param rest  where given, the file may have more tensors and lack some, which are initialised with this
  /// key
  virtual HostVector<float> read_parameters(const std::string& file, const Network& network,
                                            const StreamKey* rest) const = 0;
  /// A chain whose vectors live on a device; nothing where `network` computes on the host.
  /// @param frozen  null: every parameter moves
  /// @param member  the network's whole vector; of use where some are frozen
  virtual std::optional<ChainSetup> device_chain(const Config& config, const Network& network,
                                                 const FrozenParameters* frozen,
                                                 const HostVector<float>& member,
                                                 std::shared_ptr<const Prior> prior,
                                                 const RunLengths& lengths, std::uint32_t chain) const = 0;
  /// Why its networks must be computed on one thread only, as words; empty: they need not.
  virtual std::string why_one_thread() const { return {}; }
  /// Whether device `cuda` can be used; else why not, as words.
  virtual std::string why_no_cuda() const = 0;
};

/// The engine of this process; null where the build has none.
const NetworkEngine* network_engine();
/// The same for those who need it; not null. @throws Error at `where`: `what` is not available in this build
const NetworkEngine* require_network_engine(const std::string& where, const std::string& what);
/// Called once, before any configuration is read.
void set_network_engine(std::unique_ptr<const NetworkEngine> engine);

}  // namespace smile
