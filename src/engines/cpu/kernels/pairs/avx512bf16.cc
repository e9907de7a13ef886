// Pairs by vdpbf16ps: two fused multiply-adds a lane, the odd term first.
#include <immintrin.h>

#include <utility>

#include "engines/cpu/kernels/pairs/pairs.h"

namespace convgrad::cpu {
namespace {

constexpr int kRows = 6, kVectors = 4;  // 24 sums, 4 vectors of b, a broadcast pair: 29 of 32 registers

__mmask16 first_lanes(std::int64_t count) { return static_cast<__mmask16>(count < 16 ? (1u << count) - 1 : 0xffffu); }

__m512bh pairs_at(const std::uint16_t* from) { return reinterpret_cast<__m512bh>(_mm512_loadu_si512(from)); }

__m512bh broadcast_pair(const std::uint16_t* from) {
  int pair;
  __builtin_memcpy(&pair, from, sizeof(pair));
  return reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
}

// A step of 32 terms is added up in registers, then into c: short chains keep the rounding error small. Loops over
// registers are unrolled by name, or GCC keeps the sums in memory.
template <int kHeight, int kWidth>
struct Block {
  __m512 sums[kHeight][kWidth];

  void clear() {
#pragma GCC unroll 8
    for (int m = 0; m < kHeight; ++m) {
#pragma GCC unroll 8
      for (int v = 0; v < kWidth; ++v) sums[m][v] = _mm512_setzero_ps();
    }
  }

  void add_step(const PairArgs& args, const std::uint16_t* a, const std::uint16_t* b) {
    const std::int64_t a_row = args.a_row, b_vector = args.b_vector;
    for (std::int64_t k = 0; k < kPairStep; k += 2) {
      __m512bh right[kWidth];
#pragma GCC unroll 8
      for (int v = 0; v < kWidth; ++v) right[v] = pairs_at(b + v * b_vector + k * kPairLanes);
#pragma GCC unroll 8
      for (int m = 0; m < kHeight; ++m) {
        const __m512bh left = broadcast_pair(a + m * a_row + k);
#pragma GCC unroll 8
        for (int v = 0; v < kWidth; ++v) sums[m][v] = _mm512_dpbf16_ps(sums[m][v], left, right[v]);
      }
    }
  }

  void close(const PairArgs& args, bool first) const {
    const __mmask16 last = first_lanes(args.lanes - (kWidth - 1) * kPairLanes);
#pragma GCC unroll 8
    for (int m = 0; m < kHeight; ++m) {
#pragma GCC unroll 8
      for (int v = 0; v < kWidth; ++v) {
        const __mmask16 mask = v == kWidth - 1 ? last : static_cast<__mmask16>(0xffff);
        float* c = args.c + m * args.c_row + v * kPairLanes;
        const __m512 old = first ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(mask, c);
        _mm512_mask_storeu_ps(c, mask, _mm512_add_ps(old, sums[m][v]));
      }
    }
  }

  static void run(const PairArgs& args) {
    bool first = args.first;
    for (const PairRun* run = args.runs; run < args.runs + args.run_count; ++run) {
      const std::uint16_t* a = args.a + run->a;
      const std::uint16_t* b = args.b + run->b;
      for (std::int64_t step = 0; step < run->steps; ++step, a += kPairStep, b += kPairStepElements) {
        Block block;
        block.clear();
        block.add_step(args, a, b);
        block.close(args, first);
        first = false;
      }
    }
  }
};

using BlockFn = void (*)(const PairArgs&);

template <int kWidth, int... kHeight>
BlockFn block_of(std::int64_t height, std::integer_sequence<int, kHeight...>) {
  static constexpr BlockFn kByHeight[] = {Block<kHeight + 1, kWidth>::run...};
  return kByHeight[height - 1];
}

BlockFn block_of(std::int64_t height, std::int64_t width) {
  constexpr std::make_integer_sequence<int, kRows> kHeights;
  switch (width) {
    case 1: return block_of<1>(height, kHeights);
    case 2: return block_of<2>(height, kHeights);
    case 3: return block_of<3>(height, kHeights);
    default: return block_of<4>(height, kHeights);
  }
}

void multiply(const PairArgs& all) {
  constexpr std::int64_t kLanes = kVectors * kPairLanes;
  const std::int64_t blocks = (all.rows + kRows - 1) / kRows;
  for (std::int64_t lane = 0; lane < all.lanes; lane += kLanes) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t row = all.rows * block / blocks, height = all.rows * (block + 1) / blocks - row;
      PairArgs one = all;
      one.a += row * all.a_row;
      one.b += lane / kPairLanes * all.b_vector;
      one.c += row * all.c_row + lane;
      one.lanes = all.lanes - lane < kLanes ? all.lanes - lane : kLanes;
      block_of(height, (one.lanes + kPairLanes - 1) / kPairLanes)(one);
    }
  }
}

void leave(TileShape&) {}

}  // namespace

PairKernels pairs_avx512bf16(double gain, bool wins) { return {"avx512bf16", kVectors, gain, wins, multiply, leave}; }

}  // namespace convgrad::cpu
