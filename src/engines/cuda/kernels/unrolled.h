// Loops that the compiler writes out, so that arrays they index stay in registers.
#pragma once

#include <utility>

#include "engines/cuda/atoms/atoms.h"

namespace convgrad::cuda {

template <class Body, int... Index>
CONVGRAD_ATOM void unrolled(const Body& body, std::integer_sequence<int, Index...>) {
  (body(Index), ...);
}

// body(0), body(1), ..., body(Count - 1)
template <int Count, class Body>
CONVGRAD_ATOM void unrolled(const Body& body) {
  unrolled(body, std::make_integer_sequence<int, Count>{});
}

}  // namespace convgrad::cuda
