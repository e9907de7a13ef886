// Random operands from a seed: the same bits on every machine.
#pragma once

#include <cstdint>

#include "convgrad/tensor.h"

namespace convgrad::cli {

// splitmix64 (Steele, Lea, Flood 2014): one 64-bit state, full period.
struct SplitMix64 {
  std::uint64_t state = 0;
  std::uint64_t next();
};

// Operand `index` of a problem draws from a stream of its own, so that giving a file for one leaves
// the other as it was. Uniform in [-1, 1) rounded to the dtype; integers from -8 to 8.
Result<Tensor> random_operand(DType dtype, Shape shape, std::uint64_t seed, int index);

}  // namespace convgrad::cli
