// The one multiply-add kernel of the engine: a tile of sums held in registers.
//
//   dense      c[m][l] = sum over k  a[k,m][l % s] * b[k][l]      s = 1, 2 or 4 terms a step, side by side
//   lanewise   c[m][l] = sum over k  a[k,m][l]     * b[k][l]      depthwise and small groups
//
// l runs over the lanes (neighbours in memory), m over the rows of the tile, k over the steps of a
// list of runs. Every lane adds its terms in the order of the list, one fused multiply-add a term,
// so the bits depend on the list and not on the tile or the vector width.
//
// One load of a serves all vectors of b, so tiles of one or two vectors wait for loads. With s = 4 or 2 a layer of 16
// or 32 result channels has four vectors too: each holds s terms of its channels, which are joined at the end.
#pragma once

#include <cstdint>

namespace convgrad::cpu {

// `length` steps of the sum: step k takes a * a_unit + k * a_step and b * b_unit + k * b_step (elements,
// from the bases in the args). After a run that closes a chunk, the registers are added into c and cleared:
// short chains keep the rounding error small (docs/design/004-cpu-engine.md).
struct Run {
  std::int64_t a;
  std::int64_t b;
  std::int32_t length;
  std::int32_t closes;
};

// All strides in elements. The last run closes a chunk. With `first` the first chunk is stored to
// c, otherwise added; the last is stored to `out` instead, which may be c. rows x lanes of c and out are
// written and nothing else. Lanes beyond `lanes` of b (and of a, lanewise) are not read.
template <class T>
struct TileArgs {
  const T* a;
  std::int64_t a_row;   // from m to m + 1
  std::int64_t a_step;  // from k to k + 1
  std::int64_t a_unit;
  const T* b;
  std::int64_t b_step;
  std::int64_t b_unit;
  const Run* runs;
  std::int64_t run_count;
  T* c;
  std::int64_t c_row;
  T* out;
  std::int64_t out_row;
  std::int64_t lanes;  // in (0, lanes of the kernel]
  bool first;
  bool out_is_far;  // beyond the first cache: worth a prefetch
  bool streams;     // whole tiles past the caches: out and out_row are multiples of a vector
};

template <class T>
using TileFn = void (*)(const TileArgs<T>&);

inline constexpr int kMaxTileRows = 14;
inline constexpr int kMaxTileVectors = 4;

// fn[vectors - 1][rows - 1]; null where a tile of that shape would not fit the registers.
template <class T>
struct TileShapes {
  int max_rows[kMaxTileVectors];
  TileFn<T> fn[kMaxTileVectors][kMaxTileRows];
};

template <class T>
struct TileTable {
  int lanes;               // of one vector
  TileShapes<T> dense[3];  // by log2 of s
  TileShapes<T> lanewise;
};

}  // namespace convgrad::cpu
