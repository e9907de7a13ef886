// How a filter gradient of bf16 that is multiplied in pairs is cut up, from the problem alone (but for the
// number of workers).
#pragma once

#include <optional>

#include "engines/cpu/filter_program.h"
#include "engines/cpu/kernels/pairs/pairs.h"

namespace convgrad::cpu {

// The pixels of a region as one sequence in which every tap is one constant distance, so that a tap's sum over
// the region is one long sum of products.
//
// On each axis the inputs are split into phases of the stride, i = phase + stride * j; output o and a tap read
// j = o + shift(tap). Output o lies at (o - region.begin) * step, input j at (j - first_in) * step. Steps leave a
// gap of zeros after the inputs, as long as taps reach beyond them on either side: the gap of one row is the gap
// before the next too. Between outputs there are zeros as well, so what inputs lie there does not count.
struct LinearSpace {
  Position first_in{}, ins{};  // j that exist and are read, of phase 0; other phases may have one fewer
  Position outs{};
  Position step{};
  std::int64_t terms = 0;   // from the first output to the last, filled up to steps of kPairStep
  std::int64_t before = 0;  // positions that taps reach before the first input
  std::int64_t row = 0;     // of one input channel: `before`, and all that taps reach from there on

  // Whether the gaps are the same, though the pixels differ.
  bool laid_out_like(const LinearSpace& other) const {
    return ins == other.ins && outs == other.outs && step == other.step && before == other.before;
  }
  bool empty() const { return ins[0] * ins[1] * ins[2] * ins[3] == 0; }  // no output reads an input
};

struct FilterPairsProgram {
  FilterProgram cut;    // layer, blocks, regions, slices
  FilterProgram exact;  // runs instead where a value must not meet the zeros of the gaps
  const PairKernels* pairs = nullptr;
  Position phases{};                          // of the inputs: those that taps read
  std::int64_t most_row = 0, most_terms = 0;  // of any region

  std::int64_t phase_count() const { return phases[0] * phases[1] * phases[2] * phases[3]; }
};

// None where the layer does not gain by pairs.
std::optional<FilterPairsProgram> filter_pairs_program(const Geometry& geometry, const Policy& policy,
                                                       const PairKernels& pairs);

LinearSpace linear_space(const Layer& layer, const Box& region);

// j = output + shift(tap) for inputs of the tap's phase.
std::int64_t shift_of(const Axis& axis, std::int64_t tap);
std::int64_t phase_of(const Axis& axis, std::int64_t tap);
// Taps 0, 1, ... of an axis have phases number 0, 1, ..., and this many later the first again.
std::int64_t phase_cycle(const Axis& axis);

}  // namespace convgrad::cpu
