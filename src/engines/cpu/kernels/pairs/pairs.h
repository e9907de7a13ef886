// Matrix products of bf16 by instructions that multiply pairs and add into f32.
//
//   c[m][n] = or += sum over runs, k < 32 * steps   a[run.a + m * a_row + k] * b[run.b + pair(k, n)]
//   pair(k, n) = n / 16 * b_vector + k / 2 * 32 + n % 16 * 2 + k % 2
//
// So a is row-major with k along memory, from any element on, and b is in pair form: vectors of 16 columns,
// in each of them the columns' k and k + 1 side by side (kernels/pack writes it). Terms come in steps of
// kPairStep; who packs fills the last step of a and of b with zeros.
#pragma once

#include <cstdint>
#include <string_view>

namespace convgrad::cpu {

inline constexpr std::int64_t kPairStep = 32;                              // terms: a row of a tile is 64 bytes
inline constexpr std::int64_t kPairLanes = 16;                             // columns of one vector
inline constexpr std::int64_t kPairStepElements = kPairStep * kPairLanes;  // of one vector of b

struct PairRun {
  std::int64_t a, b;  // elements
  std::int64_t steps;
};

// How the tile registers of a thread are set up: 2 x 2 tiles of sums. All 0: not at all.
struct TileShape {
  std::uint8_t upper = 0, lower = 0;  // rows
  std::uint8_t left = 0, right = 0;   // columns
};

// Rows x lanes of c are written and nothing else; columns beyond `lanes` of the last vector of b may be
// read. With `first` c is overwritten, otherwise added to.
struct PairArgs {
  const std::uint16_t* a;
  std::int64_t a_row;
  const std::uint16_t* b;
  std::int64_t b_vector;
  const PairRun* runs;
  std::int64_t run_count;
  float* c;
  std::int64_t c_row;
  std::int64_t rows, lanes;
  bool first;
  TileShape* tiles;  // of the unit of work that calls, which ends with leave()
};

struct PairKernels {
  std::string_view isa;
  std::int64_t widest;  // vectors of c that share the loads of a
  double gain;          // over f32 multiply-adds, at full tiles
  bool wins;            // on this CPU; others are taken only by name
  void (*multiply)(const PairArgs&);
  void (*leave)(TileShape& tiles);  // gives the tile registers back
};

}  // namespace convgrad::cpu
