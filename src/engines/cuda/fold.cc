#include "engines/cuda/fold.h"

#include <algorithm>

#include "base/text.h"
#include "engines/cuda/kernels/fold.h"
#include "engines/cuda/matrices.h"
#include "engines/cuda/operands.h"
#include "geometry/shapes.h"

namespace convgrad::cuda {
namespace {

// Half a row of 32 channels: with fewer the copy engine would bring mostly zeros.
constexpr std::int64_t kEnoughChannels = 16;
constexpr std::int64_t kMostElements = std::int64_t{1} << 30;  // numbers of threads have 32 bits
constexpr std::int64_t kMostBytes = std::int64_t{2} << 30;     // of the image between, or 4 times the tensors'

void leave_out(Geometry& g, std::size_t axis, std::int64_t extent) {
  g.in[axis] = g.out[axis] = extent;
  g.filter[axis] = g.stride[axis] = g.dilation[axis] = 1;
  g.pad_before[axis] = g.pad_after[axis] = 0;
}

Fold fold_from(const Geometry& g, std::size_t first_axis) {
  Fold fold{g, g};
  for (std::size_t i = 0; i < 3; ++i) {
    if (i < first_axis)
      leave_out(fold.taps, i, g.in[i]);
    else
      leave_out(fold.product, i, g.out[i]);
  }
  fold.product.c_in = g.c_in * taps_of(fold.taps);
  return fold;
}

// Elements of the image between, with zeros up to whole pieces where it is x.
std::int64_t elements_between(const Geometry& product) {
  const std::int64_t channels =
      folds_result(product) ? product.c_in : ceil_div(product.c_in, kPieceElements) * kPieceElements;
  return product.n * pixels_of(product.in) * channels;
}
// Sums in f32, else x in 16 bits, or in three planes of them.
std::int64_t bytes_between(const Geometry& product) {
  const int bytes = folds_result(product) ? 4 : sixteen_bits(product.dtype) ? 2 : 6;
  return elements_between(product) * bytes;
}

std::int64_t tensor_bytes(const Geometry& g) {
  const std::int64_t elements =
      g.n * (pixels_of(g.in) * g.c_in + pixels_of(g.out) * g.c_out) + taps_of(g) * g.c_in * g.c_out;
  return elements * static_cast<std::int64_t>(size_of(g.dtype));
}

// What tiles load of the field: a row of channels for every pixel and tap; f32 in planes has six products of 16 bits.
double bytes_loaded(const Geometry& g, bool hopper) {
  const std::int64_t terms = row_bytes_for(g, 2) / 2, pitch = ceil_div(field_channels(g), terms) * terms;
  const int bytes = g.dtype != DType::f32 ? 2 : hopper ? 12 : 4;
  return static_cast<double>(g.n * pixels_of(g.out)) * static_cast<double>(taps_of(g) * pitch) * bytes;
}
// The image between is written and read once; what reads x' by taps is counted as loads.
double bytes_moved(const Fold& fold, bool hopper) {
  const int times = folds_result(fold.product) ? 2 : 1;
  return bytes_loaded(fold.product, hopper) + times * static_cast<double>(bytes_between(fold.product));
}

bool is_small(const Geometry& g, const Geometry& product) {
  return objection(product).empty() && elements_between(product) < kMostElements &&
         g.n * pixels_of(g.in) * g.c_in < kMostElements &&
         bytes_between(product) <= std::max(kMostBytes, 4 * tensor_bytes(g));
}

bool fits(const Geometry& g, const Geometry& product) {
  if (product.c_in == g.c_in || product.c_in > kMostFolded || !is_small(g, product)) return false;
  AxisRule axes[3];
  for (std::size_t i = 0; i < 3; ++i) axes[i] = axis_rule(product, i);
  return folds_result(g) || boxes_fit(product, axes, 2);
}

// f32 is multiplied in planes, on Hopper, or its gradient's columns are what is folded. 16-bit channels that are whole
// pieces are gathered 16 bytes at a time as they are.
bool may_fold(const Geometry& g, bool hopper) {
  if (g.groups != 1 || g.c_in >= kEnoughChannels || !has_terms(g)) return false;
  if (folds_result(g)) return packable(g);
  return sixteen_bits(g.dtype) ? g.c_in % kPieceElements != 0 : g.dtype == DType::f32 && hopper;
}

Divider divider(std::int64_t by) { return Divider(std::max<std::int64_t>(1, by)); }

}  // namespace

bool folds_result(const Geometry& g) { return g.direction == Direction::input_grad; }

// Of the folds of w, of h and w, of all axes: the one that moves the fewest bytes. What is gathered by threads, element
// by element, is worth any of them; an input gradient has tiles filled 16 bytes at a time without, so there a fold must
// halve the bytes.
std::optional<Fold> folded(const Geometry& g, bool hopper) {
  if (!may_fold(g, hopper)) return std::nullopt;
  std::optional<Fold> best;
  for (std::size_t first : {2u, 1u, 0u}) {
    const Fold fold = fold_from(g, first);
    if (!fits(g, fold.product) || (best && bytes_moved(fold, hopper) >= bytes_moved(*best, hopper))) continue;
    best = fold;
  }
  if (best && folds_result(g) && 2 * bytes_moved(*best, hopper) > bytes_loaded(g, hopper)) return std::nullopt;
  return best;
}

FoldedTaps folded_taps(const Fold& fold) {
  Geometry forward = fold.taps;
  forward.direction = Direction::forward;
  FoldedTaps taps{.folded = true,
                  .channels = divider(forward.c_in),
                  .columns = divider(forward.filter[2]),
                  .rows = divider(forward.filter[1]),
                  .axes = {}};
  for (std::size_t i = 0; i < 3; ++i) taps.axes[i] = axis_rule(forward, i).plain;
  return taps;
}

FoldArgs folding(const Fold& fold) {
  const Geometry& product = fold.product;
  return {.from = nullptr,
          .to = nullptr,
          .from_strides = input_strides(fold.taps),
          .taps = folded_taps(fold),
          .channels = static_cast<int>(product.c_in),
          .pieces = divider(ceil_div(product.c_in, kPieceElements)),
          .columns = divider(product.in[2]),
          .rows = divider(product.in[1]),
          .planes = divider(product.in[0]),
          .pixels = static_cast<int>(product.n * pixels_of(product.in)),
          .plane = elements_between(product)};
}

UnfoldArgs unfolding(const Fold& fold) {
  const Geometry& taps = fold.taps;
  const std::int64_t parts = ceil_div(taps.c_in, kUnfoldChannels);
  UnfoldArgs args{.sums = nullptr,
                  .result = nullptr,
                  .strides = image_strides(Layout::channels_last, fold.product.c_in, fold.product.in),
                  .result_strides = input_strides(taps),
                  .axes = {},
                  .steps = {},
                  .channels = static_cast<int>(taps.c_in),
                  .parts = divider(parts),
                  .columns = divider(taps.in[2]),
                  .rows = divider(taps.in[1]),
                  .planes = divider(taps.in[0]),
                  .count = static_cast<int>(taps.n * pixels_of(taps.in) * parts)};
  for (std::size_t i = 0; i < 3; ++i) {
    args.axes[i] = axis_rule(taps, i);
    args.steps[i] = Divider(args.axes[i].stride);
  }
  return args;
}

std::string text_of(const Fold& fold) {
  const Extents& filter = fold.taps.filter;
  const char* const axes = filter[0] > 1 ? "d, h and w" : filter[1] > 1 ? "h and w" : "w";
  return concat("taps of ", axes, " folded into ", fold.product.c_in, " channels");
}

}  // namespace convgrad::cuda
