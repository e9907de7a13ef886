// Covers a matrix of sums with register tiles.
#pragma once

#include "engines/cpu/kernels/kernels.h"
#include "engines/cpu/layer.h"

namespace convgrad::cpu {

// Splits `lanes` into blocks of up to `widest` vectors, as even as possible.
struct LaneBlocks {
  std::int64_t lanes, vector, vectors, count;

  LaneBlocks(std::int64_t all_lanes, std::int64_t vector_lanes, std::int64_t widest)
      : lanes(all_lanes),
        vector(vector_lanes),
        vectors(ceil_div(all_lanes, vector_lanes)),
        count(ceil_div(vectors, widest)) {}

  std::int64_t begin(std::int64_t block) const { return vectors * block / count * vector; }
  std::int64_t width(std::int64_t block) const {  // lanes in use
    return (block + 1 == count ? lanes : begin(block + 1)) - begin(block);
  }
  std::int64_t padded(std::int64_t block) const { return round_up(width(block), vector); }
};

// Vectors a tile should have for the most work a load: 4 beside 6 rows in 32 registers, 2 beside 6 in 16.
template <class T>
std::int64_t widest(const TileTable<T>& table) {
  return table.dense[0].max_rows[3] >= 6 ? 4 : 2;
}

// args.c is rows x args.lanes; rows are split into tiles as even as possible. Leaves a, c and out behind the last row:
// a copy of args for every sweep would be read while it is still being written, and wait for that.
template <class T>
void sweep_rows(const TileShapes<T>& shapes, TileArgs<T>& args, std::int64_t vectors, std::int64_t rows) {
  const auto count = static_cast<std::int32_t>(rows), most = shapes.max_rows[vectors - 1];
  const std::int32_t tiles = (count + most - 1) / most;
  const std::int32_t each = count / tiles, larger = count % tiles;
  for (std::int32_t tile = 0; tile < tiles; ++tile) {
    const std::int32_t height = each + (tile < larger ? 1 : 0);
    shapes.fn[vectors - 1][height - 1](args);
    args.a += height * args.a_row;
    args.c += height * args.c_row;
    args.out += height * args.out_row;
  }
}

}  // namespace convgrad::cpu
