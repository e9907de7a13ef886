// The truth: plain loops over the definition, in at least twice the working precision.
#pragma once

#include <cstdint>

#include "convgrad/geometry.h"

namespace convgrad::reference {

// Contiguous tensors in the caller's layout, in the order of operands(geometry).
struct Args {
  const void* first;
  const void* second;
  void* result;
};

// Computes result elements [begin, end) by flat index, each by itself: how the range is cut up
// changes no bit. Reads and writes nothing else.
void compute(const Geometry& geometry, const Args& args, std::int64_t begin, std::int64_t end);

}  // namespace convgrad::reference
