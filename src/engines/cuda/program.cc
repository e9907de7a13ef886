#include "engines/cuda/program.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/text.h"
#include "engines/cuda/kernels/stage.h"
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
  columns = std::max<std::int64_t>(1, columns);
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
constexpr std::int64_t kPieceBytes = 16;

bool whole_pieces(std::int64_t elements, std::int64_t size) { return elements * size % kPieceBytes == 0; }

// Of elements of `size` bytes, channels last, whose tensors have whole pieces of channels.
bool boxes_fit(const Geometry& g, const AxisRule (&axes)[3], std::int64_t size) {
  const std::int64_t terms = kRowBytes / size, channels = field_channels(g);
  const std::int64_t padded = ceil_div(channels, terms) * terms;
  // Channels of a row that are not there are multiplied as zeros: at most half of them may be.
  if (channels == 0 || padded > 2 * channels) return false;
  if (g.groups > 1 && (!whole_pieces(g.group_c_in(), size) || !whole_pieces(g.group_c_out(), size))) return false;
  // Behind the last channel of a group lies the next group, not nothing; a filter gradient does not store it.
  if (g.groups > 1 && gathers(g) && padded != channels) return false;
  return std::all_of(std::begin(axes), std::end(axes),
                     [](const AxisRule& axis) { return axis.plain.step <= kMostElementStride; });
}

bool readable_as_it_is(const Geometry& g) {
  const auto size = static_cast<std::int64_t>(size_of(g.dtype));
  return g.dtype != DType::f32 && g.layout == Layout::channels_last && whole_pieces(g.c_in, size) &&
         whole_pieces(g.c_out, size);
}
// Into 16-bit elements; f64 is gathered as it is, for a copy of it would take as long as its sums.
bool packable(const Geometry& g) { return g.dtype == DType::f32 || sixteen_bits(g.dtype); }

// ---- Operands as kernels find them ----

std::int64_t field_channels_stored(const Program& p) {
  const Geometry& g = p.geometry;
  return p.field ? p.field->channels : g.direction == Direction::input_grad ? g.c_out : g.c_in;
}
std::int64_t dense_channels_stored(const Program& p) { return p.dense ? p.dense->channels : p.geometry.c_out; }
Layout layout_stored(const Program& p) { return p.field ? Layout::channels_last : p.geometry.layout; }
std::int64_t element_bytes_stored(const Program& p) {
  return p.field ? 2 : static_cast<std::int64_t>(size_of(p.geometry.dtype));
}
int planes_of(const Program& p) { return p.geometry.dtype == DType::f32 && p.field ? PlanesElement::Planes : 1; }

// The next 256-byte boundary of the workspace.
std::int64_t aligned_up(std::int64_t bytes) { return ceil_div(bytes, 256) * 256; }

PackedOperand packed(Program& p, std::int64_t pixels, std::int64_t channels) {
  PackedOperand operand;
  operand.channels = ceil_div(channels, 8) * 8;
  operand.plane = pixels * operand.channels;
  operand.at = aligned_up(p.workspace_bytes);
  const int planes = p.geometry.dtype == DType::f32 ? PlanesElement::Planes : 1;
  p.workspace_bytes = operand.at + 2 * planes * operand.plane;
  return operand;
}

std::int64_t pixels_of(const Extents& e) { return e[0] * e[1] * e[2]; }

void pack_operands(Program& p) {
  const Geometry& g = p.geometry;
  const bool backwards = g.direction == Direction::input_grad;
  p.field = packed(p, g.n * pixels_of(backwards ? g.out : g.in), backwards ? g.c_out : g.c_in);
  p.dense = packed(p, gathers(g) ? taps_of(g) * g.group_c_in() : g.n * pixels_of(g.out), g.c_out);
}

// An image as (channel, w, h, d, n); a box is a patch of it.
struct ImageBox {
  std::int64_t channels;
  Extents extents;
  std::int64_t steps[3];  // from one pixel of a patch to the next
};
Box image_box(const Program& p, const ImageBox& image, int terms) {
  const std::int64_t size = element_bytes_stored(p);
  const Extents& e = image.extents;
  const Patches& patches = p.conv.patches;
  const ImageStrides s = image_strides(Layout::channels_last, image.channels, e);
  const auto step = [&](int i) { return static_cast<int>(image.steps[i]); };
  const auto span = [&](int log, int i) { return ((1 << log) - 1) * step(i) + 1; };
  return {.tensor = nullptr,
          .element_bytes = static_cast<int>(size),
          .extents = {image.channels, e[2], e[1], e[0], p.geometry.n},
          .byte_strides = {s.w * size, s.h * size, s.d * size, s.n * size},
          .box = {terms, span(patches.w, 2), span(patches.h, 1), span(patches.d, 0), 1 << patches.n},
          .element_strides = {1, step(2), step(1), step(0), 1}};
}

