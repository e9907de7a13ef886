#include "engines/cuda/program.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/text.h"
#include "engines/cuda/tiling.h"
#include "geometry/shapes.h"

namespace convgrad::cuda {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// ---- Which kernel ----

std::optional<Kernel> kernel_named(std::string_view name) {
  const std::span<const KernelInfo> all = all_kernels();
  const auto found = std::find_if(all.begin(), all.end(), [&](const KernelInfo& row) { return row.name == name; });
  return found == all.end() ? std::nullopt : std::optional(static_cast<Kernel>(found - all.begin()));
}

std::string tiled(std::string_view family, int columns) { return concat(family, "_128x", columns); }

// The narrowest of a family that has the columns, else its widest; none: there is no such family.
std::optional<Kernel> kernel_of(std::string_view family, std::int64_t columns, const Hardware& hardware) {
  int best = 0;
  for (const KernelInfo& row : all_kernels()) {
    if (row.name != tiled(family, row.tile.columns) || (row.group.ends_with("_hopper") && !hardware.hopper)) continue;
    const int has = row.tile.columns;
    if (best < columns ? has > best : has >= columns && has < best) best = has;
  }
  return kernel_named(tiled(family, best));
}

bool sixteen_bits(DType dtype) { return size_of(dtype) == 2; }

// The families whose sums have the same bits: with and without boxes.
struct Families {
  std::string any, boxes;
};
Families families_of(const Geometry& g, const Hardware& hardware) {
  const std::string stem = concat(name(g.direction), "_", info(g.dtype).id);
  const bool warpgroups = hardware.hopper && sixteen_bits(g.dtype);
  return {warpgroups ? stem + "_gather" : stem, hardware.hopper ? stem + "_boxes" : ""};
}

// ---- The problem as matrices ----

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

// The pixels that a tile's rows (gathers) or a step's terms (filter gradient) are taken from.
PixelGrid pixel_grid(const Geometry& g, const AxisRule (&axes)[3]) {
  PixelGrid grid{g.n, {}, {}};
  for (int i = 0; i < 3; ++i) {
    const Axis first = axis_of_phase(axes[i], 0);  // no other phase has more pixels
    grid.extents[i] = first.pixels;
    grid.steps[i] = std::max(1, first.step);
  }
  return grid;
}

// ---- Whether the copy engine can read the tensors ----

constexpr int kMostElementStride = 8;

bool whole_pieces(std::int64_t elements, DType dtype) {
  return elements * static_cast<std::int64_t>(size_of(dtype)) % 16 == 0;
}

// Channels of a row of 128 bytes that would be zeros are multiplied all the same: at most half of them may be.
bool boxes_fit(const Geometry& g, const AxisRule (&axes)[3], int terms) {
  const std::int64_t channels = field_channels(g), padded = ceil_div(channels, terms) * terms;
  if (g.layout != Layout::channels_last || channels == 0 || padded > 2 * channels) return false;
  if (!whole_pieces(g.c_in, g.dtype) || !whole_pieces(g.c_out, g.dtype)) return false;
  if (g.groups > 1 && (!whole_pieces(g.group_c_in(), g.dtype) || !whole_pieces(g.group_c_out(), g.dtype))) return false;
  // Behind the last channel of a group lies the next group, not nothing; a filter gradient does not store it.
  if (g.groups > 1 && gathers(g) && padded != channels) return false;
  return std::all_of(std::begin(axes), std::end(axes),
                     [](const AxisRule& axis) { return axis.plain.step <= kMostElementStride; });
}

// The field as (channel, w, h, d, n); a box is a patch of it.
Box image_box(const void* tensor, const Geometry& g, std::int64_t channels, const Extents& e, const Patches& patches,
              const std::int64_t (&steps)[3], int terms) {
  const auto size = static_cast<std::int64_t>(size_of(g.dtype));
  const ImageStrides s = image_strides(Layout::channels_last, channels, e);
  const auto span = [](int log, std::int64_t step) { return static_cast<int>(((1 << log) - 1) * step + 1); };
  return {.tensor = tensor,
          .element_bytes = static_cast<int>(size),
          .extents = {channels, e[2], e[1], e[0], g.n},
          .byte_strides = {s.w * size, s.h * size, s.d * size, s.n * size},
          .box = {terms, span(patches.w, steps[2]), span(patches.h, steps[1]), span(patches.d, steps[0]),
                  1 << patches.n},
          .element_strides = {1, static_cast<int>(steps[2]), static_cast<int>(steps[1]), static_cast<int>(steps[0]), 1}};
}

// The filter as (output channel, input channel, tap); a box has `rows` input channels.
Box filter_box(const void* tensor, const Geometry& g, int terms, int rows) {
  const auto size = static_cast<std::int64_t>(size_of(g.dtype));
  const std::int64_t row = g.c_out * size, tap = row * g.group_c_in(), all = tap * taps_of(g);
  return {.tensor = tensor,
          .element_bytes = static_cast<int>(size),
          .extents = {g.c_out, g.group_c_in(), taps_of(g), 1, 1},
          .byte_strides = {row, tap, all, all},
          .box = {terms, rows, 1, 1, 1},
          .element_strides = {1, 1, 1, 1, 1}};
}

std::vector<Box> boxes_of(const Program& p, const ConvArgs& args, const TileInfo& tile) {
  const Geometry& g = p.geometry;
  const bool backwards = g.direction == Direction::input_grad;
  const PixelGrid grid = pixel_grid(g, args.axes);
  const std::int64_t single[3] = {1, 1, 1};
  const Box field = image_box(args.field, g, backwards ? g.c_out : g.c_in, backwards ? g.out : g.in, args.patches,
                              grid.steps, tile.terms);
  if (!gathers(g)) return {field, image_box(args.dense, g, g.c_out, g.out, args.patches, single, tile.terms)};
  return {field, filter_box(args.dense, g, tile.terms, backwards ? tile.columns : tile.terms)};
}

// ---- Copies by threads ----

// The widest copy, 16 bytes at most, that address and all distances in elements are multiples of.
int copy_bytes(const void* address, DType dtype, std::initializer_list<std::int64_t> distances) {
  const int size = static_cast<int>(size_of(dtype));
  int bytes = 16;
  const auto fits = [&](std::int64_t distance) { return distance * size % bytes == 0; };
  while (bytes > size && !(reinterpret_cast<std::uintptr_t>(address) % static_cast<unsigned>(bytes) == 0 &&
                           std::all_of(distances.begin(), distances.end(), fits)))
    bytes /= 2;
  return bytes;
}

void set_copies(ConvArgs& args, const Geometry& g) {
  const bool last = g.layout == Layout::channels_last, backwards = g.direction == Direction::input_grad;
  const std::int64_t pitch = args.channel_pitch.divisor, channels = field_channels(g);
  const int size = static_cast<int>(size_of(g.dtype));
  args.field_copy = {last ? copy_bytes(args.field, g.dtype, {channels, pitch, args.field_strides.w}) : size,
                     gathers(g) == last};
  const int filter = copy_bytes(args.dense, g.dtype, {g.group_c_out(), g.c_out, backwards ? pitch : 0});
  args.dense_copy = {gathers(g) || last ? filter : size, gathers(g) ? backwards : !last};
}

// ---- The program ----

constexpr int kLeastStages = 3, kMostStages = 8;

// As many stages as fit. The tile of sums has memory of its own where it is added to more than once.
void set_stages(ConvArgs& args, const TileInfo& tile, std::int64_t steps, unsigned limit) {
  constexpr int block_terms = 2048;
  const bool one_block = steps * tile.terms <= block_terms;
  for (args.stages = kMostStages; args.stages > kLeastStages; --args.stages) {
    args.tile_at = one_block ? 0 : args.stages * static_cast<int>(tile.stage_bytes);
    if (tile.shared_bytes(args) <= limit) return;
  }
  args.tile_at = one_block ? 0 : args.stages * static_cast<int>(tile.stage_bytes);
}

void set_matrices(Program& p, const TileInfo& tile, bool boxes) {
  const Geometry& g = p.geometry;
  ConvArgs& a = p.conv;
  const bool backwards = g.direction == Direction::input_grad;
  a.field_strides = backwards ? output_strides(g) : input_strides(g);
  a.image_strides = backwards ? input_strides(g) : output_strides(g);
  a.filter_out = 1;
  a.filter_in = g.c_out;
  a.filter_tap = g.group_c_in() * g.c_out;
  a.images = static_cast<int>(g.n);
  a.channels = static_cast<int>(field_channels(g));
  const std::int64_t pitch = boxes ? ceil_div(a.channels, tile.terms) * tile.terms : a.channels;
  a.channel_pitch = Divider(std::max<std::int64_t>(1, pitch));
  a.results = static_cast<int>(result_channels(g));
  a.field_group = a.channels;
  a.dense_group = static_cast<int>(g.group_c_out());
  a.result_group = a.results;
}

std::int64_t phases_of(const AxisRule (&axes)[3]) {
  return std::int64_t{axes[0].phases} * axes[1].phases * axes[2].phases;
}

// Rows of the result's matrix, in tiles, for one phase.
std::int64_t row_tiles(const Geometry& g, const ConvArgs& a, const TileInfo& tile) {
  return gathers(g) ? a.patches.count : ceil_div(taps_of(g) * a.channel_pitch.divisor, tile.rows);
}

void set_tiles(Program& p, const TileInfo& tile) {
  const Geometry& g = p.geometry;
  ConvArgs& a = p.conv;
  const PixelGrid grid = pixel_grid(g, a.axes);
  a.patches = patches_for(grid, std::countr_zero(static_cast<unsigned>(gathers(g) ? tile.rows : tile.terms)));
  const std::int64_t rows = row_tiles(g, a, tile), columns = ceil_div(a.results, tile.columns);
  a.m_tiles = Divider(std::max<std::int64_t>(1, rows));
  a.n_tiles = Divider(std::max<std::int64_t>(1, columns));
  a.groups = Divider(g.groups);
  a.phases = Divider(phases_of(a.axes));
  a.phase_rows = Divider(a.axes[1].phases);
  a.phase_columns = Divider(a.axes[2].phases);
  const std::int64_t tiles = rows * columns * g.groups * phases_of(a.axes);
  if (!gathers(g)) {
    constexpr std::int64_t most_terms = 64 * 2048;  // 64 blocks: the bound of docs/design/002
    const std::int64_t elements = fixed_result_shape(g).elements();
    const auto sum_bytes = static_cast<std::int64_t>(g.dtype == DType::f64 ? 8 : 4);
    a.steps = static_cast<int>(
        steps_of_slice({tiles, a.patches.count, most_terms / tile.terms, elements * sum_bytes}));
    p.slices = std::max<std::int64_t>(1, ceil_div(a.patches.count, a.steps));
    a.slice = p.slices > 1 ? elements : 0;
    p.workspace_bytes = p.slices > 1 ? p.slices * elements * sum_bytes : 0;
  }
  p.blocks = static_cast<unsigned>(tiles * p.slices);
}

std::string reason(const Program& p) {
  const TileInfo& tile = info(*p.any).tile;
  const Geometry& g = p.geometry;
  const char* units = g.dtype == DType::f32 || g.dtype == DType::i32 ? "multiply-adds" : "tensor cores";
  return concat(units, " on tiles of ", tile.rows, " x ", tile.columns, ", ",
                p.boxes ? "filled by the copy engine" : "gathered by threads",
                p.slices > 1 ? concat(", the sum in ", p.slices, " slices added in order") : "");
}

Program convolution(const Geometry& g, const Hardware& hardware) {
  Program p;
  p.geometry = g;
  p.hardware = hardware;
  for (std::size_t i = 0; i < 3; ++i) p.conv.axes[i] = axis_rule(g, i);
  const Families families = families_of(g, hardware);
  p.any = kernel_of(families.any, result_channels(g), hardware);
  const TileInfo& tile = info(*p.any).tile;
  if (boxes_fit(g, p.conv.axes, tile.terms))
    p.boxes = kernel_named(tiled(families.boxes, tile.columns));
  set_matrices(p, tile, p.boxes.has_value());
  set_tiles(p, tile);
  p.why = reason(p);
  return p;
}

// Pixels in slices of at least 1024, for some 8 blocks on each of 132 multiprocessors.
Program bias_gradient(const Geometry& g, const Hardware& hardware) {
  Program p;
  p.geometry = g;
  p.hardware = hardware;
  const bool planar = g.layout == Layout::channels_first;
  p.any = kernel_named(concat(planar ? "bias_first_" : "bias_last_", info(g.dtype).id));
  const ImageStrides s = output_strides(g);
  p.bias.images = g.n;
  p.bias.pixels = std::max<std::int64_t>(1, g.out[0] * g.out[1] * g.out[2]);
  if (g.out[0] * g.out[1] * g.out[2] == 0) p.bias.images = 0;
  p.bias.channels = g.c_out;
  p.bias.image_stride = s.n;
  p.bias.pixel_stride = s.w;
  p.bias.channel_stride = s.c;
  const std::int64_t groups = ceil_div(g.c_out, planar ? 8 : 32), all = p.bias.images * p.bias.pixels;
  const std::int64_t most = std::max<std::int64_t>(1, 8 * 132 / std::max<std::int64_t>(1, groups));
  p.slices = std::clamp<std::int64_t>(ceil_div(all, 1024), 1, most);
  p.bias.slice_pixels = std::max<std::int64_t>(1, ceil_div(all, p.slices));
  p.workspace_bytes = p.slices * g.c_out * (g.dtype == DType::i32 ? 4 : 8);
  p.blocks = static_cast<unsigned>(groups * p.slices);
  p.why = concat("sums in double in ", p.slices, " slices, added in order");
  return p;
}

Launch reduction(const Program& p, std::string_view stem, const Buffers& buffers) {
  constexpr std::int64_t columns = 32;
  const std::int64_t count = fixed_result_shape(p.geometry).elements();
  const Kernel kernel = *kernel_named(concat(stem, "_", info(p.geometry.dtype).id));
  return {.kernel = kernel,
          .blocks = static_cast<unsigned>(ceil_div(count, columns)),
          .shared_bytes = info(kernel).shared_bytes,
          .args = ReduceArgs{buffers.workspace, buffers.result, count, static_cast<int>(p.slices)},
          .boxes = {}};
}

std::vector<Launch> bias_launches(const Program& p, const Buffers& buffers) {
  BiasArgs args = p.bias;
  args.dy = buffers.first;
  args.sums = buffers.workspace;
  return {{*p.any, p.blocks, info(*p.any).shared_bytes, args, {}}, reduction(p, "bias_slices", buffers)};
}

bool aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % 16 == 0; }

