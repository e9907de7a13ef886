#include "engines/cuda/program.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "engines/cuda/kernel_choice.h"
#include "engines/cuda/kernels/shape.h"
#include "engines/cuda/matrices.h"
#include "engines/cuda/operands.h"
#include "engines/cuda/program_parts.h"
#include "geometry/shapes.h"

namespace convgrad::cuda {
namespace {

// As many stages as fit. The tile of sums has memory of its own where it is added to more than once.
void set_stages(ConvArgs& args, const TileInfo& tile, std::int64_t steps, unsigned limit) {
  const bool one_block = steps * tile.terms <= kBlockTerms;
  for (args.stages = kMostStages; args.stages > kLeastStages; --args.stages) {
    args.tile_at = one_block ? 0 : args.stages * static_cast<int>(tile.stage_bytes);
    if (tile.shared_bytes(args) <= limit) return;
  }
  args.tile_at = one_block ? 0 : args.stages * static_cast<int>(tile.stage_bytes);
}

// The image that is not the field.
ImageStrides other_image(const Program& p) {
  const Geometry& g = p.product();
  switch (g.direction) {
    case Direction::forward: return output_strides(g);
    case Direction::input_grad: return image_strides(p.fold ? Layout::channels_last : g.layout, g.c_in, g.in);
    default: return image_strides(dense_layout_stored(p), dense_channels_stored(p), g.out);
  }
}

void set_matrices(Program& p, const TileInfo& tile) {
  const Geometry& g = p.product();
  ConvArgs& a = p.conv;
  const bool backwards = g.direction == Direction::input_grad;
  a.field_strides = image_strides(field_layout_stored(p), field_channels_stored(p), backwards ? g.out : g.in);
  a.image_strides = other_image(p);
  if (p.fold && !backwards) a.taps = folded_taps(*p.fold);
  a.filter_out = 1;
  a.filter_in = gathers(g) ? dense_channels_stored(p) : g.c_out;
  a.filter_tap = g.group_c_in() * a.filter_in;
  a.planes = p.planes;
  a.field_plane = p.field ? p.field->plane : 0;
  a.dense_plane = p.dense ? p.dense->plane : 0;
  a.images = static_cast<int>(g.n);
  a.channels = static_cast<int>(field_channels(g));
  const std::int64_t pitch = p.boxes   ? ceil_div(a.channels, tile.terms) * tile.terms
                             : p.field ? p.field->channels
                                       : a.channels;
  a.channel_pitch = Divider(std::max<std::int64_t>(1, pitch));
  a.results = static_cast<int>(result_channels(g));
  a.field_group = a.channels;
  a.dense_group = static_cast<int>(g.group_c_out());
  a.result_group = a.results;
}

// Rows of the result's matrix, in tiles, for one phase.
std::int64_t row_tiles(const Geometry& g, const ConvArgs& a, const TileInfo& tile) {
  return gathers(g) ? a.patches.count : ceil_div(taps_of(g) * a.channel_pitch.divisor, tile.rows);
}

void set_tiles(Program& p, const TileInfo& tile) {
  const Geometry& g = p.product();
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
    constexpr std::int64_t most_terms = 64 * kBlockTerms;  // as many blocks as a block has chunks, at most
    const std::int64_t elements = fixed_result_shape(g).elements();
    const auto sum_bytes = static_cast<std::int64_t>(g.dtype == DType::f64 ? 8 : 4);
    a.steps = static_cast<int>(steps_of_slice({tiles, a.patches.count, most_terms / tile.terms, elements * sum_bytes}));
    p.slices = std::max<std::int64_t>(1, ceil_div(a.patches.count, a.steps));
    if (p.slices > 1) keep_sums(p, elements, sum_bytes);
  } else if (p.fold && folds_result(g)) {
    keep_sums(p, fixed_result_shape(g).elements(), 4);
  }
  p.blocks = static_cast<unsigned>(tiles * p.slices);
}

std::string instructions(const Program& p) {
  const DType dtype = p.geometry.dtype;
  if (p.math() == MathMode::tf32)
    return concat("tensor cores, tf32 math: f32 as two bf16 planes, |error| <= (2^",
                  std::ilogb(info(MathMode::tf32).product_error), " + 2^-21) sum|ab|,");
  if (p.planes > 1) return "tensor cores, f32 as three bf16 planes";
  return dtype == DType::i32 || dtype == DType::f32 ? "multiply-adds" : "tensor cores";
}

std::string reason(const Program& p) {
  const TileInfo& tile = info(p.main_kernel()).tile;
  return concat(instructions(p), " on tiles of ", tile.rows, " x ", tile.columns, ", ",
                p.fold ? text_of(*p.fold) + ", " : "", p.field || p.dense ? "copied channels-last, " : "",
                p.boxes ? "filled by the copy engine" : "gathered by threads",
                p.slices > 1 ? concat(", the sum in ", p.slices, " slices added in order") : "");
}

// dx from its sums in the workspace, which have taps in their channels.
Launch result_unfolding(const Program& p, const Buffers& buffers) {
  UnfoldArgs args = unfolding(*p.fold);
  args.sums = static_cast<const float*>(in_workspace(buffers, p.sums_at));
  args.result = buffers.result;
  const Kernel kernel = *kernel_named(concat("unfold_", info(p.geometry.dtype).id));
  const std::int64_t blocks = ceil_div(args.count, info(kernel).threads);
  return {kernel, static_cast<unsigned>(blocks), info(kernel).shared_bytes, args, {}};
}

void choose_kernels(Program& p, MathMode math) {
  const Geometry& g = p.product();
  const bool folds_field = p.fold && !folds_result(g);
  const std::int64_t size = p.hardware.hopper && packable(g) ? 2 : static_cast<std::int64_t>(size_of(g.dtype));
  const bool fits = p.hardware.hopper && has_terms(g) && boxes_fit(g, p.conv.axes, size);  // no maps of nothing
  const Families families = families_of(g, p.hardware, fits ? row_bytes_for(g, size) : 128);
  const bool reads_field = !folds_field && field_readable(g), reads_dense = dense_readable(g);
  const bool boxes = fits && (packable(g) || (reads_field && reads_dense));
  p.any = kernel_of(families.any, result_channels(g), p.hardware);
  if (boxes && g.dtype == DType::f32) p.planes = math == MathMode::tf32 ? kTf32Planes : PlanesElement::Planes;
  if (folds_field || (boxes && !reads_field)) pack_field(p);
  if (boxes && !reads_dense) pack_dense(p);
  if (boxes && (reads_field || reads_dense)) {
    p.boxes = kernel_named(tiled(families.boxes, info(*p.any).tile.columns));
  } else if (boxes) {
    p.boxes = kernel_of(families.boxes, result_channels(g), p.hardware);
    p.any.reset();
  }
}

}  // namespace

