// The algorithm of pairs.h for a machine of eight tile registers of 16 rows x 64 bytes, once: for the CPU's
// (amx.cc) and for a model of them (amx_model.cc).
//
//   tile 0 1    sums: upper left, upper right      tile 4 5    a: upper, lower rows
//   tile 2 3    sums: lower left, lower right      tile 6 7    b: left, right columns
//
// 2 x 2 tiles of sums take one load a product. Sums are of 32 terms (two chains of 16 inside the
// instruction), added one after another into the tile.
#pragma once

#include "engines/cpu/kernels/pairs/pairs.h"

namespace convgrad::cpu {
namespace {

constexpr std::int64_t kTileRows = 16;
constexpr std::int64_t kTileBytes = 64;  // of a row

// What the instruction that sets tiles up reads (palette 1).
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

TileConfig config_of(const TileShape& shape) {
  TileConfig config;
  const auto set = [&config](int tile, int rows, int bytes) {
    if (rows == 0 || bytes == 0) return;
    config.rows[tile] = static_cast<std::uint8_t>(rows);
    config.row_bytes[tile] = static_cast<std::uint16_t>(bytes);
  };
  set(0, shape.upper, 4 * shape.left);
  set(1, shape.upper, 4 * shape.right);
  set(2, shape.lower, 4 * shape.left);
  set(3, shape.lower, 4 * shape.right);
  set(4, shape.upper, kTileBytes);
  set(5, shape.lower, kTileBytes);
  set(6, kTileRows, 4 * shape.left);
  set(7, kTileRows, 4 * shape.right);
  return config;
}

bool same(const TileShape& a, const TileShape& b) {
  return a.upper == b.upper && a.lower == b.lower && a.left == b.left && a.right == b.right;
}

// Up to 2 x 2 tiles of sums.
template <class Machine, bool kLower, bool kRight>
class TileBlock {
 public:
  static void run(const PairArgs& args) {
    args.first ? clear() : load(args);
    for (const PairRun* run = args.runs; run < args.runs + args.run_count; ++run) add(args, *run);
    store(args);
  }

 private:
  static void clear() {
    Machine::template zero<0>();
    if constexpr (kRight) Machine::template zero<1>();
    if constexpr (kLower) Machine::template zero<2>();
    if constexpr (kLower && kRight) Machine::template zero<3>();
  }

  static void load(const PairArgs& args) {
    const std::int64_t bytes = args.c_row * 4;
    const float* lower = args.c + kTileRows * args.c_row;
    Machine::template load<0>(args.c, bytes);
    if constexpr (kRight) Machine::template load<1>(args.c + kPairLanes, bytes);
    if constexpr (kLower) Machine::template load<2>(lower, bytes);
    if constexpr (kLower && kRight) Machine::template load<3>(lower + kPairLanes, bytes);
  }

  static void add(const PairArgs& args, const PairRun& run) {
    const std::uint16_t* a = args.a + run.a;
    const std::uint16_t* b = args.b + run.b;
    for (std::int64_t step = 0; step < run.steps; ++step, a += kPairStep, b += kPairStepElements) {
      Machine::template load<4>(a, args.a_row * 2);
      Machine::template load<6>(b, kTileBytes);
      Machine::template dot<0, 4, 6>();
      if constexpr (kRight) Machine::template load<7>(b + args.b_vector, kTileBytes);
      if constexpr (kRight) Machine::template dot<1, 4, 7>();
      if constexpr (kLower) Machine::template load<5>(a + kTileRows * args.a_row, args.a_row * 2);
      if constexpr (kLower) Machine::template dot<2, 5, 6>();
      if constexpr (kLower && kRight) Machine::template dot<3, 5, 7>();
    }
  }

  static void store(const PairArgs& args) {
    const std::int64_t bytes = args.c_row * 4;
    float* lower = args.c + kTileRows * args.c_row;
    Machine::template store<0>(args.c, bytes);
    if constexpr (kRight) Machine::template store<1>(args.c + kPairLanes, bytes);
    if constexpr (kLower) Machine::template store<2>(lower, bytes);
    if constexpr (kLower && kRight) Machine::template store<3>(lower + kPairLanes, bytes);
  }
};

// args.rows <= 32, args.lanes <= 32.
template <class Machine>
void multiply_block(const PairArgs& args) {
  const auto first = [](std::int64_t count) { return static_cast<std::uint8_t>(count < 16 ? count : 16); };
  const auto rest = [](std::int64_t count) { return static_cast<std::uint8_t>(count < 16 ? 0 : count - 16); };
  const TileShape shape{first(args.rows), rest(args.rows), first(args.lanes), rest(args.lanes)};
  if (!same(*args.tiles, shape)) {
    Machine::configure(config_of(shape));
    *args.tiles = shape;
  }
  if (shape.lower > 0) {
    shape.right > 0 ? TileBlock<Machine, true, true>::run(args) : TileBlock<Machine, true, false>::run(args);
  } else {
    shape.right > 0 ? TileBlock<Machine, false, true>::run(args) : TileBlock<Machine, false, false>::run(args);
  }
}

// Rows in blocks as even as possible: most blocks of a call need one set-up of the tiles.
template <class Machine>
void multiply_by_tiles(const PairArgs& all) {
  constexpr std::int64_t kRows = 2 * kTileRows, kLanes = 2 * kPairLanes;
  const std::int64_t blocks = (all.rows + kRows - 1) / kRows, each = (all.rows + blocks - 1) / blocks;
  for (std::int64_t lane = 0; lane < all.lanes; lane += kLanes) {
    for (std::int64_t row = 0; row < all.rows; row += each) {
      PairArgs one = all;
      one.a += row * all.a_row;
      one.b += lane / kPairLanes * all.b_vector;
      one.c += row * all.c_row + lane;
      one.rows = all.rows - row < each ? all.rows - row : each;
      one.lanes = all.lanes - lane < kLanes ? all.lanes - lane : kLanes;
      multiply_block<Machine>(one);
    }
  }
}

template <class Machine>
void leave_tiles(TileShape& tiles) {
  if (!same(tiles, {})) Machine::release();
  tiles = {};
}

}  // namespace
}  // namespace convgrad::cpu
