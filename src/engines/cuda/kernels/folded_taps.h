// Channels that hold taps: where they lie in the image that they were taken from.
#pragma once

#include "engines/cuda/kernels/job.h"

namespace convgrad::cuda {

// The two halves of an address there: of a pixel of the folded image, and of one of its channels.
inline CONVGRAD_BOTH Spot folded_pixel(const FoldedTaps& taps, const ImageStrides& s, const Pixel& p) {
  const auto along = [&](int i, int at) { return at * taps.axes[i].step + taps.axes[i].origin; };
  const int d = along(0, p.d), h = along(1, p.h), w = along(2, p.w);
  return {p.n * s.n + d * s.d + h * s.h + w * s.w, d, h, w};
}
inline CONVGRAD_BOTH Spot folded_channel(const FoldedTaps& taps, const ImageStrides& s, int channel) {
  int plane = channel;
  const int c = take(plane, taps.channels);
  const int w = take(plane, taps.columns) * taps.axes[2].reach, h = take(plane, taps.rows) * taps.axes[1].reach;
  const int d = plane * taps.axes[0].reach;
  return {d * s.d + h * s.h + w * s.w + c * s.c, d, h, w};
}

// Whether an element of the folded image, which `spot` has the coordinates of, is a zero that stands for padding.
inline CONVGRAD_BOTH bool is_folded_padding(const FoldedTaps& taps, const Spot& spot, int channel) {
  const int extent[3] = {taps.axes[0].extent, taps.axes[1].extent, taps.axes[2].extent};
  return taps.folded &&
         !inside(folded_pixel(taps, {}, {0, spot.d, spot.h, spot.w}) + folded_channel(taps, {}, channel), extent);
}

}  // namespace convgrad::cuda
