// The shape of a kernel: its tile, its threads, its shared memory. All of it is known when the kernel is compiled.
#pragma once

#include "engines/cuda/kernels/job.h"
#include "engines/cuda/kernels/stage.h"

namespace convgrad::cuda {

inline constexpr int kProducers = 128;  // threads that fill the stages; one warpgroup, so that its registers can be lent

// Terms that are added one after another in a register, as the CPU engine has it (36 there), and the terms whose sums
// are added in registers before they go to the tile in shared memory (2048 there): with 64 and 2048 the error stays
// below 8 u at any length (docs/design/002).
inline constexpr int kChunkTerms = 64;
inline constexpr int kBlockTerms = 2048;

template <Way way_, class Element_, int Rows_, int Columns_, int Consumers_, int RowBytes_ = 128>
struct Shape {
  static constexpr Way way = way_;
  using Element = Element_;
  static constexpr int Rows = Rows_, Columns = Columns_, Consumers = Consumers_;
  static constexpr int Threads = Consumers + kProducers;
  using Stage = Staging<Element, RowBytes_>;
  static constexpr int RowBytes = RowBytes_, Terms = Stage::Terms;
  static constexpr Major field_major = way == Way::filter_grad ? Major::across : Major::along_sum;
  static constexpr Major dense_major = way == Way::input_grad ? Major::along_sum : Major::across;
  using Work = Job<way, Rows, Columns, Terms>;

  static constexpr int field_rows = Stage::template rows<field_major>(Rows);
  static constexpr int dense_rows = Stage::template rows<dense_major>(Columns);
  static constexpr unsigned dense_at = field_rows * RowBytes;
  static constexpr unsigned stage_bytes = (field_rows + dense_rows) * RowBytes;

  // The tile of sums: rows are 16 bytes longer than they need be, against bank conflicts.
  using Sum = typename Element::Sum;
  static constexpr int tile_pitch = Columns + 16 / static_cast<int>(sizeof(Sum));
  static constexpr unsigned tile_bytes = Rows * tile_pitch * sizeof(Sum);

  // Shared memory: stages, the tile, the spots of m and n, barriers. The tile may lie on the stages, which are done
  // with by then, where a sum has one block only.
  static constexpr int most_stages = 8;
  static constexpr unsigned spots_bytes = (Rows + Columns) * sizeof(Spot);
  static constexpr unsigned barriers_bytes = 2 * most_stages * 8;
  static CONVGRAD_BOTH unsigned after_tile(const ConvArgs& args) {
    const unsigned stages = static_cast<unsigned>(args.stages) * stage_bytes;
    const unsigned tile = static_cast<unsigned>(args.tile_at) + tile_bytes;
    return stages > tile ? stages : tile;
  }
  static CONVGRAD_BOTH unsigned shared_bytes(const ConvArgs& args) {
    return after_tile(args) + spots_bytes + barriers_bytes;
  }
};

// Where a block's shared memory holds what.
template <class S>
struct SharedPlaces {
  unsigned tile, field_spots, dense_spots, full, empty;

  CONVGRAD_BOTH explicit SharedPlaces(const ConvArgs& args)
      : tile(static_cast<unsigned>(args.tile_at)),
        field_spots(S::after_tile(args)),
        dense_spots(field_spots + S::Rows * sizeof(Spot)),
        full(field_spots + S::spots_bytes),
        empty(full + S::most_stages * 8) {}
  static CONVGRAD_BOTH unsigned stage(int slot) { return static_cast<unsigned>(slot) * S::stage_bytes; }
};

// A place in the ring of stages: the slot, and the parity of the round, which barriers are asked for.
struct Turn {
  int slot = 0;
  unsigned parity = 0;
  CONVGRAD_BOTH void next(int stages) {
    if (++slot == stages) {
      slot = 0;
      parity ^= 1;
    }
  }
};

}  // namespace convgrad::cuda
