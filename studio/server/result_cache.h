// Results of nodes by the hash of all that decides them, so that what an edit leaves alone is not computed again.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "convgrad/graph/node.h"
#include "studio/server/messages.h"

namespace convgrad::studio {

// 128 bits: op, attributes with their elements, the keys of the inputs, and the engine that was asked for: engines
// round differently.
using NodeKey = std::array<std::uint64_t, 2>;
NodeKey key_of(const graph::Node& node, const std::vector<NodeKey>& inputs, std::string_view engine);

struct KeptResult {
  std::vector<graph::Tensor> outputs;
  Json described;      // outputs as a run's events show them
  std::string engine;  // that computed them; empty: no convolution
};
std::int64_t bytes_of(const std::vector<graph::Tensor>& tensors);

// What was used longest ago goes first.
class ResultCache {
 public:
  // Null when it is not there; valid until the next call.
  const KeptResult* find(const NodeKey& key);
  void keep(const NodeKey& key, KeptResult result);
  // Forgets results until at most that many bytes are kept.
  void shrink(std::int64_t bytes);

 private:
  struct Entry {
    NodeKey key;
    KeptResult result;
  };
  std::list<Entry> entries_;  // the last used first
  std::map<NodeKey, std::list<Entry>::iterator> by_key_;
  std::int64_t bytes_ = 0;
};

}  // namespace convgrad::studio
