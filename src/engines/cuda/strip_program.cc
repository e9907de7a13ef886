// Programs for depthwise convolutions in strips.
#include <algorithm>

#include "base/text.h"
#include "engines/cuda/kernel_choice.h"
#include "engines/cuda/kernels/strips.h"
#include "engines/cuda/matrices.h"
#include "engines/cuda/program_parts.h"

namespace convgrad::cuda {
namespace {

// Of threads, and of elements of an image and of the filter: their numbers are 32-bit.
constexpr std::int64_t kMost = std::int64_t{1} << 30;

bool planar(const Geometry& g) { return g.layout == Layout::channels_first; }
std::size_t along(const Geometry& g) { return planar(g) ? kAlong<true> : kAlong<false>; }
std::size_t across(const Geometry& g) { return planar(g) ? kAcross<true> : kAcross<false>; }
const Extents& numbered(const Geometry& g) { return g.direction == Direction::input_grad ? g.in : g.out; }

int pixels_of_strip(const Geometry& g, int step) { return strip_pixels(planar(g), gathers(g), size_of(g.dtype), step); }

bool dense_taps(const Geometry& g, std::size_t axis) { return g.filter[axis] <= 1 || g.dilation[axis] == 1; }

// Neighbouring taps read neighbours, so that pixels share what is loaded.
bool slides(const Geometry& g) {
  const AxisRule rule = axis_rule(g, along(g));
  return dense_taps(g, along(g)) && dense_taps(g, across(g)) && (rule.input_grad ? rule.phases : rule.plain.step) <= 2;
}

// With what a strip may reach over the edges of a plane.
bool small_image(const Geometry& g, std::int64_t channels, const Extents& extents) {
  const auto padded = [&](std::size_t i) { return extents[i] + g.pad_before[i] + g.pad_after[i] + 32; };
  const std::int64_t depth = std::max<std::int64_t>(1, channels * extents[0]);
  return padded(1) <= kMost / depth && padded(2) <= kMost / depth / padded(1);
}

// Rows whose strips a block has together, so that rows of the field are loaded for several of them: up to 8, those
// that leave the fewest rows of a last group empty.
std::int64_t rows_together(std::int64_t rows) {
  std::int64_t best = 1;
  for (std::int64_t some = 2; some <= std::min<std::int64_t>(8, rows); ++some)
    if (ceil_div(rows, some) * some <= ceil_div(rows, best) * best || best < 4) best = some;
  return best;
}

StripStrides strip_strides(const ImageStrides& s) {
  const auto small = [](std::int64_t stride) { return static_cast<int>(stride); };
  return {s.n, small(s.d), small(s.h), small(s.w), small(s.c)};
}

Divider divider(std::int64_t by) { return Divider(std::max<std::int64_t>(1, by)); }

void set_axes(StripArgs& a, const Geometry& g) {
  a.taps = strip_strides(image_strides(Layout::channels_last, g.c_out, g.filter));
  for (std::size_t i = 0; i < 3; ++i) {
    a.axes[i] = axis_rule(g, i);
    a.strides[i] = Divider(a.axes[i].stride);
  }
  const AxisRule& rule = a.axes[along(g)];
  for (int phase = 0; phase < rule.phases; ++phase) {
    const Axis axis = axis_of_phase(rule, phase);
    a.phases[phase] = {axis.pixels, axis.taps, axis.origin, axis.tap_first};
    a.tap_step = axis.tap_step * (planar(g) ? a.taps.h : a.taps.w);
    a.spacing = axis.spacing;
  }
  a.row_step = a.axes[across(g)].stride * (planar(g) ? a.taps.w : a.taps.h);
  a.extent = rule.plain.extent;
  a.step = std::max(1, rule.plain.step);
}

// Strips of one channel.
std::int64_t set_strips(StripArgs& a, const Geometry& g) {
  const Extents& pixels = numbered(g);
  const std::int64_t rows = pixels[across(g)], low = planar(g) ? rows : rows_together(rows);
  const std::int64_t of_phase = ceil_div(a.phases[0].pixels, pixels_of_strip(g, a.step));  // phase 0 has the most
  const std::int64_t strips = of_phase * a.axes[along(g)].phases, high = ceil_div(rows, std::max<std::int64_t>(1, low));
  a.across = static_cast<int>(rows);
  a.across_low = divider(low);
  a.across_high = divider(high);
  a.strips = divider(strips);
  a.phase_strips = divider(of_phase);
  a.planes = divider(pixels[0]);
  return low * strips * high * pixels[0] * g.n;
}

StripArgs strip_args(const Geometry& g) {
  const bool backwards = g.direction == Direction::input_grad;
  StripArgs a{};
  a.field_strides = strip_strides(backwards ? output_strides(g) : input_strides(g));
  a.image_strides = strip_strides(backwards ? input_strides(g) : output_strides(g));
  a.channels = static_cast<int>(g.c_out);
  set_axes(a, g);
  return a;
}

// Channels of a thread where tensors are aligned.
int channels_of_piece(const Geometry& g) {
  const int channels = planar(g) ? 1 : strip_channels(gathers(g), size_of(g.dtype));
  return g.c_out % channels == 0 ? channels : 1;
}

// Blocks for all channels and taps of a slice.
std::int64_t filter_blocks(const Geometry& g, int channels) {
  return ceil_div(g.c_out, std::int64_t{channels} * strip_lanes(planar(g))) * g.filter[0] *
         ceil_div(g.filter[1], kStripTaps) * ceil_div(g.filter[2], kStripTaps);
}

// A slice's threads have at most kStripBlock terms each.
void set_strip_slices(Program& p) {
  const Geometry& g = p.geometry;
  StripArgs& a = *p.strips;
  const std::int64_t rows = kStripThreads / strip_lanes(planar(g)), strips = a.units;
  const std::int64_t most = rows * kStripBlock / pixels_of_strip(g, a.step);
  const std::int64_t slices = slices_for(g.n * pixels_of(g.out), filter_blocks(g, channels_of_piece(g)));
  a.slice_strips = static_cast<int>(std::clamp<std::int64_t>(ceil_div(strips, slices), 1, most));
  p.slices = std::max<std::int64_t>(1, ceil_div(strips, a.slice_strips));
  p.workspace_bytes = p.slices * taps_of(g) * g.c_out * exact_bytes(g.dtype);
  a.tiles_along = divider(ceil_div(g.filter[along(g)], kStripTaps));
  a.tiles_across = divider(ceil_div(g.filter[across(g)], kStripTaps));
  a.tiles_d = divider(g.filter[0]);
}

// Numbers blocks and threads for pieces of so many channels.
unsigned set_threads(StripArgs& a, const Geometry& g, std::int64_t slices, int channels) {
  const std::int64_t pieces = g.c_out / channels, strips = a.units;
  if (!gathers(g)) {
    a.inner = divider(ceil_div(pieces, strip_lanes(planar(g))));
    return static_cast<unsigned>(filter_blocks(g, channels) * slices);
  }
  a.inner = divider(planar(g) ? strips : pieces);
  a.units = static_cast<int>(strips * pieces);
  return static_cast<unsigned>(ceil_div(a.units, kStripThreads));
}

bool aligned(const void* address, std::size_t bytes) { return reinterpret_cast<std::uintptr_t>(address) % bytes == 0; }

}  // namespace

bool takes_strips(const Geometry& g) {
  if (g.group_c_in() != 1 || g.group_c_out() != 1 || g.dtype == DType::i32 || !has_few_channels(g) || !slides(g))
    return false;
  if (taps_of(g) * g.c_out >= kMost || (gathers(g) && taps_of(g) > kStripChunk)) return false;
  if (!small_image(g, g.c_in, g.in) || !small_image(g, g.c_out, g.out)) return false;
  StripArgs a = strip_args(g);
  return set_strips(a, g) < kMost / std::max<std::int64_t>(1, g.c_out);
}

Program strip_convolution(const Geometry& g, const Hardware& hardware) {
  Program p;
  p.geometry = g;
  p.hardware = hardware;
  p.make_launches = &strip_launches;
  const std::string family = concat(name(g.direction), "_", info(g.dtype).id, "_strips_");
  p.any = kernel_named(family + (planar(g) ? "first" : "last"));
  if (channels_of_piece(g) > 1) p.pieces = kernel_named(family + "pieces_last");
  p.strips = strip_args(g);
  p.strips->units = static_cast<int>(set_strips(*p.strips, g));
  if (!gathers(g)) set_strip_slices(p);
  StripArgs threads = *p.strips;
  p.blocks = set_threads(threads, g, p.slices, channels_of_piece(g));
  p.why = concat("depthwise, strips of ", pixels_of_strip(g, p.strips->step), " pixels x ", channels_of_piece(g),
                 " channels a thread", gathers(g) ? "" : concat(", the sum in ", p.slices, " slices added in order"));
  return p;
}

std::vector<Launch> strip_launches(const Program& p, const Buffers& buffers) {
  const Geometry& g = p.geometry;
  const bool backwards = g.direction == Direction::input_grad, sliced = !gathers(g);
  StripArgs args = *p.strips;
  args.field = backwards ? buffers.second : buffers.first;
  args.dense = backwards ? buffers.first : buffers.second;
  args.result = sliced ? buffers.workspace : buffers.result;
  const std::size_t bytes = static_cast<std::size_t>(channels_of_piece(g)) * size_of(g.dtype);
  const bool pieces =
      p.pieces && aligned(args.field, bytes) && aligned(args.dense, bytes) && aligned(args.result, bytes);
  const Kernel kernel = pieces ? *p.pieces : *p.any;
  const unsigned blocks = set_threads(args, g, p.slices, pieces ? channels_of_piece(g) : 1);
  std::vector<Launch> all{{kernel, blocks, info(kernel).shared_bytes, args, {}}};
  if (sliced) all.push_back(reduction(p, "exact_slices", buffers));
  return all;
}

}  // namespace convgrad::cuda
