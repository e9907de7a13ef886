// Convolutions of groups with few channels, depthwise ones above all: no matrices, a thread has a result of its own.
#pragma once

#include "engines/cuda/kernels/exact_sum.h"
#include "engines/cuda/kernels/job.h"
#include "engines/cuda/kernels/team.h"

namespace convgrad::cuda {

// Terms one after another in the type of sums, at most 64 of them, then in a sum that loses nothing.
template <class Element>
struct FoldedSum {
  typename Element::Sum chunk{};
  typename SumOf<typename Element::Exact>::Type total;

  CONVGRAD_BOTH void add(typename Element::Stored a, typename Element::Stored b) {
    using Sum = typename Element::Sum;
    chunk = multiply_add(static_cast<Sum>(Element::widened(a)), static_cast<Sum>(Element::widened(b)), chunk);
  }
  CONVGRAD_BOTH void fold() {
    total.add(chunk);
    chunk = 0;
  }
};

inline CONVGRAD_BOTH Pixel pixel_at(const DirectArgs& args, std::int64_t number) {
  const int row = args.columns.quotient(static_cast<int>(number)), plane = args.rows.quotient(row);
  const int image = args.planes.quotient(plane);
  return {image, args.planes.remainder(plane), args.rows.remainder(row), args.columns.remainder(static_cast<int>(number))};
}

// Which coordinate of the field tap `tap` of result position `at` reads; false: none.
template <Way way>
CONVGRAD_BOTH bool reaches(const AxisRule& axis, const Divider& stride, int at, int tap, int& source) {
  if (way == Way::forward) {
    source = at * axis.plain.step + axis.plain.origin + tap * axis.plain.reach;
  } else {
    const std::int64_t shifted = at + axis.pad - static_cast<std::int64_t>(tap) * axis.dilation;
    if (shifted < 0 || stride.remainder(static_cast<int>(shifted)) != 0) return false;
    source = stride.quotient(static_cast<int>(shifted));
  }
  return static_cast<unsigned>(source) < static_cast<unsigned>(axis.plain.extent);
}

// result[pixel][r] = sum over taps and the channels c of r's group of field[pixel through tap][c] * filter[tap][c][r].
// A thread has one r and kDirectPixels pixels, so that what is worked out for a tap serves several.
inline constexpr int kDirectPixels = 4;

template <Way way, class Element, bool Planar>
class Direct {
 public:
  using Args = DirectArgs;
  using T = Team<Planar>;
  static constexpr int Threads = T::Threads;
  static constexpr unsigned kSharedBytes = 0;

  static CONVGRAD_DEVICE void run(const DirectArgs& args) {
    const int thread = thread_index();
    const std::int64_t teams = (args.results + T::Channels - 1) / T::Channels;
    const std::int64_t r = block_index() % teams * T::Channels + T::channel(thread);
    const std::int64_t first = block_index() / teams * (T::Rows * kDirectPixels) + T::row(thread);
    if (r >= args.results) return;
    Pixel pixel[kDirectPixels];
    FoldedSum<Element> sum[kDirectPixels];
    CONVGRAD_UNROLL
    for (int i = 0; i < kDirectPixels; ++i) pixel[i] = pixel_at(args, clipped(args, first + i * T::Rows));
    for (int d = 0; d < args.axes[0].filter; ++d)
      for (int h = 0; h < args.axes[1].filter; ++h) add_row(args, static_cast<int>(r), {0, d, h, 0}, pixel, sum);
    CONVGRAD_UNROLL
    for (int i = 0; i < kDirectPixels; ++i) {
      if (first + i * T::Rows < args.pixels) store(args, pixel[i], r, sum[i]);
    }
  }

 private:
  using Stored = typename Element::Stored;

  static CONVGRAD_BOTH std::int64_t clipped(const DirectArgs& args, std::int64_t number) {
    return number < args.pixels ? number : args.pixels - 1;
  }

