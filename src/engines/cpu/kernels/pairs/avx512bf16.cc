// Pairs by vdpbf16ps: two fused multiply-adds a lane, the odd term first.
#include <immintrin.h>

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

// One step of 32 terms in registers, then into c: short chains keep the rounding error small.
template <int kHeight, int kWidth>
void add_step(const PairArgs& args, const std::uint16_t* a, const std::uint16_t* b, bool first) {
  __m512 sums[kHeight][kWidth] = {};
  for (std::int64_t k = 0; k < kPairStep; k += 2) {
    __m512bh right[kWidth];
    for (int v = 0; v < kWidth; ++v) right[v] = pairs_at(b + v * args.b_vector + k * kPairLanes);
    for (int m = 0; m < kHeight; ++m) {
      const __m512bh left = broadcast_pair(a + m * args.a_row + k);
      for (int v = 0; v < kWidth; ++v) sums[m][v] = _mm512_dpbf16_ps(sums[m][v], left, right[v]);
    }
  }
  for (int m = 0; m < kHeight; ++m) {
    for (int v = 0; v < kWidth; ++v) {
      const __mmask16 mask = first_lanes(args.lanes - v * kPairLanes);
      float* c = args.c + m * args.c_row + v * kPairLanes;
      const __m512 old = first ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(mask, c);
      _mm512_mask_storeu_ps(c, mask, _mm512_add_ps(old, sums[m][v]));
    }
  }
}

template <int kHeight, int kWidth>
void multiply_block(const PairArgs& args) {
  bool first = args.first;
  for (const PairRun* run = args.runs; run < args.runs + args.run_count; ++run) {
    const std::uint16_t* a = args.a + run->a;
    const std::uint16_t* b = args.b + run->b;
    for (std::int64_t step = 0; step < run->steps; ++step, a += kPairStep, b += kPairStepElements) {
      add_step<kHeight, kWidth>(args, a, b, first);
      first = false;
    }
  }
}

using BlockFn = void (*)(const PairArgs&);
#define CONVGRAD_HEIGHTS(width)                                                  \
  {multiply_block<1, width>, multiply_block<2, width>, multiply_block<3, width>, \
   multiply_block<4, width>, multiply_block<5, width>, multiply_block<6, width>}
constexpr BlockFn kBlocks[kVectors][kRows] = {CONVGRAD_HEIGHTS(1), CONVGRAD_HEIGHTS(2), CONVGRAD_HEIGHTS(3),
                                              CONVGRAD_HEIGHTS(4)};
#undef CONVGRAD_HEIGHTS

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
      kBlocks[(one.lanes - 1) / kPairLanes][height - 1](one);
    }
  }
}

void leave(TileShape&) {}

}  // namespace

PairKernels pairs_avx512bf16(double gain, bool wins) { return {"avx512bf16", kVectors, gain, wins, multiply, leave}; }

}  // namespace convgrad::cpu
