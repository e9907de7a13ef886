#include "engines/cuda/matrices.h"

#include <algorithm>

namespace convgrad::cuda {

bool gathers(const Geometry& g) { return g.direction != Direction::filter_grad; }
std::int64_t field_channels(const Geometry& g) {
  return g.direction == Direction::input_grad ? g.group_c_out() : g.group_c_in();
}
std::int64_t result_channels(const Geometry& g) {
  return g.direction == Direction::input_grad ? g.group_c_in() : g.group_c_out();
}
std::int64_t taps_of(const Geometry& g) { return g.filter[0] * g.filter[1] * g.filter[2]; }

ImageStrides image_strides(Layout layout, std::int64_t channels, const Extents& e) {
  const std::int64_t pixels = e[0] * e[1] * e[2];
  if (layout == Layout::channels_first) return {channels * pixels, e[1] * e[2], e[2], 1, pixels};
  return {channels * pixels, e[1] * e[2] * channels, e[2] * channels, channels, 1};
}
ImageStrides input_strides(const Geometry& g) { return image_strides(g.layout, g.c_in, g.in); }
ImageStrides output_strides(const Geometry& g) { return image_strides(g.layout, g.c_out, g.out); }

PixelGrid pixel_grid(const Geometry& g, const AxisRule (&axes)[3]) {
  PixelGrid grid{g.n, {}, {}};
  for (int i = 0; i < 3; ++i) {
    const Axis first = axis_of_phase(axes[i], 0);  // no other phase has more pixels
    grid.extents[i] = first.pixels;
    grid.steps[i] = std::max(1, first.step);
  }
  return grid;
}

std::int64_t pixels_of(const Extents& e) { return e[0] * e[1] * e[2]; }

std::int64_t phases_of(const AxisRule (&axes)[3]) {
  return std::int64_t{axes[0].phases} * axes[1].phases * axes[2].phases;
}

bool sixteen_bits(DType dtype) { return size_of(dtype) == 2; }

}  // namespace convgrad::cuda
