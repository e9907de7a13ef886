// How a problem is cut: axes, patches of pixels, slices of a long sum. From the problem alone.
#pragma once

#include "convgrad/geometry.h"
#include "engines/cuda/kernels/args.h"

namespace convgrad::cuda {

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// The axis of one dimension, of the outputs (forward, filter gradient) or the inputs (input gradient).
AxisRule axis_rule(const Geometry& geometry, std::size_t dimension);

// Pixels that patches have to cover, and how far apart the copy engine finds neighbours of a patch.
struct PixelGrid {
  std::int64_t images, extents[3];
  std::int64_t steps[3];
};

// Patches of 2^logarithm pixels that waste the fewest, wide ones first; boxes of them span at most 256 elements of
// an axis.
Patches patches_for(const PixelGrid& grid, int logarithm);

// A sum of `steps` steps for each of `tiles` blocks.
struct LongSum {
  std::int64_t tiles, steps;
  std::int64_t most_steps;   // in a slice, for the error bound
  std::int64_t slice_bytes;  // of the sums that a slice leaves
};

// Steps of one slice.
std::int64_t steps_of_slice(const LongSum& sum);

}  // namespace convgrad::cuda