// The filter as (output channel, input channel, tap); a box has `rows` input channels.
Box filter_box(const Program& p, int terms, int rows) {
  const Geometry& g = p.geometry;
  const std::int64_t size = element_bytes_stored(p), channels = dense_channels_stored(p);
  const std::int64_t row = channels * size, tap = row * g.group_c_in(), all = tap * taps_of(g);
  return {.tensor = nullptr,
          .element_bytes = static_cast<int>(size),
          .extents = {channels, g.group_c_in(), taps_of(g), 1, 1},
          .byte_strides = {row, tap, all, all},
          .box = {terms, rows, 1, 1, 1},
          .element_strides = {1, 1, 1, 1, 1}};
}

// The same box of every plane.
void add_planes(std::vector<Box>& boxes, Box box, const void* tensor, std::int64_t plane_bytes, int planes) {
  for (int i = 0; i < planes; ++i) {
    box.tensor = static_cast<const std::byte*>(tensor) + i * plane_bytes;
    boxes.push_back(box);
  }
}

std::vector<Box> boxes_of(const Program& p, const ConvArgs& args, const TileInfo& tile) {
  const Geometry& g = p.geometry;
  const bool backwards = g.direction == Direction::input_grad;
  const PixelGrid grid = pixel_grid(g, args.axes);
  const std::int64_t size = element_bytes_stored(p);
  const Box field = image_box(p, {field_channels_stored(p), backwards ? g.out : g.in,
                                  {grid.steps[0], grid.steps[1], grid.steps[2]}}, tile.terms);
  const Box dense = gathers(g) ? filter_box(p, tile.terms, backwards ? tile.columns : tile.terms)
                               : image_box(p, {dense_channels_stored(p), g.out, {1, 1, 1}}, tile.terms);
  std::vector<Box> all;
  add_planes(all, field, args.field, args.field_plane * size, planes_of(p));
  add_planes(all, dense, args.dense, args.dense_plane * size, planes_of(p));
  return all;
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

void set_matrices(Program& p, const TileInfo& tile) {
  const Geometry& g = p.geometry;
  ConvArgs& a = p.conv;
  const bool backwards = g.direction == Direction::input_grad;
  a.field_strides = image_strides(layout_stored(p), field_channels_stored(p), backwards ? g.out : g.in);
  a.image_strides = backwards    ? input_strides(g)
                    : gathers(g) ? output_strides(g)
                                 : image_strides(layout_stored(p), dense_channels_stored(p), g.out);
  a.filter_out = 1;
  a.filter_in = gathers(g) ? dense_channels_stored(p) : g.c_out;
  a.filter_tap = g.group_c_in() * a.filter_in;
  a.field_plane = p.field ? p.field->plane : 0;
  a.dense_plane = p.dense ? p.dense->plane : 0;
  a.images = static_cast<int>(g.n);
  a.channels = static_cast<int>(field_channels(g));
  const std::int64_t pitch = p.boxes ? ceil_div(a.channels, tile.terms) * tile.terms : a.channels;
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
    p.sums_at = aligned_up(p.workspace_bytes);
    if (p.slices > 1) p.workspace_bytes = p.sums_at + p.slices * elements * sum_bytes;
  }
  p.blocks = static_cast<unsigned>(tiles * p.slices);
}

std::string reason(const Program& p) {
  const TileInfo& tile = info(p.main_kernel()).tile;
  const DType dtype = p.geometry.dtype;
  const bool adds = dtype == DType::i32 || (dtype == DType::f32 && !p.field);
  return concat(adds ? "multiply-adds" : dtype == DType::f32 ? "tensor cores, f32 as three bf16 planes" : "tensor cores",
                " on tiles of ", tile.rows, " x ", tile.columns, ", ",
                p.field   ? "copied channels-last, filled by the copy engine"
                : p.boxes ? "filled by the copy engine"
                          : "gathered by threads",
                p.slices > 1 ? concat(", the sum in ", p.slices, " slices added in order") : "");
}

