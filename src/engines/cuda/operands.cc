#include "engines/cuda/operands.h"

#include <algorithm>

#include "base/text.h"
#include "engines/cuda/kernel_choice.h"
#include "engines/cuda/kernels/fold.h"
#include "engines/cuda/kernels/repack.h"
#include "engines/cuda/matrices.h"
#include "engines/cuda/program_parts.h"

namespace convgrad::cuda {
namespace {

constexpr int kMostElementStride = 8;
constexpr std::int64_t kPieceBytes = 16;

bool whole_pieces(std::int64_t elements, std::int64_t size) { return elements * size % kPieceBytes == 0; }

std::int64_t element_bytes_stored(const Program& p) {
  return p.field ? 2 : static_cast<std::int64_t>(size_of(p.geometry.dtype));
}

PackedOperand packed(Program& p, std::int64_t pixels, std::int64_t channels) {
  PackedOperand operand;
  operand.channels = ceil_div(channels, 8) * 8;
  operand.plane = pixels * operand.channels;
  operand.at = aligned_up(p.workspace_bytes);
  p.workspace_bytes = operand.at + operand.plane * 2 * p.planes;
  return operand;
}

// An image as (channel, w, h, d, n); a box is a patch of it.
struct ImageBox {
  std::int64_t channels;
  Extents extents;
  std::int64_t steps[3];  // from one pixel of a patch to the next
};
Box image_box(const Program& p, const ImageBox& image, const TileInfo& tile) {
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
          .box = {tile.terms, span(patches.w, 2), span(patches.h, 1), span(patches.d, 0), 1 << patches.n},
          .element_strides = {1, step(2), step(1), step(0), 1},
          .swizzle_bytes = tile.row_bytes};
}

// The filter as (output channel, input channel, tap); a box has `rows` input channels.
Box filter_box(const Program& p, const TileInfo& tile, int rows) {
  const Geometry& g = p.product();
  const std::int64_t size = element_bytes_stored(p), channels = dense_channels_stored(p);
  const std::int64_t row = channels * size, tap = row * g.group_c_in(), all = tap * taps_of(g);
  return {.tensor = nullptr,
          .element_bytes = static_cast<int>(size),
          .extents = {channels, g.group_c_in(), taps_of(g), 1, 1},
          .byte_strides = {row, tap, all, all},
          .box = {tile.terms, rows, 1, 1, 1},
          .element_strides = {1, 1, 1, 1, 1},
          .swizzle_bytes = tile.row_bytes};
}

// The same box of every plane.
void add_planes(std::vector<Box>& boxes, Box box, const void* tensor, std::int64_t plane_bytes, int planes) {
  for (int i = 0; i < planes; ++i) {
    box.tensor = static_cast<const std::byte*>(tensor) + i * plane_bytes;
    boxes.push_back(box);
  }
}

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

Launch repacking(const Program& p, const RepackArgs& args) {
  const bool planar = args.channel_stride != 1;
  const Kernel kernel =
      *kernel_named(concat("repack_", planar ? "first_" : "last_", p.geometry.dtype == DType::f32 ? "f32" : "16"));
  const std::int64_t blocks = args.images * ceil_div(args.pixels, kRepackSide) * ceil_div(args.padded, kRepackSide);
  return {kernel, static_cast<unsigned>(blocks), info(kernel).shared_bytes, args, {}};
}

Launch field_folding(const Program& p, FoldArgs args) {
  args.stored = p.planes;
  const Kernel kernel = *kernel_named(p.geometry.dtype == DType::f32 ? "fold_f32" : "fold_16");
  const std::int64_t blocks = ceil_div(args.pixels, fold_pixels(args) * kFoldPixels);
  return {kernel, static_cast<unsigned>(blocks), info(kernel).shared_bytes, args, {}};
}

RepackArgs image_repacking(const Geometry& g, std::int64_t channels, const Extents& e) {
  const ImageStrides s = image_strides(g.layout, channels, e);
  return {.from = nullptr,
          .to = nullptr,
          .images = g.n,
          .pixels = pixels_of(e),
          .channels = channels,
          .padded = 0,
          .image_stride = s.n,
          .pixel_stride = s.w,
          .channel_stride = s.c,
          .plane = 0,
          .planes = 1};
}
RepackArgs filter_repacking(const Geometry& g) {
  return {.from = nullptr,
          .to = nullptr,
          .images = 1,
          .pixels = taps_of(g) * g.group_c_in(),
          .channels = g.c_out,
          .padded = 0,
          .image_stride = 0,
          .pixel_stride = g.c_out,
          .channel_stride = 1,
          .plane = 0,
          .planes = 1};
}

}  // namespace

int row_bytes_for(const Geometry& g, std::int64_t size) {
  const std::int64_t whole = 128 / size, rest = field_channels(g) % whole;
  return size == 2 && 0 < rest && rest <= whole / 2 ? 64 : 128;
}

bool boxes_fit(const Geometry& g, const AxisRule (&axes)[3], std::int64_t size) {
  const std::int64_t terms = row_bytes_for(g, size) / size, channels = field_channels(g);
  const std::int64_t padded = ceil_div(channels, terms) * terms;
  // Channels of a row that are not there are multiplied as zeros: at most half of them may be.
  if (channels == 0 || padded > 2 * channels) return false;
  if (g.groups > 1 && (!whole_pieces(g.group_c_in(), size) || !whole_pieces(g.group_c_out(), size))) return false;
  // Behind the last channel of a group lies the next group, not nothing; a filter gradient does not store it.
  if (g.groups > 1 && gathers(g) && padded != channels) return false;
  return std::all_of(std::begin(axes), std::end(axes),
                     [](const AxisRule& axis) { return axis.plain.step <= kMostElementStride; });
}