  // The taps of one row of the filter.
  static CONVGRAD_DEVICE void add_row(const DirectArgs& args, int r, Pixel tap, const Pixel (&pixel)[kDirectPixels],
                                      FoldedSum<Element> (&sum)[kDirectPixels]) {
    for (tap.w = 0; tap.w < args.axes[2].filter; ++tap.w) {
      const int number = (tap.d * args.axes[1].filter + tap.h) * args.axes[2].filter + tap.w;
      CONVGRAD_UNROLL
      for (int i = 0; i < kDirectPixels; ++i) add_tap(args, r, tap, number, pixel[i], sum[i]);
      if (tap.w % 8 == 7) fold(sum);  // 8 taps x 8 channels at most
    }
    fold(sum);
  }
  static CONVGRAD_DEVICE void fold(FoldedSum<Element> (&sum)[kDirectPixels]) {
    CONVGRAD_UNROLL
    for (int i = 0; i < kDirectPixels; ++i) sum[i].fold();
  }
  static CONVGRAD_DEVICE void add_tap(const DirectArgs& args, int r, const Pixel& tap, int number, const Pixel& pixel,
                                      FoldedSum<Element>& sum) {
    int d, h, w;
    if (!reaches<way>(args.axes[0], args.strides[0], pixel.d, tap.d, d) ||
        !reaches<way>(args.axes[1], args.strides[1], pixel.h, tap.h, h) ||
        !reaches<way>(args.axes[2], args.strides[2], pixel.w, tap.w, w))
      return;
    const int group = r / args.group_results, in_group = r - group * args.group_results;
    const ImageStrides& s = args.field_strides;
    const auto* field = static_cast<const Stored*>(args.field) + pixel.n * s.n + d * s.d + h * s.h + w * s.w +
                        static_cast<std::int64_t>(group) * args.channels * s.c;
    const auto* filter = static_cast<const Stored*>(args.dense) + number * args.filter_tap +
                         group * args.filter_group + in_group * args.filter_result;
    for (int c = 0; c < args.channels; ++c) sum.add(field[c * s.c], filter[c * args.filter_channel]);
  }
  static CONVGRAD_DEVICE void store(const DirectArgs& args, const Pixel& p, std::int64_t r,
                                    const FoldedSum<Element>& sum) {
    const ImageStrides& s = args.image_strides;
    static_cast<Stored*>(args.result)[p.n * s.n + p.d * s.d + p.h * s.h + p.w * s.w + r * s.c] =
        Element::narrowed(static_cast<typename Element::Sum>(sum.total.value()));
  }
};

// sums[slice][(tap, c)][r] = sum over the slice's pixels of field[pixel through tap][c] * dy[pixel][r]. A thread has one
// r and kDirectColumns neighbouring (tap, c); a block's rows share the pixels.
inline constexpr int kDirectColumns = 9;

template <class Element, bool Planar>
class DirectFilter {
 public:
  using Args = DirectArgs;
  using T = Team<Planar>;
  using Exact = typename Element::Exact;
  static constexpr int Threads = T::Threads;
  static constexpr unsigned kSharedBytes = Threads * sizeof(Exact);

  static CONVGRAD_DEVICE void run(const DirectArgs& args) {
    const int thread = thread_index();
    const std::int64_t teams = (args.results + T::Channels - 1) / T::Channels;
    const int columns = (args.filter_columns + kDirectColumns - 1) / kDirectColumns;
    const std::int64_t block = block_index(), r = block % teams * T::Channels + T::channel(thread);
    const int first = static_cast<int>(block / teams % columns) * kDirectColumns;
    const std::int64_t slice = block / teams / columns;
    FoldedSum<Element> sum[kDirectColumns];
    if (r < args.results) add_pixels(args, static_cast<int>(r), first, slice, sum);
    CONVGRAD_UNROLL
    for (int i = 0; i < kDirectColumns; ++i) {
      part_at(T::row(thread), T::channel(thread)) = sum[i].total.value();
      sync_block();
      if (T::row(thread) == 0 && r < args.results && first + i < args.filter_columns)
        static_cast<Exact*>(args.result)[(slice * args.filter_columns + first + i) * args.results + r] =
            joined(T::channel(thread));
      sync_block();
    }
  }