void choose_kernels(Program& p) {
  const Geometry& g = p.geometry;
  const Families families = families_of(g, p.hardware);
  p.any = kernel_of(families.any, result_channels(g), p.hardware);
  if (!p.hardware.hopper || !has_terms(g)) return;  // the driver refuses maps of nothing
  const auto size = static_cast<std::int64_t>(size_of(g.dtype));
  if (readable_as_it_is(g) && boxes_fit(g, p.conv.axes, size)) {
    p.boxes = kernel_named(tiled(families.boxes, info(*p.any).tile.columns));
  } else if (packable(g) && boxes_fit(g, p.conv.axes, 2)) {
    p.boxes = kernel_of(families.boxes, result_channels(g), p.hardware);
    p.any.reset();
    pack_operands(p);
  }
}

Program convolution(const Geometry& g, const Hardware& hardware) {
  Program p;
  p.geometry = g;
  p.hardware = hardware;
  for (std::size_t i = 0; i < 3; ++i) p.conv.axes[i] = axis_rule(g, i);
  choose_kernels(p);
  const TileInfo& tile = info(p.main_kernel()).tile;
  set_matrices(p, tile);
  set_tiles(p, tile);
  p.why = reason(p);
  return p;
}

void* in_workspace(const Buffers& buffers, std::int64_t at) {
  return static_cast<std::byte*>(buffers.workspace) + at;
}

Launch reduction(const Program& p, std::string_view stem, const Buffers& buffers) {
  constexpr std::int64_t columns = 32;
  const std::int64_t count = fixed_result_shape(p.geometry).elements();
  const Kernel kernel = *kernel_named(concat(stem, "_", info(p.geometry.dtype).id));
  return {.kernel = kernel,
          .blocks = static_cast<unsigned>(ceil_div(count, columns)),
          .shared_bytes = info(kernel).shared_bytes,
          .args = ReduceArgs{in_workspace(buffers, p.sums_at), buffers.result, count, static_cast<int>(p.slices)},
          .boxes = {}};
}

// ---- Groups of few channels ----

// Tiles of matrices would be nearly empty: 8 channels are an eighth of a row of 16-bit elements, and of the columns of
// the narrowest tile a quarter.
constexpr std::int64_t kFewChannels = 8;

bool has_few_channels(const Geometry& g) {
  const Extents& numbered = g.direction == Direction::input_grad ? g.in : g.out;
  return g.group_c_in() <= kFewChannels && g.group_c_out() <= kFewChannels &&
         g.n * pixels_of(numbered) < std::numeric_limits<int>::max();
}

// Slices for some 8 blocks on each of 132 multiprocessors, of 1024 terms at least.
std::int64_t slices_for(std::int64_t terms, std::int64_t blocks) {
  const std::int64_t most = std::max<std::int64_t>(1, 8 * 132 / std::max<std::int64_t>(1, blocks));
  return std::clamp<std::int64_t>(ceil_div(terms, 1024), 1, most);
}

std::int64_t exact_bytes(DType dtype) { return dtype == DType::i32 ? 4 : 8; }

void set_direct_slices(Program& p, std::int64_t teams) {
  constexpr std::int64_t each = 9;
  DirectArgs& a = p.direct;
  const std::int64_t blocks = teams * ceil_div(a.filter_columns, each);
  p.slices = slices_for(a.pixels, blocks);
  a.slice_pixels = std::max<std::int64_t>(1, ceil_div(a.pixels, p.slices));
  p.workspace_bytes = p.slices * a.filter_columns * a.results * exact_bytes(p.geometry.dtype);
  p.blocks = static_cast<unsigned>(blocks * p.slices);
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
  const std::int64_t teams = ceil_div(a.results, planar ? 8 : 32), rows = planar ? 32 : 8;
  constexpr std::int64_t each = 4;
  if (gathers(g))
    p.blocks = static_cast<unsigned>(teams * ceil_div(a.pixels, rows * each));
  else
    set_direct_slices(p, teams);
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

// ---- The bias gradient ----

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
  p.slices = slices_for(all, groups);
  p.bias.slice_pixels = std::max<std::int64_t>(1, ceil_div(all, p.slices));
  p.workspace_bytes = p.slices * g.c_out * exact_bytes(g.dtype);
  p.blocks = static_cast<unsigned>(groups * p.slices);
  p.why = concat("sums in double in ", p.slices, " slices, added in order");
  return p;
}

