// Which layers are summed in pairs of bf16 (kernels/pairs) instead of in f32.
#pragma once

#include "convgrad/plan.h"
#include "engines/cpu/kernels/pairs/pairs.h"

namespace convgrad::cpu {

// Under 16 channels on a side, what brings the tensors into form takes longer than the sums it saves.
inline constexpr std::int64_t kLeastPairChannels = 16;
// How much faster it should be, counting the zeros that fill steps of 32 terms and vectors of 16 columns.
inline constexpr double kLeastPairGain = 1.5;

// `useful`: the share of multiplications that are not by such zeros.
inline bool pairs_pay(const PairKernels& pairs, double useful) { return pairs.gain * useful >= kLeastPairGain; }

}  // namespace convgrad::cpu
