#include "engines/cpu/layer.h"

#include <algorithm>
#include <numeric>

namespace convgrad::cpu {
namespace {

constexpr std::int64_t kFewPlanes = 16;

Axis batch_axis(const Geometry& g) {
  const auto volume = [](const Extents& e) { return e[0] * e[1] * e[2]; };
  Axis axis;
  axis.in = axis.out = g.n;
  axis.in_step = g.c_in * volume(g.in);
  axis.out_step = g.c_out * volume(g.out);
  return axis;
}

std::array<Axis, kAxes> axes_of(const Geometry& g) {
  const bool last = g.layout == Layout::channels_last;
  std::array<Axis, kAxes> axes;
  axes[0] = batch_axis(g);
  std::int64_t in_step = last ? g.c_in : 1, out_step = last ? g.c_out : 1, tap_step = 1;
  for (std::size_t d = 3; d-- > 0;) {
    axes[d + 1] = {g.in[d],         g.out[d], g.filter[d], g.stride[d], g.dilation[d],
                   g.pad_before[d], in_step,  out_step,    tap_step};
    in_step *= g.in[d];
    out_step *= g.out[d];
    tap_step *= g.filter[d];
  }
  return axes;
}

// Where all taps of an axis fall on one phase of the stride, only that phase of the input matters:
// a stride-1 axis over every stride-th input. The input gradient must still write the others, so it
// keeps the stride.
void drop_unread_phases(Axis& axis, std::int64_t& origin) {
  if (axis.stride == 1 || (axis.taps > 1 && axis.dilation % axis.stride != 0)) return;
  const std::int64_t phase = (axis.stride - axis.pad % axis.stride) % axis.stride;
  origin += phase * axis.in_step;
  axis.in = std::max<std::int64_t>(0, ceil_div(axis.in - phase, axis.stride));
  axis.pad = (axis.pad + phase) / axis.stride;
  axis.dilation = axis.taps > 1 ? axis.dilation / axis.stride : 1;
  axis.in_step *= axis.stride;
  axis.stride = 1;
}

// A row of patches that touch without overlapping (stride = taps, no padding) is a row of pixels with
// taps * c_in channels: in memory the channels of neighbouring inputs, and of neighbouring taps of the
// filter, lie side by side. Layers of 2x2 stride 2, or patch embeddings, become 1x1 on that axis. Channels first
// their channels lie in planes: the input gradient of few of those gets lanes to fill (3 channels in patches of 16x16:
// 2 to 5 times as fast), the others would only be copied more often.
void join_patches(Layer& layer, bool backward) {
  Axis& row = layer.axes[3];
  const bool fits = backward ? row.in == row.out * row.stride : row.in >= row.out * row.stride;
  const bool planes = layer.in_channel_step != 1;
  if (layer.groups > 1 || (planes && (!backward || layer.c_in >= kFewPlanes)) || row.taps == 1 ||
      row.taps != row.stride || row.dilation != 1 || row.pad != 0 || !fits) {
    return;
  }
  if (planes) layer.patch_planes = layer.c_in;
  layer.c_in *= row.taps;
  layer.taps /= row.taps;
  row.in_step *= row.stride;
  for (Axis& axis : layer.axes) axis.tap_step /= row.taps;
  row.in = row.out;
  row.taps = row.stride = 1;
}

bool plain(const Axis& a) { return a.taps == 1 && a.stride == 1 && a.pad == 0 && a.in == a.out; }

bool mergeable(const Axis& outer, const Axis& inner) {
  return plain(outer) && plain(inner) && outer.in_step == inner.in_step * inner.in &&
         outer.out_step == inner.out_step * inner.out;
}

// Merges plain neighbours and moves axes of one position to the front.
void merge(std::array<Axis, kAxes>& axes) {
  std::array<Axis, kAxes> kept{};
  int at = kAxes;
  for (int i = kAxes; i-- > 0;) {
    const Axis& axis = axes[static_cast<std::size_t>(i)];
    if (plain(axis) && axis.in == 1) continue;
    if (at < kAxes && mergeable(axis, kept[static_cast<std::size_t>(at)])) {
      kept[static_cast<std::size_t>(at)].in *= axis.in;
      kept[static_cast<std::size_t>(at)].out *= axis.out;
    } else {
      kept[static_cast<std::size_t>(--at)] = axis;
    }
  }
  axes = kept;
}

// m < count reads source S * m + c0 + j * slope for j < taps, where that lies in [0, extent).
struct Line {
  std::int64_t count, step, c0, slope, taps, extent;
  std::int64_t dest_first, dest_step, tap_first, tap_step;

