// The algorithm of tile.h, once, for any vector width. Included by one thin file an instruction set.
#pragma once

#include <cstring>
#include <utility>

#include "engines/cpu/kernels/tile/tile.h"
#include "engines/cpu/simd/simd.h"

namespace convgrad::cpu::HWY_NAMESPACE {
namespace {

// A vector of a: 1, 2 or 4 neighbours repeated, or as many as it has lanes.
enum class Operand { dense1 = 1, dense2 = 2, dense4 = 4, lanewise };

template <int kCount, class D, class T>
HWY_INLINE hn::Vec<D> repeat(D d, const T* from) {
  if constexpr (kCount == 1) {
    return hn::Set(d, *from);
  } else if constexpr (kCount * sizeof(T) == 16) {
    return hn::LoadDup128(d, from);
  } else {
    const hn::Repartition<double, D> pair;
    double both;
    std::memcpy(&both, from, sizeof(both));
    return hn::BitCast(d, hn::Set(pair, both));
  }
}

// Rows * vectors accumulators, the vectors of b and one of a must fit the register file. Lanewise
// tiles are bound by loads, which 8 rows hide; int32, and CPUs without fused multiply-adds, are there to be right,
// not fast, and large tiles take half a minute to compile.
template <class T>
constexpr int max_rows(Operand operand, int vectors) {
  if (kFewTiles) return vectors > 2 ? 0 : 2;
  if (vectors > 2 && (kRegisters < 32 || !std::is_floating_point_v<T>)) return 0;  // sweep.h would not ask for them
  const bool several_terms = operand == Operand::dense2 || operand == Operand::dense4;
  if (several_terms && !std::is_floating_point_v<T>) return 0;
  if (several_terms && vectors <= 2 && kRegisters == 32) return 0;  // there are always more, which is why
  if (!std::is_floating_point_v<T> || !kFusesMultiplyAdd) return 4;
  const int limit = operand == Operand::lanewise ? 8 : kMaxTileRows;
  const int rows = (kRegisters - 1 - vectors) / vectors;
  return rows < limit ? rows : limit;
}

template <class T, Operand kOperand, int kRows, int kVectors>
struct Tile {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int kLanes = kLanesOf<T>;

  V sums[kRows][kVectors];
  FirstLanes<T> tail;  // of the last vector

  explicit Tile(const TileArgs<T>& t) : tail(t.lanes - (kVectors - 1) * kLanes) {}

  // A masked load costs a multiply-add's slot on x86, so whole vectors are loaded without.
  template <bool kMasked>
  HWY_INLINE V load(const T* from, int v) const {
    if (kMasked && v == kVectors - 1) return tail.load(from + v * kLanes);
    return hn::LoadU(D(), from + v * kLanes);
  }
  template <bool kMasked, bool kStreams>
  HWY_INLINE void store(V value, T* to, int v) const {
    if (kStreams) {
      hn::Stream(value, D(), to + v * kLanes);
    } else if (kMasked && v == kVectors - 1) {
      tail.store(value, to + v * kLanes);
    } else {
      hn::StoreU(value, D(), to + v * kLanes);
    }
  }

  HWY_INLINE void clear() {
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sums[m][v] = hn::Zero(D());
    }
  }

  // Row m lies at p[m / kShare] + (m % kShare) * a_row. Three rows a pointer, so that x86 needs five address
  // registers for fourteen rows.
  static constexpr int kShare = 3;
  static constexpr bool kSlides = kOperand == Operand::lanewise && std::is_floating_point_v<T>;
  static constexpr int kSlide = kSlides ? 3 : 1;  // steps
  static constexpr int kPointers = (kRows + kSlide - 1 + kShare - 1) / kShare;