 private:
  using Stored = typename Element::Stored;

  static CONVGRAD_DEVICE Exact& part_at(int row, int channel) {
    return shared<Exact>(static_cast<unsigned>(row * T::Channels + channel) * sizeof(Exact));
  }
  static CONVGRAD_DEVICE Exact joined(int channel) {
    typename SumOf<Exact>::Type total;
    for (int row = 0; row < T::Rows; ++row) total.add(part_at(row, channel));
    return total.value();
  }

  static CONVGRAD_DEVICE void add_pixels(const DirectArgs& args, int r, int first, std::int64_t slice,
                                         FoldedSum<Element> (&sum)[kDirectColumns]) {
    Spot column[kDirectColumns];
    CONVGRAD_UNROLL
    for (int i = 0; i < kDirectColumns; ++i) column[i] = column_spot(args, first + i);
    const int extent[3] = {args.axes[0].plain.extent, args.axes[1].plain.extent, args.axes[2].plain.extent};
    const int group = r / args.group_results, row = T::row(thread_index());
    const auto* field = static_cast<const Stored*>(args.field) +
                        static_cast<std::int64_t>(group) * args.channels * args.field_strides.c;
    const auto* dy = static_cast<const Stored*>(args.dense) + r * args.image_strides.c;
    const std::int64_t begin = slice * args.slice_pixels;
    const std::int64_t end = begin + args.slice_pixels < args.pixels ? begin + args.slice_pixels : args.pixels;
    int in_chunk = 0;
    for (std::int64_t number = begin + row; number < end; number += T::Rows) {
      const Pixel p = pixel_at(args, number);
      const Spot place = field_spot(args, p);
      const Stored signal = dy[dy_offset(args, p)];
      CONVGRAD_UNROLL
      for (int i = 0; i < kDirectColumns; ++i) {
        const Spot spot = place + column[i];
        if (inside(spot, extent)) sum[i].add(field[spot.offset], signal);
      }
      if (++in_chunk == 64) fold(sum, in_chunk);
    }
    fold(sum, in_chunk);
  }
  static CONVGRAD_DEVICE void fold(FoldedSum<Element> (&sum)[kDirectColumns], int& in_chunk) {
    CONVGRAD_UNROLL
    for (int i = 0; i < kDirectColumns; ++i) sum[i].fold();
    in_chunk = 0;
  }

  static CONVGRAD_BOTH Spot column_spot(const DirectArgs& args, int number) {
    const int tap = number / args.channels, channel = number - tap * args.channels;
    const int row = tap / args.axes[2].filter, plane = row / args.axes[1].filter;
    if (plane >= args.axes[0].filter) return {0, kNowhere, 0, 0};
    const int d = plane * args.axes[0].plain.reach, h = (row - plane * args.axes[1].filter) * args.axes[1].plain.reach,
              w = (tap - row * args.axes[2].filter) * args.axes[2].plain.reach;
    const ImageStrides& s = args.field_strides;
    return {d * s.d + h * s.h + w * s.w + channel * s.c, d, h, w};
  }
  static CONVGRAD_BOTH Spot field_spot(const DirectArgs& args, const Pixel& p) {
    const auto along = [&](int i, int at) { return at * args.axes[i].plain.step + args.axes[i].plain.origin; };
    const int d = along(0, p.d), h = along(1, p.h), w = along(2, p.w);
    const ImageStrides& s = args.field_strides;
    return {p.n * s.n + d * s.d + h * s.h + w * s.w, d, h, w};
  }
  static CONVGRAD_BOTH std::int64_t dy_offset(const DirectArgs& args, const Pixel& p) {
    const ImageStrides& s = args.image_strides;
    return p.n * s.n + p.d * s.d + p.h * s.h + p.w * s.w;
  }
};

}  // namespace convgrad::cuda
