// Programs for groups of few channels.
#include <algorithm>
#include <limits>

#include "base/text.h"
#include "engines/cuda/kernel_choice.h"
#include "engines/cuda/kernels/direct.h"
#include "engines/cuda/matrices.h"
#include "engines/cuda/program_parts.h"

namespace convgrad::cuda {
namespace {

// Tiles of matrices would be nearly empty: 8 channels are an eighth of a row of 16-bit elements.
constexpr std::int64_t kFewChannels = 8;

void set_direct_slices(Program& p, std::int64_t teams) {
  DirectArgs& a = p.direct;
  const std::int64_t blocks = teams * ceil_div(a.filter_columns, kDirectColumns);
  p.slices = slices_for(a.pixels, blocks);
  a.slice_pixels = std::max<std::int64_t>(1, ceil_div(a.pixels, p.slices));
  p.workspace_bytes = p.slices * a.filter_columns * a.results * exact_bytes(p.geometry.dtype);
  p.blocks = static_cast<unsigned>(blocks * p.slices);
}

}  // namespace

bool has_few_channels(const Geometry& g) {
  const Extents& numbered = g.direction == Direction::input_grad ? g.in : g.out;
  return g.group_c_in() <= kFewChannels && g.group_c_out() <= kFewChannels &&
         g.n * pixels_of(numbered) < std::numeric_limits<int>::max();
}

Program direct_convolution(const Geometry& g, const Hardware& hardware) {
  Program p;
  p.geometry = g;
  p.hardware = hardware;
  const bool planar = g.layout == Layout::channels_first, backwards = g.direction == Direction::input_grad;
  p.any = kernel_named(concat(name(g.direction), "_", info(g.dtype).id, planar ? "_direct_first" : "_direct_last"));
  DirectArgs& a = p.direct;
  a.field_strides = backwards ? output_strides(g) : input_strides(g);
  a.image_strides = backwards ? input_strides(g) : output_strides(g);
  a.filter_tap = g.group_c_in() * g.c_out;
  a.filter_channel = backwards ? 1 : g.c_out;
  a.filter_result = backwards ? g.c_out : 1;
  a.filter_group = g.group_c_out();
  for (std::size_t i = 0; i < 3; ++i) {
    a.axes[i] = axis_rule(g, i);
    a.strides[i] = Divider(a.axes[i].stride);
  }
  const Extents& numbered = backwards ? g.in : g.out;
  a.columns = Divider(std::max<std::int64_t>(1, numbered[2]));
  a.rows = Divider(std::max<std::int64_t>(1, numbered[1]));
  a.planes = Divider(std::max<std::int64_t>(1, numbered[0]));
  a.pixels = g.n * pixels_of(numbered);
  a.channels = static_cast<int>(field_channels(g));
  a.group_results = static_cast<int>(std::max<std::int64_t>(1, result_channels(g)));
  a.results = result_channels(g) * g.groups;
  a.filter_columns = static_cast<int>(taps_of(g) * field_channels(g));
  const std::int64_t teams = ceil_div(a.results, team_channels(planar));
  if (gathers(g))
    p.blocks = static_cast<unsigned>(teams * ceil_div(a.pixels, team_rows(planar) * kDirectPixels));
  else
    set_direct_slices(p, teams);
  p.make_launches = &direct_launches;
  p.why = concat("groups of few channels, a result a thread",
                 gathers(g) ? "" : concat(", the sum in ", p.slices, " slices added in order"));
  return p;
}

std::vector<Launch> direct_launches(const Program& p, const Buffers& buffers) {
  const bool backwards = p.geometry.direction == Direction::input_grad, sliced = !gathers(p.geometry);
  DirectArgs args = p.direct;
  args.field = backwards ? buffers.second : buffers.first;
  args.dense = backwards ? buffers.first : buffers.second;
  args.result = sliced ? buffers.workspace : buffers.result;
  std::vector<Launch> all{{*p.any, p.blocks, info(*p.any).shared_bytes, args, {}}};
  if (sliced) all.push_back(reduction(p, "exact_slices", buffers));
  return all;
}

}  // namespace convgrad::cuda
