#include "studio/server/result_cache.h"

#include <bit>
#include <cstring>

namespace convgrad::studio {
namespace {

constexpr std::size_t kMostEntries = 100'000;

// Two chains of multiply and shift over words of 8 bytes. Not for enemies: a page that collides spoils its own run.
class Hash {
 public:
  void add(std::string_view bytes) {
    add_word(bytes.size());
    for (; bytes.size() >= sizeof(std::uint64_t); bytes.remove_prefix(sizeof(std::uint64_t))) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data(), sizeof(word));
      add_word(word);
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, bytes.data(), bytes.size());
    add_word(rest);
  }
  void add_word(std::uint64_t word) {
    lanes_[0] = (lanes_[0] ^ word) * 0x9E3779B97F4A7C15u;
    lanes_[0] ^= lanes_[0] >> 29;
    lanes_[1] = (std::rotl(lanes_[1], 23) + word) * 0xD6E8FEB86659FD93u;
    lanes_[1] ^= lanes_[1] >> 32;
  }
  const NodeKey& key() const { return lanes_; }

 private:
  NodeKey lanes_ = {0x243F6A8885A308D3u, 0x13198A2E03707344u};
};

void add_value(Hash& hash, const graph::AttrValue& value) {
  hash.add_word(value.index());
  if (const auto* tensor = std::get_if<graph::Tensor>(&value)) {
    hash.add_word(static_cast<std::uint64_t>(tensor->dtype()));
    hash.add(tensor->shape().DebugString());
    hash.add(tensor->tensor_data());
  } else if (const auto* number = std::get_if<double>(&value)) {
    hash.add_word(std::bit_cast<std::uint64_t>(*number));
  } else {
    hash.add(graph::to_text(value));
  }
}

}  // namespace

NodeKey key_of(const graph::Node& node, const std::vector<NodeKey>& inputs, std::string_view engine) {
  Hash hash;
  hash.add(engine);
  hash.add(node.type_string());
  for (const auto& [name, value] : node.attrs()) {
    hash.add(name);
    add_value(hash, value);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    hash.add_word(inputs[i][0]);
    hash.add_word(inputs[i][1]);
    hash.add_word(static_cast<std::uint64_t>(node.inputs()[i].index));
  }
  return hash.key();
}

std::int64_t bytes_of(const std::vector<graph::Tensor>& tensors) {
  std::int64_t bytes = 0;
  for (const graph::Tensor& tensor : tensors) bytes += tensor.TotalBytes();
  return bytes;
}

const KeptResult* ResultCache::find(const NodeKey& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &found->second->result;
}

void ResultCache::keep(const NodeKey& key, KeptResult result) {
  if (by_key_.contains(key)) return;
  bytes_ += bytes_of(result.outputs);
  entries_.push_front({key, std::move(result)});
  by_key_.emplace(key, entries_.begin());
  if (entries_.size() > kMostEntries) shrink(bytes_ - 1);
}

void ResultCache::shrink(std::int64_t bytes) {
  while (bytes_ > bytes && !entries_.empty()) {
    bytes_ -= bytes_of(entries_.back().result.outputs);
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

}  // namespace convgrad::studio
