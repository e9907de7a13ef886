// Lists of runs, cut into chunks and blocks. This is where the order and the grouping of every sum of
// the engine are decided, from the problem alone:
//
//   chunk   at most kChunkSteps terms added one after another in a register
//   block   at most kBlockSteps terms: chunks added one after another in memory
//   sum     blocks folded with their rounding errors kept (kernels/sums)
#pragma once

#include <algorithm>
#include <cstdint>

#include "engines/cpu/kernels/tile/tile.h"
#include "engines/cpu/layer.h"

namespace convgrad::cpu {

inline constexpr std::int64_t kChunkSteps = 36;
inline constexpr std::int64_t kBlockSteps = 2048;

// Steps along a and b from one term of a run to the next; b in the units of TileArgs::b_unit.
struct RunSteps {
  std::int64_t a, b;
};

// Appends to memory of the caller's, who knows the bound. `scale` widens both limits for kernels that
// keep that many partial sums side by side.
class RunList {
 public:
  RunList(Run* memory, RunSteps steps, std::int64_t scale = 1)
      : runs_(memory), steps_(steps), chunk_(kChunkSteps * scale), block_(kBlockSteps * scale) {}

  // `length` > 0 terms.
  void add(std::int64_t a, std::int64_t b, std::int64_t length) {
    if (length <= chunk_) return append(a, b, length);
    const std::int64_t pieces = ceil_div(length, chunk_);
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const std::int64_t begin = length * piece / pieces, end = length * (piece + 1) / pieces;
      append(a + begin * steps_.a, b + begin * steps_.b, end - begin);
    }
  }

  // Ends the open chunk; call once after the last add().
  void close() {
    if (count_ > 0) runs_[count_ - 1].closes = 1;
    in_chunk_ = 0;
  }

  const Run* begin() const { return runs_; }
  RunSteps steps() const { return steps_; }
  std::int64_t count() const { return count_; }
  std::int64_t length() const { return total_; }  // of all runs together

  // The end of the block that starts at run `from`; blocks are as even as chunks allow.
  std::int64_t block_end(std::int64_t from) const {
    const std::int64_t blocks = ceil_div(total_, block_);
    return whole_chunks(from, count_, std::min(block_, total_ / blocks + chunk_));
  }

  // The end of as many chunks from run `from` on, before run `limit`, as have at most `most` terms; at least one.
  std::int64_t whole_chunks(std::int64_t from, std::int64_t limit, std::int64_t most) const {
    std::int64_t steps = 0, end = from;
    while (end < limit) {
      std::int64_t next = end;
      std::int64_t chunk = 0;
      do chunk += runs_[next].length;
      while (!runs_[next++].closes);
      if (end > from && steps + chunk > most) break;
      steps += chunk;
      end = next;
    }
    return end;
  }

  // Runs that `adds` calls of add() with `terms` terms in all can make.
  static std::int64_t most(std::int64_t adds, std::int64_t terms) { return adds + terms / kChunkSteps; }

 private:
  void append(std::int64_t a, std::int64_t b, std::int64_t length) {
    if (in_chunk_ + length > chunk_) close();
    Run* last = count_ > 0 ? &runs_[count_ - 1] : nullptr;
    if (in_chunk_ > 0 && last->a + last->length * steps_.a == a && last->b + last->length * steps_.b == b) {
      last->length += static_cast<std::int32_t>(length);
    } else {
      runs_[count_++] = {a, b, static_cast<std::int32_t>(length), 0};
    }
    in_chunk_ += length;
    total_ += length;
  }

  Run* runs_;
  RunSteps steps_;
  std::int64_t chunk_, block_;
  std::int64_t count_ = 0;
  std::int64_t in_chunk_ = 0;
  std::int64_t total_ = 0;
};

}  // namespace convgrad::cpu