std::vector<Launch> conv_launches(const Program& p, const Buffers& buffers) {
  const Geometry& g = p.geometry;
  ConvArgs args = p.conv;
  const bool backwards = g.direction == Direction::input_grad;
  args.field = backwards ? buffers.second : buffers.first;
  args.dense = backwards ? buffers.first : buffers.second;
  args.result = args.slice != 0 ? buffers.workspace : buffers.result;
  const bool boxes = p.boxes && aligned(args.field) && aligned(args.dense);
  const Kernel kernel = boxes ? *p.boxes : *p.any;
  const TileInfo& tile = info(kernel).tile;
  const std::int64_t steps = gathers(g) ? ceil_div(taps_of(g) * args.channel_pitch.divisor, tile.terms) : args.steps;
  set_stages(args, tile, steps, p.hardware.shared_bytes);
  if (!boxes) set_copies(args, g);
  std::vector<Launch> all;
  all.push_back({kernel, p.blocks, tile.shared_bytes(args), args,
                 boxes ? boxes_of(p, args, tile) : std::vector<Box>{}});
  if (args.slice != 0) all.push_back(reduction(p, "slices", buffers));
  return all;
}

// ---- What does not fit 32-bit coordinates ----

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

Program program_for(const Geometry& geometry, const Hardware& hardware) {
  Program p = geometry.direction == Direction::bias_grad ? bias_gradient(geometry, hardware)
                                                         : convolution(geometry, hardware);
  if (fixed_result_shape(geometry).elements() == 0) p.blocks = 0;
  return p;
}

std::vector<Launch> Program::launches(const Buffers& buffers) const {
  if (blocks == 0) return {};
  return geometry.direction == Direction::bias_grad ? bias_launches(*this, buffers) : conv_launches(*this, buffers);
}

}  // namespace convgrad::cuda