std::vector<Launch> bias_launches(const Program& p, const Buffers& buffers) {
  BiasArgs args = p.bias;
  args.dy = buffers.first;
  args.sums = buffers.workspace;
  return {{*p.any, p.blocks, info(*p.any).shared_bytes, args, {}}, reduction(p, "exact_slices", buffers)};
}

bool aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % kPieceBytes == 0; }

Launch repacking(const Program& p, const RepackArgs& args) {
  const bool planar = args.channel_stride != 1;
  const Kernel kernel = *kernel_named(
      concat("repack_", planar ? "first_" : "last_", p.geometry.dtype == DType::f32 ? "f32" : "16"));
  constexpr std::int64_t side = 64;
  const std::int64_t blocks = args.images * ceil_div(args.pixels, side) * ceil_div(args.padded, side);
  return {kernel, static_cast<unsigned>(blocks), info(kernel).shared_bytes, args, {}};
}

RepackArgs image_repacking(const Geometry& g, std::int64_t channels, const Extents& e) {
  const ImageStrides s = image_strides(g.layout, channels, e);
  return {.from = nullptr, .to = nullptr, .images = g.n, .pixels = pixels_of(e), .channels = channels, .padded = 0,
          .image_stride = s.n, .pixel_stride = s.w, .channel_stride = s.c, .plane = 0};
}
RepackArgs filter_repacking(const Geometry& g) {
  return {.from = nullptr, .to = nullptr, .images = 1, .pixels = taps_of(g) * g.group_c_in(), .channels = g.c_out,
          .padded = 0, .image_stride = 0, .pixel_stride = g.c_out, .channel_stride = 1, .plane = 0};
}

// Copies both operands into the workspace, where args then finds them.
void repack(const Program& p, const Buffers& buffers, ConvArgs& args, std::vector<Launch>& launches) {
  const Geometry& g = p.geometry;
  const bool backwards = g.direction == Direction::input_grad;
  const auto add = [&](RepackArgs what, const PackedOperand& operand, const void*& tensor) {
    what.from = tensor;
    what.to = in_workspace(buffers, operand.at);
    what.padded = operand.channels;
    what.plane = operand.plane;
    tensor = what.to;
    if (operand.plane > 0) launches.push_back(repacking(p, what));
  };
  add(image_repacking(g, backwards ? g.c_out : g.c_in, backwards ? g.out : g.in), *p.field, args.field);
  add(gathers(g) ? filter_repacking(g) : image_repacking(g, g.c_out, g.out), *p.dense, args.dense);
}

std::vector<Launch> conv_launches(const Program& p, const Buffers& buffers) {
  const Geometry& g = p.geometry;
  ConvArgs args = p.conv;
  std::vector<Launch> all;
  const bool backwards = g.direction == Direction::input_grad;
  args.field = backwards ? buffers.second : buffers.first;
  args.dense = backwards ? buffers.first : buffers.second;
  args.result = args.slice != 0 ? in_workspace(buffers, p.sums_at) : buffers.result;
  if (p.field) repack(p, buffers, args, all);
  const bool boxes = !p.any || (p.boxes && aligned(args.field) && aligned(args.dense));
  const Kernel kernel = boxes ? *p.boxes : *p.any;
  const TileInfo& tile = info(kernel).tile;
  const std::int64_t steps = gathers(g) ? ceil_div(taps_of(g) * args.channel_pitch.divisor, tile.terms) : args.steps;
  set_stages(args, tile, steps, p.hardware.shared_bytes);
  if (!boxes) set_copies(args, g);
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
              : has_few_channels(geometry)               ? direct_convolution(geometry, hardware)
                                                         : convolution(geometry, hardware);
  if (fixed_result_shape(geometry).elements() == 0) p.blocks = 0;
  return p;
}

std::vector<Launch> Program::launches(const Buffers& buffers) const {
  if (blocks == 0) return {};
  if (geometry.direction == Direction::bias_grad) return bias_launches(*this, buffers);
  return has_few_channels(geometry) ? direct_launches(*this, buffers) : conv_launches(*this, buffers);
}

}  // namespace convgrad::cuda
