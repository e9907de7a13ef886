#include "engines/cuda/tiling.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace convgrad::cuda {
namespace {

// x with value * x = 1 modulo `modulus`, by Euclid's algorithm; 0 where the modulus is 1.
std::int64_t inverse_modulo(std::int64_t value, std::int64_t modulus) {
  std::int64_t r0 = modulus, r1 = value % modulus, x0 = 0, x1 = 1;
  while (r1 > 0) {
    const std::int64_t quotient = r0 / r1;
    r0 = std::exchange(r1, r0 - quotient * r1);
    x0 = std::exchange(x1, x0 - quotient * x1);
  }
  return modulus == 1 ? 0 : (x0 % modulus + modulus) % modulus;
}

// Steps that are never taken are 0, however large the problem states them.
int taken(std::int64_t step, std::int64_t count) { return count > 1 ? static_cast<int>(step) : 0; }

AxisRule output_axis(const Geometry& g, std::size_t i) {
  AxisRule rule{};
  rule.filter = static_cast<int>(g.filter[i]);
  rule.plain = {.pixels = static_cast<int>(g.out[i]),
                .taps = rule.filter,
                .step = taken(g.stride[i], g.out[i]),
                .origin = static_cast<int>(-g.pad_before[i]),
                .reach = taken(g.dilation[i], g.filter[i]),
                .extent = static_cast<int>(g.in[i]),
                .first = 0,
                .spacing = 1,
                .tap_first = 0,
                .tap_step = 1};
  return rule;
}

AxisRule input_axis(const Geometry& g, std::size_t i) {
  AxisRule rule{};
  rule.input_grad = true;
  rule.size = static_cast<int>(g.in[i]);
  rule.filter = static_cast<int>(g.filter[i]);
  rule.stride = g.out[i] > 1 ? static_cast<int>(g.stride[i]) : 1;  // one output: no stride is taken
  rule.dilation = g.filter[i] > 1 ? static_cast<int>(g.dilation[i]) : 1;
  rule.pad = g.pad_before[i];
  rule.phases = static_cast<int>(std::clamp<std::int64_t>(g.in[i], 1, rule.stride));
  rule.common = std::gcd(rule.stride, rule.dilation);
  rule.inverse = static_cast<int>(inverse_modulo(rule.dilation / rule.common, rule.stride / rule.common));
  rule.plain.step = 1;
  rule.plain.reach = -rule.dilation / rule.common;
  rule.plain.extent = static_cast<int>(g.out[i]);
  return rule;
}

// Blocks that run at once on the GPU this was measured on. A constant: cuts must not depend on the machine.
constexpr std::int64_t kAtOnce = 132;
constexpr std::int64_t kMostSlices = 2 * kAtOnce;
constexpr std::int64_t kLeastSteps = 16;  // of a slice: fewer cost more in sums than they win
constexpr std::int64_t kMostSumBytes = std::int64_t{256} << 20;

// Share of the GPU that is busy in the last of its rounds, less what a slice's sums cost.
double efficiency(std::int64_t blocks, std::int64_t slices) {
  const std::int64_t rounds = ceil_div(blocks, kAtOnce);
  return static_cast<double>(blocks) / static_cast<double>(rounds * kAtOnce) - 0.001 * static_cast<double>(slices);
}

}  // namespace

AxisRule axis_rule(const Geometry& geometry, std::size_t dimension) {
  return geometry.direction == Direction::input_grad ? input_axis(geometry, dimension)
                                                     : output_axis(geometry, dimension);
}

Patches patches_for(const PixelGrid& grid, int logarithm) {
  Patches best;
  std::int64_t fewest = -1;
  const auto along = [&](int dimension, int log) { return ceil_div(grid.extents[dimension], std::int64_t{1} << log); };
  const auto fits = [&](int dimension, int log) {
    return ((std::int64_t{1} << log) - 1) * grid.steps[dimension] + 1 <= 256;
  };
  for (int n = 0; n <= logarithm; ++n)
    for (int d = 0; n + d <= logarithm; ++d)
      for (int h = 0; n + d + h <= logarithm; ++h) {
        const int w = logarithm - n - d - h;
        if (!fits(0, d) || !fits(1, h) || !fits(2, w)) continue;
        const std::int64_t images = ceil_div(grid.images, std::int64_t{1} << n);
        const std::int64_t count = images * along(0, d) * along(1, h) * along(2, w);
        if (fewest >= 0 && count >= fewest) continue;
        fewest = count;
        best = {w, h, d, n, Divider(std::max<std::int64_t>(1, along(2, w))),
                Divider(std::max<std::int64_t>(1, along(1, h))), Divider(std::max<std::int64_t>(1, along(0, d))),
                count};
      }
  return best;
}

std::int64_t steps_of_slice(const LongSum& sum) {
  const std::int64_t steps = std::max<std::int64_t>(1, sum.steps), tiles = std::max<std::int64_t>(1, sum.tiles);
  const std::int64_t needed = ceil_div(steps, sum.most_steps);
  const std::int64_t affordable = std::max<std::int64_t>(1, kMostSumBytes / std::max<std::int64_t>(1, sum.slice_bytes));
  const std::int64_t most = std::max(needed, std::min({kMostSlices, steps / kLeastSteps, affordable}));
  std::int64_t best = needed;
  for (std::int64_t slices = needed; slices <= most; ++slices) {
    if (efficiency(tiles * slices, slices) > efficiency(tiles * best, best)) best = slices;
  }
  return ceil_div(steps, best);
}

}  // namespace convgrad::cuda
