#include "engines/cuda/fold.h"

#include <algorithm>
#include <numeric>

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
constexpr double kMostBytes = 0x1p31;                          // of the image between, or 4 times the tensors'

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
double elements_between(const Geometry& product) {
  const std::int64_t channels =
      folds_result(product) ? product.c_in : ceil_div(product.c_in, kPieceElements) * kPieceElements;
  double elements = static_cast<double>(product.n * channels);
  for (const std::int64_t extent : product.in) elements *= static_cast<double>(extent);
  return elements;
}
// Sums in f32, else x in 16 bits, or in three planes of them.
double bytes_between(const Geometry& product) {
  const int bytes = folds_result(product) ? 4 : sixteen_bits(product.dtype) ? 2 : 6;
  return elements_between(product) * bytes;
}

double tensor_bytes(const Geometry& g) {
  const std::int64_t elements =
      g.n * (pixels_of(g.in) * g.c_in + pixels_of(g.out) * g.c_out) + taps_of(g) * g.c_in * g.c_out;
  return static_cast<double>(elements) * static_cast<double>(size_of(g.dtype));
}

struct Axes {
  AxisRule of[3];
};
Axes axes_of(const Geometry& g) { return {{axis_rule(g, 0), axis_rule(g, 1), axis_rule(g, 2)}}; }

// ---- What a problem costs, in bytes that tiles load from the L2 cache ----

constexpr double kMemory = 2;         // a byte of the workspace, written or read: memory is half as fast
constexpr double kCopy = 16;          // a copy by a thread, of up to 16 bytes
constexpr double kMultiplyAdd = 0.5;  // of f32 outside the tensor cores: 13 T/s, half of their rate, beside 7 TB/s

// Of one element of the field; threads copy neighbouring channels together, up to 8 of 16 bits.
double cost_of_element(const Geometry& g, bool boxes) {
  if (g.dtype == DType::f32) return 12;  // six products of planes
  const std::int64_t together =
      g.layout == Layout::channels_last ? std::gcd(field_channels(g), std::int64_t{kPieceElements}) : 1;
  return boxes ? 2 : kCopy / static_cast<double>(together);
}

// Tiles of 128 rows load both operands for every step. `packed`: the field has whole pieces of channels.
double cost_of_tiles(const Geometry& g, bool hopper, bool packed) {
  const bool boxes = packed || (hopper && boxes_fit(g, axes_of(g).of, 2));
  const std::int64_t row = row_bytes_for(g, 2) / 2, channels = field_channels(g);
  const std::int64_t terms = taps_of(g) * (boxes ? ceil_div(channels, row) * row : channels);
  const auto pixels = static_cast<double>(g.n * pixels_of(g.out));
  const auto columns = static_cast<double>(ceil_div(result_channels(g), 32) * 32);
  if (g.dtype == DType::f32 && !(hopper && boxes)) {
    const std::int64_t whole = gathers(g) ? 32 : 128;  // terms of a step, or rows of a tile
    return pixels * static_cast<double>(ceil_div(terms, whole) * whole) * columns * kMultiplyAdd;
  }
  return pixels * static_cast<double>(terms) * cost_of_element(g, boxes) * (1 + columns / 128);
}

// x' is written, and read by tiles; dx' is written and read. A filter gradient of f32 has dy in planes, too.
double cost_of(const Fold& fold, bool hopper) {
  const Geometry& g = fold.product;
  const bool backwards = folds_result(g), splits_dy = g.direction == Direction::filter_grad && g.dtype == DType::f32;
  const double between = bytes_between(g) * (backwards ? 2 : 1);
  const double dy = splits_dy ? 6 * static_cast<double>(g.n * pixels_of(g.out) * g.c_out) : 0;
  return cost_of_tiles(g, hopper, !backwards) + kMemory * (between + dy);
}

bool is_small(const Geometry& g, const Geometry& product) {
  return elements_between(product) < kMostElements && g.n * pixels_of(g.in) * g.c_in < kMostElements &&
         objection(product).empty() && bytes_between(product) <= std::max(kMostBytes, 4 * tensor_bytes(g));
}

bool fits(const Geometry& g, const Geometry& product) {
  return product.c_in > g.c_in && product.c_in <= kMostFolded && is_small(g, product) &&
         (folds_result(g) || boxes_fit(product, axes_of(product).of, 2));
}

// f32 is multiplied in planes, on Hopper, or its gradient's columns are what is folded.
bool may_fold(const Geometry& g, bool hopper) {
  return g.groups == 1 && g.c_in < kEnoughChannels && has_terms(g) &&
         (sixteen_bits(g.dtype) || (g.dtype == DType::f32 && (hopper || folds_result(g))));
}

Divider divider(std::int64_t by) { return Divider(std::max<std::int64_t>(1, by)); }

}  // namespace

bool folds_result(const Geometry& g) { return g.direction == Direction::input_grad; }

// Of the problem as it is, and the folds of w, of h and w, of all axes: the cheapest.
std::optional<Fold> folded(const Geometry& g, bool hopper) {
  if (!may_fold(g, hopper)) return std::nullopt;
  std::optional<Fold> best;
  double least = cost_of_tiles(g, hopper, false);
  for (std::size_t first : {2u, 1u, 0u}) {
    const Fold fold = fold_from(g, first);
    if (!fits(g, fold.product) || cost_of(fold, hopper) >= least) continue;
    best = fold;
    least = cost_of(fold, hopper);
  }
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
          .plane = static_cast<std::int64_t>(elements_between(product)),
          .stored = 1};
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