bool field_readable(const Geometry& g) {
  const std::int64_t channels = g.direction == Direction::input_grad ? g.c_out : g.c_in;
  return g.dtype != DType::f32 && g.layout == Layout::channels_last &&
         whole_pieces(channels, static_cast<std::int64_t>(size_of(g.dtype)));
}
bool dense_readable(const Geometry& g) {
  return g.dtype != DType::f32 && (gathers(g) || g.layout == Layout::channels_last) &&
         whole_pieces(g.c_out, static_cast<std::int64_t>(size_of(g.dtype)));
}

bool packable(const Geometry& g) { return g.dtype == DType::f32 || sixteen_bits(g.dtype); }

std::int64_t aligned_up(std::int64_t bytes) { return ceil_div(bytes, 256) * 256; }

std::int64_t field_channels_stored(const Program& p) {
  const Geometry& g = p.product();
  return p.field ? p.field->channels : g.direction == Direction::input_grad ? g.c_out : g.c_in;
}
std::int64_t dense_channels_stored(const Program& p) { return p.dense ? p.dense->channels : p.geometry.c_out; }
Layout field_layout_stored(const Program& p) { return p.field ? Layout::channels_last : p.geometry.layout; }
Layout dense_layout_stored(const Program& p) { return p.dense ? Layout::channels_last : p.geometry.layout; }

void pack_field(Program& p) {
  const Geometry& g = p.product();
  const bool backwards = g.direction == Direction::input_grad;
  p.field = packed(p, g.n * pixels_of(backwards ? g.out : g.in), backwards ? g.c_out : g.c_in);
}
void pack_dense(Program& p) {
  const Geometry& g = p.product();
  p.dense = packed(p, gathers(g) ? taps_of(g) * g.group_c_in() : g.n * pixels_of(g.out), g.c_out);
}

void repack(const Program& p, const Buffers& buffers, ConvArgs& args, std::vector<Launch>& launches) {
  const Geometry& g = p.product();
  const bool backwards = g.direction == Direction::input_grad;
  const auto move = [&](auto what, const PackedOperand& operand, const void*& tensor) {
    what.from = tensor;
    what.to = in_workspace(buffers, operand.at);
    what.plane = operand.plane;
    tensor = what.to;
    return what;
  };
  const auto add = [&](RepackArgs what, const PackedOperand& operand, const void*& tensor) {
    what.padded = operand.channels;
    what.planes = p.planes;
    what = move(what, operand, tensor);
    if (operand.plane > 0) launches.push_back(repacking(p, what));
  };
  if (p.fold && !backwards)
    launches.push_back(field_folding(p, move(folding(*p.fold), *p.field, args.field)));
  else if (p.field)
    add(image_repacking(g, backwards ? g.c_out : g.c_in, backwards ? g.out : g.in), *p.field, args.field);
  if (p.dense) add(gathers(g) ? filter_repacking(g) : image_repacking(g, g.c_out, g.out), *p.dense, args.dense);
}

bool aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % kPieceBytes == 0; }

std::vector<Box> boxes_of(const Program& p, const ConvArgs& args, const TileInfo& tile) {
  const Geometry& g = p.product();
  const bool backwards = g.direction == Direction::input_grad;
  const PixelGrid grid = pixel_grid(g, args.axes);
  const std::int64_t size = element_bytes_stored(p);
  const Box field = image_box(
      p, {field_channels_stored(p), backwards ? g.out : g.in, {grid.steps[0], grid.steps[1], grid.steps[2]}}, tile);
  const Box dense = gathers(g) ? filter_box(p, tile, backwards ? tile.columns : tile.terms)
                               : image_box(p, {dense_channels_stored(p), g.out, {1, 1, 1}}, tile);
  std::vector<Box> all;
  add_planes(all, field, args.field, args.field_plane * size, p.planes);
  add_planes(all, dense, args.dense, args.dense_plane * size, p.planes);
  return all;
}

void set_copies(const Program& p, ConvArgs& args) {
  const Geometry& g = p.product();
  const bool backwards = g.direction == Direction::input_grad;
  const bool field_last = field_layout_stored(p) == Layout::channels_last;
  const bool dense_last = dense_layout_stored(p) == Layout::channels_last;
  const std::int64_t pitch = args.channel_pitch.divisor;
  // Behind the channels of a packed field there are zeros, up to a whole piece.
  const std::int64_t channels = p.field && g.groups == 1 ? p.field->channels : field_channels(g);
  const int size = static_cast<int>(size_of(g.dtype));
  args.field_copy = {field_last ? copy_bytes(args.field, g.dtype, {channels, pitch, args.field_strides.w}) : size,
                     gathers(g) == field_last};
  const int row = copy_bytes(args.dense, g.dtype, {g.group_c_out(), g.c_out, backwards ? pitch : 0});
  args.dense_copy = {gathers(g) || dense_last ? row : size, gathers(g) ? backwards : !dense_last};
}

}  // namespace convgrad::cuda
