// A geometry as the CPU engine sees it: up to four axes that all work alike (the batch is an axis with
// one tap), merged where memory allows, so that a 1x1 layer is one long row.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "convgrad/geometry.h"

namespace convgrad::cpu {

inline constexpr int kAxes = 4;
using Position = std::array<std::int64_t, kAxes>;

// input index = output index * stride - pad + tap * dilation. Steps in elements of the tensors.
struct Axis {
  std::int64_t in = 1, out = 1;
  std::int64_t taps = 1, stride = 1, dilation = 1, pad = 0;
  std::int64_t in_step = 0, out_step = 0;
  std::int64_t tap_step = 0;  // in tap numbers
};

struct Layer {
  std::array<Axis, kAxes> axes;  // the last is the row: its neighbours lie closest in memory
  std::int64_t groups = 1;
  std::int64_t c_in = 0, c_out = 0;  // of one group
  std::int64_t in_channel_step = 1, out_channel_step = 1;
  std::int64_t patch_planes = 0;  // not 0: input pixels are patches of channels-first rows (channel_offset)
  std::int64_t in_origin = 0;     // element of the input tensor where position 0 lies
  std::int64_t taps = 1;

  std::int64_t all_in() const { return groups * c_in; }
  std::int64_t all_out() const { return groups * c_out; }
};

Layer layer_of(const Geometry& geometry);

// Elements from channel 0 to channel c: c steps, or, of patches, c % planes steps and c / planes neighbours.
inline std::int64_t channel_offset(std::int64_t c, std::int64_t step, std::int64_t patch_planes) {
  return patch_planes == 0 ? c * step : c % patch_planes * step + c / patch_planes;
}

// Result positions first, first + step, ... (count of them) that share their taps. For position number m
// and tap number j of the stretch the source lies at source + m * source_step + j * source_per_tap, and
// the tap is tap + j * tap_step. Sources rise with j.
struct Stretch {
  std::int64_t first, step, count;
  std::int64_t source, source_step, source_per_tap;
  std::int64_t tap, tap_step, taps;
};

// All positions of an axis of the result, each in exactly one stretch: outputs that gather from inputs
// (forward), or inputs that gather from outputs (input gradient). Their number depends on filter, stride
// and padding, hardly on the extent.
std::vector<Stretch> forward_stretches(const Axis& axis);
std::vector<Stretch> backward_stretches(const Axis& axis);

// Part of a stretch that lies in positions [begin, end).
Stretch clipped(const Stretch& stretch, std::int64_t begin, std::int64_t end);

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }
inline std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

}  // namespace convgrad::cpu
