// What does not fit the 32-bit coordinates of kernels.
#include <algorithm>
#include <limits>

#include "engines/cuda/matrices.h"
#include "engines/cuda/program.h"
#include "geometry/shapes.h"

namespace convgrad::cuda {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 30;

bool small_axis(const Geometry& g, std::size_t i) {
  const std::int64_t strides = g.out[i] > 1 ? g.stride[i] : 0, dilations = g.filter[i] > 1 ? g.dilation[i] : 0;
  return g.in[i] < kMost && g.out[i] < kMost && g.filter[i] < kMost && strides < kMost && dilations < kMost &&
         g.pad_before[i] < kMost && g.pad_after[i] < kMost &&
         strides * std::max<std::int64_t>(1, g.out[i]) + dilations * g.filter[i] + g.pad_before[i] < kMost;
}

}  // namespace

std::string objection(const Geometry& g) {
  for (std::size_t i = 0; i < 3; ++i)
    if (!small_axis(g, i)) return "engine cuda takes coordinates below 2^30, padding and dilation included";
  if (g.n >= kMost || g.c_in >= kMost || g.c_out >= kMost) return "engine cuda takes batches and channels below 2^30";
  if (g.filter[0] * g.filter[1] > kMost || taps_of(g) > kMost ||
      taps_of(g) * (std::max(g.c_in, g.c_out) / g.groups + 64) > kMost)
    return "engine cuda takes fewer than 2^30 filter taps times channels";
  if (g.direction == Direction::bias_grad || fixed_result_shape(g).elements() == 0) return "";
  AxisRule axes[3];
  for (std::size_t i = 0; i < 3; ++i) axes[i] = axis_rule(g, i);
  const double pixels = static_cast<double>(g.n) * static_cast<double>(std::max(g.in[0], g.out[0])) *
                        static_cast<double>(std::max(g.in[1], g.out[1])) *
                        static_cast<double>(std::max(g.in[2], g.out[2]));
  const double blocks = (pixels / 16 + static_cast<double>(phases_of(axes)) + static_cast<double>(taps_of(g))) *
                        (static_cast<double>(g.c_in + g.c_out) / 8 + static_cast<double>(g.groups));
  if (blocks > static_cast<double>(std::numeric_limits<int>::max()))
    return "engine cuda starts fewer than 2^31 blocks of threads, and the problem is cut into more";
  return "";
}

}  // namespace convgrad::cuda
