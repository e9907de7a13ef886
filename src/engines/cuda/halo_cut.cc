#include "engines/cuda/halo_cut.h"

#include <algorithm>
#include <cstdlib>

#include "engines/cuda/kernels/halo.h"

namespace convgrad::cuda {
namespace {

TapSpan tap_span(const AxisRule& axis) {
  TapSpan span{0, 1};
  for (int phase = 0; phase < axis.phases; ++phase) {
    const Axis one = axis_of_phase(axis, phase);
    span.taps = std::max<std::int64_t>(span.taps, one.taps);
    span.pixels = std::max<std::int64_t>(span.pixels, std::int64_t{one.taps - 1} * std::abs(one.reach) + 1);
  }
  return span;
}

}  // namespace

HaloCut::HaloCut(const Program& p)
    : grid(pixel_grid(p.product(), p.conv.axes)),
      d(tap_span(p.conv.axes[0])),
      h(tap_span(p.conv.axes[1])),
      w(tap_span(p.conv.axes[2])),
      width(kHaloSide - 1 + w.pixels),
      height(kHaloSide - 1 + h.pixels) {}

std::int64_t HaloCut::rows() const { return ceil_div(grid.extents[1], kHaloSide); }
std::int64_t HaloCut::columns() const { return ceil_div(grid.extents[2], kHaloSide); }

bool HaloCut::fits(const Program& p) const {
  if (!p.boxes || !sixteen_bits(p.geometry.dtype) || (p.fold && folds_result(p.geometry))) return false;
  const std::int64_t pixels = grid.extents[1] * grid.extents[2];
  return 2 * p.conv.channels <= info(*p.boxes).tile.row_bytes && width <= 256 && height <= 256 && d.pixels <= 256 &&
         std::all_of(std::begin(grid.steps), std::end(grid.steps), [](auto step) { return step == 1; }) &&
         10 * pixels >= 6 * rows() * columns() * kHaloRows;
}

void HaloCut::set_patches(ConvArgs& a) const {
  const auto divider = [](std::int64_t by) { return Divider(std::max<std::int64_t>(1, by)); };
  constexpr int log = 3;
  static_assert(1 << log == kHaloSide);
  a.patches = {log,
               log,
               0,
               0,
               divider(columns()),
               divider(rows()),
               divider(grid.extents[0]),
               grid.images * grid.extents[0] * rows() * columns()};
  a.m_tiles = divider(a.patches.count);
}

}  // namespace convgrad::cuda