  // Several steps of rows that lie as far apart as the steps do: row m reads in step k what row m + 1 reads in step
  // k - 1, so a vector of a is loaded once for three multiply-adds.
  template <bool kMasked>
  HWY_INLINE void slide(const TileArgs<T>& t, const T* const (&p)[kPointers], const T* b) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      V right[kSlide];
#pragma GCC unroll 16
      for (int k = 0; k < kSlide; ++k) right[k] = load<kMasked>(b + k * t.b_step, v);
#pragma GCC unroll 16
      for (int j = 0; j < kRows + kSlide - 1; ++j) {
        const V left = load<kMasked>(p[j / kShare] + (j % kShare) * t.a_row, v);
#pragma GCC unroll 16
        for (int k = 0; k < kSlide; ++k) {
          const int m = j - k;
          if (m >= 0 && m < kRows) sums[m][v] = multiply_add(left, right[k], sums[m][v]);
        }
      }
    }
  }

  template <bool kMasked>
  HWY_INLINE void steps(const TileArgs<T>& t, const Run& run) {
    const T* p[kPointers];
#pragma GCC unroll 16
    for (int i = 0; i < kPointers; ++i) p[i] = t.a + run.a * t.a_unit + kShare * i * t.a_row;
    const T* b = t.b + run.b * t.b_unit;
    const std::int64_t a_row = t.a_row, a_step = t.a_step, b_step = t.b_step;
    std::int32_t left_over = run.length;
    if (kSlides && a_step == a_row) {
      for (; left_over >= kSlide; left_over -= kSlide) {
        slide<kMasked>(t, p, b);
#pragma GCC unroll 16
        for (int i = 0; i < kPointers; ++i) p[i] += kSlide * a_step;
        b += kSlide * b_step;
      }
    }
    for (; left_over > 0; --left_over) {
      V right[kVectors];
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) right[v] = load<kMasked>(b, v);
#pragma GCC unroll 16
      for (int m = 0; m < kRows; ++m) {
        const T* row = p[m / kShare] + (m % kShare) * a_row;
        if constexpr (kOperand != Operand::lanewise) {
          const V left = repeat<static_cast<int>(kOperand)>(D(), row);
#pragma GCC unroll 16
          for (int v = 0; v < kVectors; ++v) sums[m][v] = multiply_add(left, right[v], sums[m][v]);
        } else {
#pragma GCC unroll 16
          for (int v = 0; v < kVectors; ++v) sums[m][v] = multiply_add(load<kMasked>(row, v), right[v], sums[m][v]);
        }
      }
#pragma GCC unroll 16
      for (int i = 0; i < kPointers; ++i) p[i] += a_step;
      b += b_step;
    }
  }

  // `out` lies in the second cache or beyond: ask for it a whole sum ahead.
  static HWY_INLINE void fetch_out(const TileArgs<T>& t) {
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) __builtin_prefetch(t.out + m * t.out_row + v * kLanes, 1);
    }
  }

  // The rows of the next tile, which its caller will ask for soon: two cache lines of each hold a chunk's steps.
  static HWY_INLINE void fetch_next_rows(const TileArgs<T>& t, const Run& run) {
    if (kOperand == Operand::lanewise || t.a_step != static_cast<int>(kOperand)) return;
    const T* next = t.a + run.a * t.a_unit + kRows * t.a_row;
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
      __builtin_prefetch(next + m * t.a_row);
      __builtin_prefetch(next + m * t.a_row + 64 / sizeof(T));
    }
  }

  // The same for lanes: of the last run, whose rows no tile before has read. Only where they come from memory, as in
  // layers with a result to be streamed: a fifth of the time of a depthwise 3x3; out of the caches it is lost work.
  static HWY_INLINE void fetch_next_lanes(const TileArgs<T>& t) {
    if (kOperand != Operand::lanewise || !t.streams) return;
    const T* next = t.a + t.runs[t.run_count - 1].a * t.a_unit + (kRows + kSlide - 1) * t.a_row;
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) __builtin_prefetch(next + m * t.a_row + v * kLanes);
    }
  }

  template <bool kMasked, bool kStreams>
  HWY_INLINE void close_chunk(const TileArgs<T>& t, bool first, T* out, std::int64_t out_row) {
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
      const T* row = t.c + m * t.c_row;
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v)
        store<kMasked, kStreams>(first ? sums[m][v] : hn::Add(load<kMasked>(row, v), sums[m][v]), out + m * out_row, v);
    }
  }

  // Predicated stores cost what whole ones do, so closing a chunk needs no copy for whole tiles where there are any.
  template <bool kWhole>
  static void run(const TileArgs<T>& t) {
    constexpr bool kMaskedClose = !kWhole || HWY_TARGET <= HWY_AVX3;
    Tile tile(t);
    tile.clear();
    if (t.out_is_far && !t.streams) fetch_out(t);
    fetch_next_lanes(t);
    bool first = t.first;
    for (const Run *r = t.runs, *last = t.runs + t.run_count - 1; r <= last; ++r) {
      fetch_next_rows(t, *r);
      tile.template steps<!kWhole>(t, *r);
      if (!r->closes) continue;
      const bool ends = r == last;
      if (kWhole && ends && t.streams) return tile.template close_chunk<false, true>(t, first, t.out, t.out_row);
      tile.template close_chunk<kMaskedClose, false>(t, first, ends ? t.out : t.c, ends ? t.out_row : t.c_row);
      tile.clear();
      first = false;
    }
  }
};

template <class T, Operand kOperand, int kRows, int kVectors>
void tile(const TileArgs<T>& t) {
  if (t.lanes == kVectors * kLanesOf<T>) {
    Tile<T, kOperand, kRows, kVectors>::template run<true>(t);
  } else {
    Tile<T, kOperand, kRows, kVectors>::template run<false>(t);
  }
}

template <class T, Operand kOperand, int kVectors, int... kRow>
void fill_rows([[maybe_unused]] TileFn<T>* row, std::integer_sequence<int, kRow...>) {
  ((row[kRow] = tile<T, kOperand, kRow + 1, kVectors>), ...);
}

template <class T, Operand kOperand, int... kVector>
void fill(TileShapes<T>& shapes, std::integer_sequence<int, kVector...>) {
  ((shapes.max_rows[kVector] = max_rows<T>(kOperand, kVector + 1),
    fill_rows<T, kOperand, kVector + 1>(shapes.fn[kVector],
                                        std::make_integer_sequence<int, max_rows<T>(kOperand, kVector + 1)>())),
   ...);
}

template <class T>
TileTable<T> tile_table() {
  TileTable<T> table{};
  table.lanes = kLanesOf<T>;
  fill<T, Operand::dense1>(table.dense[0], std::make_integer_sequence<int, kMaxTileVectors>());
  fill<T, Operand::dense2>(table.dense[1], std::make_integer_sequence<int, kMaxTileVectors>());
  if constexpr (sizeof(T) == 4)
    fill<T, Operand::dense4>(table.dense[2], std::make_integer_sequence<int, kMaxTileVectors>());
  fill<T, Operand::lanewise>(table.lanewise, std::make_integer_sequence<int, kMaxTileVectors>());
  return table;
}

}  // namespace
}  // namespace convgrad::cpu::HWY_NAMESPACE
