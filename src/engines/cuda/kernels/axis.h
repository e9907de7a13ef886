// One spatial axis of a gather: which source coordinates a pixel's taps read.
#pragma once

#include <cstdint>

#include "engines/cuda/atoms/marks.h"

namespace convgrad::cuda {

// Pixel q and tap u read the source at q * step + origin + u * reach, padding where that is outside [0, extent).
// The pixel stands for coordinate first + q * spacing of the image it belongs to, the tap for tap_first + u * tap_step
// of the filter.
struct Axis {
  int pixels, taps;
  int step, origin, reach, extent;
  int first, spacing;
  int tap_first, tap_step;
};

// Forward and the filter gradient have one set of pixels, the outputs. An input gradient has one for each phase of the
// stride: input i is read by output o through tap t where i + pad = o * stride + t * dilation, so the inputs
// i = f + stride * q share their taps, the t with t * dilation = f + pad (modulo stride). With g the common divisor of
// stride and dilation these are t0, t0 + stride / g, ...; t0 = (f + pad) / g * inverse (modulo stride / g), none where
// g does not divide f + pad.
struct AxisRule {
  Axis plain;  // with one phase: the axis itself; else what the phases have in common
  int phases = 1;
  bool input_grad = false;
  int size = 0, filter = 0;  // of the input gradient's result, of the filter
  int stride = 1, dilation = 1, common = 1, inverse = 0;
  std::int64_t pad = 0;
};

inline CONVGRAD_BOTH Axis axis_of_phase(const AxisRule& rule, int phase) {
  Axis axis = rule.plain;
  if (!rule.input_grad) return axis;
  const int period = rule.stride / rule.common;
  const std::int64_t shifted = phase + rule.pad;
  const auto rest = static_cast<int>(shifted % rule.stride);
  const bool meets = rest % rule.common == 0;
  const auto tap = static_cast<int>(static_cast<std::int64_t>(rest / rule.common) * rule.inverse % period);
  axis.pixels = (rule.size - phase + rule.stride - 1) / rule.stride;
  axis.taps = meets && tap < rule.filter ? (rule.filter - 1 - tap) / period + 1 : 0;
  axis.tap_first = tap;
  axis.tap_step = period;
  axis.first = phase;
  axis.spacing = rule.stride;
  axis.origin =
      axis.taps > 0 ? static_cast<int>((shifted - static_cast<std::int64_t>(tap) * rule.dilation) / rule.stride) : 0;
  return axis;
}

}  // namespace convgrad::cuda