void keep_sums(Program& p, std::int64_t elements, std::int64_t bytes) {
  p.conv.slice = elements;
  p.sums_at = aligned_up(p.workspace_bytes);
  p.workspace_bytes = p.sums_at + p.slices * elements * bytes;
}

Program convolution(const Geometry& g, const Hardware& hardware, MathMode math) {
  Program p;
  p.geometry = g;
  p.hardware = hardware;
  p.fold = folded(g, hardware.hopper);
  for (std::size_t i = 0; i < 3; ++i) p.conv.axes[i] = axis_rule(p.product(), i);
  choose_kernels(p, math);
  const TileInfo& tile = info(p.main_kernel()).tile;
  set_matrices(p, tile);
  set_tiles(p, tile);
  p.make_launches = &conv_launches;
  p.why = reason(p);
  return p;
}

std::vector<Launch> operands_in_place(const Program& p, const Buffers& buffers, ConvArgs& args) {
  std::vector<Launch> all;
  const bool backwards = p.geometry.direction == Direction::input_grad;
  args.field = backwards ? buffers.second : buffers.first;
  args.dense = backwards ? buffers.first : buffers.second;
  args.result = args.slice != 0 ? in_workspace(buffers, p.sums_at) : buffers.result;
  repack(p, buffers, args, all);
  return all;
}

std::vector<Launch> conv_launches(const Program& p, const Buffers& buffers) {
  const Geometry& g = p.product();
  ConvArgs args = p.conv;
  std::vector<Launch> all = operands_in_place(p, buffers, args);
  const bool boxes = !p.any || (p.boxes && aligned(args.field) && aligned(args.dense));
  const Kernel kernel = boxes ? *p.boxes : *p.any;
  const TileInfo& tile = info(kernel).tile;
  const std::int64_t steps = gathers(g) ? ceil_div(taps_of(g) * args.channel_pitch.divisor, tile.terms) : args.steps;
  set_stages(args, tile, steps, p.hardware.shared_bytes);
  if (!boxes) set_copies(p, args);
  all.push_back(
      {kernel, p.blocks, tile.shared_bytes(args), args, boxes ? boxes_of(p, args, tile) : std::vector<Box>{}});
  if (args.slice != 0) all.push_back(gathers(g) ? result_unfolding(p, buffers) : reduction(p, "slices", buffers));
  return all;
}

Program program_for(const Geometry& geometry, const Hardware& hardware, MathMode math) {
  Program p = geometry.direction == Direction::bias_grad ? bias_gradient(geometry, hardware)
              : takes_strips(geometry)                   ? strip_convolution(geometry, hardware)
              : has_few_channels(geometry)               ? direct_convolution(geometry, hardware)
                                                         : convolution(geometry, hardware, math);
  std::optional<Program> halo = gathers(geometry) ? halo_convolution(p) : halo_filter_gradient(p);
  if (halo) p = std::move(*halo);
  if (fixed_result_shape(geometry).elements() == 0) p.blocks = 0;
  return p;
}

std::vector<Launch> Program::launches(const Buffers& buffers) const {
  return blocks == 0 ? std::vector<Launch>{} : make_launches(*this, buffers);
}

}  // namespace convgrad::cuda
