// Pixels in patches: boxes of 2^a images x 2^b planes x 2^c rows x 2^d columns.
#pragma once

#include "engines/cuda/kernels/divider.h"

namespace convgrad::cuda {

struct Pixel {
  int n, d, h, w;
};

// A patch has 1 << (w + h + d + n) pixels, columns fastest; patches are numbered columns fastest too.
struct Patches {
  int w = 0, h = 0, d = 0, n = 0;  // logarithms of a patch's extents
  Divider columns, rows, planes;   // patches along w, h and d
  std::int64_t count = 0;          // over all images

  CONVGRAD_BOTH int pixels() const { return 1 << (w + h + d + n); }

  // The first pixel of a patch.
  CONVGRAD_BOTH Pixel corner(int patch) const {
    const int row = columns.quotient(patch), plane = rows.quotient(row), image = planes.quotient(plane);
    return {image << n, (plane - image * static_cast<int>(planes.divisor)) << d,
            (row - plane * static_cast<int>(rows.divisor)) << h,
            (patch - row * static_cast<int>(columns.divisor)) << w};
  }
  CONVGRAD_BOTH Pixel at(const Pixel& corner, int index) const {
    return {corner.n + (index >> (w + h + d)), corner.d + ((index >> (w + h)) & ((1 << d) - 1)),
            corner.h + ((index >> w) & ((1 << h) - 1)), corner.w + (index & ((1 << w) - 1))};
  }
};

}  // namespace convgrad::cuda
