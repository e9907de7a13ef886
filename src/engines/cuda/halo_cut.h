// How a problem is cut into patches that are loaded with their halo.
#pragma once

#include "engines/cuda/matrices.h"
#include "engines/cuda/program.h"

namespace convgrad::cuda {

// The taps of an axis, over all phases: at most how many, and how many pixels they reach across.
struct TapSpan {
  std::int64_t taps, pixels;
};

struct HaloCut {
  PixelGrid grid;
  TapSpan d, h, w;
  std::int64_t width, height;  // of a box

  explicit HaloCut(const Program& plain);

  std::int64_t taps() const { return d.taps * h.taps * w.taps; }
  std::int64_t rows() const;     // of patches in a plane
  std::int64_t columns() const;  // likewise

  // Whether patches of 8 x 8 pixels are at least 60 % full, neighbouring pixels are neighbours in the field too, a
  // pixel's channels, of 16 bits, are one row, and results are not sums with taps in their channels.
  bool fits(const Program& plain) const;
  // Patches and the tiles that are made of them.
  void set_patches(ConvArgs& args) const;
};

}  // namespace convgrad::cuda
