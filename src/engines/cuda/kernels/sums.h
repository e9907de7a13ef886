// Sums of what blocks have left: slices of a filter gradient, and the bias gradient.
#pragma once

#include "engines/cuda/kernels/args.h"
#include "engines/cuda/kernels/exact_sum.h"
#include "engines/cuda/kernels/team.h"

namespace convgrad::cuda {

// result[i] = sums[0][i] + sums[1][i] + ... A block has kReduceColumns neighbouring results; 8 threads share the slices of each, a
// stretch of them each, and their parts are added in order.
inline constexpr int kReduceColumns = 32;

template <class Element, class Sum>
class Reduce {
 public:
  using Args = ReduceArgs;
  static constexpr int Threads = 256;
  static constexpr int Columns = kReduceColumns, Parts = Threads / Columns;
  static constexpr unsigned kSharedBytes = Threads * sizeof(typename Element::Exact);

  static CONVGRAD_DEVICE void run(const ReduceArgs& args) {
    const int column = thread_index() % Columns, part = thread_index() / Columns;
    const std::int64_t i = static_cast<std::int64_t>(block_index()) * Columns + column;
    const int share = (args.slices + Parts - 1) / Parts;
    const int begin = share * part, end = begin + share < args.slices ? begin + share : args.slices;
    Total total;
    if (i < args.count) {
      for (int slice = begin; slice < end; ++slice)
        total.add(static_cast<const Sum*>(args.sums)[slice * args.count + i]);
    }
    part_at(part, column) = total.value();
    sync_block();
    if (part != 0 || i >= args.count) return;
    for (int other = 1; other < Parts; ++other) total.add(part_at(other, column));
    static_cast<typename Element::Stored*>(args.result)[i] =
        Element::narrowed(static_cast<typename Element::Sum>(total.value()));
  }

 private:
  using Exact = typename Element::Exact;
  using Total = typename SumOf<Exact>::Type;
  static CONVGRAD_DEVICE Exact& part_at(int part, int column) {
    return shared<Exact>(static_cast<unsigned>(part * Columns + column) * sizeof(Exact));
  }
};

// sums[slice][c] = sum of dy over the slice's pixels.
template <class Element, bool Planar>
class Bias {
 public:
  using Args = BiasArgs;
  using T = Team<Planar>;
  static constexpr int Threads = T::Threads;
  static constexpr unsigned kSharedBytes = Threads * sizeof(typename Element::Exact);

  static CONVGRAD_DEVICE void run(const BiasArgs& args) {
    const int thread = thread_index();
    const int lane = T::channel(thread), row = T::row(thread);
    const std::int64_t groups = (args.channels + T::Channels - 1) / T::Channels;
    const std::int64_t slice = block_index() / groups, channel = block_index() % groups * T::Channels + lane;
    Total total;
    if (channel < args.channels) add_pixels(args, total, slice, channel, row);
    part_at(row, lane) = total.value();
    sync_block();
    if (row != 0 || channel >= args.channels) return;
    for (int other = 1; other < T::Rows; ++other) total.add(part_at(other, lane));
    static_cast<Exact*>(args.sums)[slice * args.channels + channel] = total.value();
  }

 private:
  using Exact = typename Element::Exact;
  using Total = typename SumOf<Exact>::Type;

  static CONVGRAD_DEVICE Exact& part_at(int row, int lane) {
    return shared<Exact>(static_cast<unsigned>(row * T::Channels + lane) * sizeof(Exact));
  }
  static CONVGRAD_DEVICE void add_pixels(const BiasArgs& args, Total& total, std::int64_t slice, std::int64_t channel,
                                         int row) {
    const auto* dy = static_cast<const typename Element::Stored*>(args.dy) + channel * args.channel_stride;
    const std::int64_t all = args.images * args.pixels, begin = slice * args.slice_pixels + row;
    const std::int64_t end = (slice + 1) * args.slice_pixels < all ? (slice + 1) * args.slice_pixels : all;
    std::int64_t image = begin / args.pixels, pixel = begin % args.pixels;
    for (std::int64_t i = begin; i < end; i += T::Rows) {
      total.add(Element::widened(dy[image * args.image_stride + pixel * args.pixel_stride]));
      for (pixel += T::Rows; pixel >= args.pixels; pixel -= args.pixels) ++image;
    }
  }
};

}  // namespace convgrad::cuda