  std::int64_t first_tap(std::int64_t m) const {
    return std::clamp<std::int64_t>(ceil_div(-(step * m + c0), slope), 0, taps);
  }
  std::int64_t end_tap(std::int64_t m) const {
    return std::clamp<std::int64_t>(ceil_div(extent - (step * m + c0), slope), 0, taps);
  }
  std::int64_t inside_begin() const { return ceil_div(-c0, step); }
  std::int64_t inside_end() const { return ceil_div(extent - c0 - (taps - 1) * slope, step); }

  Stretch stretch(std::int64_t m, std::int64_t end) const {
    const std::int64_t j = first_tap(m), j_end = std::max(j, end_tap(m));
    return {dest_first + m * dest_step, dest_step, end - m,  step * m + c0 + j * slope, step, slope,
            tap_first + j * tap_step,   tap_step,  j_end - j};
  }
};

void add_stretches(const Line& line, std::vector<Stretch>& out) {
  for (std::int64_t m = 0; m < line.count;) {
    std::int64_t end = m + 1;
    if (m >= line.inside_begin() && m < line.inside_end()) {
      end = std::min(line.count, line.inside_end());
    } else {
      const auto same = [&](std::int64_t other) {
        const bool empty = line.end_tap(m) <= line.first_tap(m);
        return (empty && line.end_tap(other) <= line.first_tap(other)) ||
               (line.first_tap(other) == line.first_tap(m) && line.end_tap(other) == line.end_tap(m));
      };
      while (end < line.count && same(end)) ++end;
    }
    out.push_back(line.stretch(m, end));
    m = end;
  }
}

}  // namespace

Layer layer_of(const Geometry& g) {
  const bool last = g.layout == Layout::channels_last;
  Layer layer;
  layer.axes = axes_of(g);
  layer.groups = g.groups;
  layer.c_in = g.group_c_in();
  layer.c_out = g.group_c_out();
  layer.in_channel_step = last ? 1 : g.in[0] * g.in[1] * g.in[2];
  layer.out_channel_step = last ? 1 : g.out[0] * g.out[1] * g.out[2];
  layer.taps = g.filter[0] * g.filter[1] * g.filter[2];
  join_patches(layer, g.direction == Direction::input_grad);
  if (g.direction != Direction::input_grad) {
    for (Axis& axis : layer.axes) drop_unread_phases(axis, layer.in_origin);
  }
  merge(layer.axes);
  return layer;
}

std::vector<Stretch> forward_stretches(const Axis& a) {
  std::vector<Stretch> out;
  add_stretches({a.out, a.stride, -a.pad, a.dilation, a.taps, a.in, 0, 1, 0, 1}, out);
  return out;
}

std::vector<Stretch> backward_stretches(const Axis& a) {
  std::vector<Stretch> out;
  const std::int64_t common = std::gcd(a.stride, a.dilation);
  const std::int64_t tap_step = a.stride / common;  // taps of one phase are this far apart
  for (std::int64_t phase = 0; phase < std::min(a.stride, a.in); ++phase) {
    const std::int64_t count = ceil_div(a.in - phase, a.stride);
    std::int64_t tap = 0;
    while (tap < std::min(a.taps, tap_step) && (phase + a.pad - tap * a.dilation) % a.stride != 0) ++tap;
    if (tap >= std::min(a.taps, tap_step)) {
      out.push_back({phase, a.stride, count, 0, 1, 1, 0, 1, 0});
      continue;
    }
    const std::int64_t taps = ceil_div(a.taps - tap, tap_step);
    const std::int64_t last = tap + (taps - 1) * tap_step;
    add_stretches({count, 1, (phase + a.pad - last * a.dilation) / a.stride, a.dilation / common, taps, a.out, phase,
                   a.stride, last, -tap_step},
                  out);
  }
  return out;
}

Stretch clipped(const Stretch& s, std::int64_t begin, std::int64_t end) {
  const std::int64_t low = std::clamp<std::int64_t>(ceil_div(begin - s.first, s.step), 0, s.count);
  const std::int64_t high = std::clamp<std::int64_t>(ceil_div(end - s.first, s.step), low, s.count);
  Stretch part = s;
  part.first += low * s.step;
  part.source += low * s.source_step;
  part.count = high - low;
  return part;
}

}  // namespace convgrad::cpu
