// Images of few channels with taps in their channels, and the way back for gradients.
#pragma once

#include "engines/cuda/kernels/direct.h"
#include "engines/cuda/kernels/folded_taps.h"
#include "engines/cuda/kernels/repack.h"

namespace convgrad::cuda {

// Channels of a folded image, at most.
inline constexpr int kMostFolded = 96;
// Of 16-bit elements.
inline constexpr int kPieceElements = 8;

// A thread has one piece of 16 bytes, or one a plane, of kFoldPixels pixels: its channels' spots are worked out once.
inline constexpr int kFoldThreads = 256, kFoldPixels = 8;
// Pixels that a block has at once.
inline CONVGRAD_BOTH int fold_pixels(const FoldArgs& args) {
  return kFoldThreads / static_cast<int>(args.pieces.divisor);
}

template <class Element>
class Folding {
 public:
  using Args = FoldArgs;
  static constexpr int Threads = kFoldThreads;
  static constexpr unsigned kSharedBytes = 0;

  static CONVGRAD_DEVICE void run(const FoldArgs& args) {
    const int together = fold_pixels(args);
    int row = thread_index();
    const int piece = take(row, args.pieces);
    if (row >= together) return;
    Spot channel[kPieceElements];
    unrolled<kPieceElements>([&](int i) {
      const int number = piece * kPieceElements + i;
      channel[i] = number < args.channels ? folded_channel(args.taps, args.from_strides, number) : nowhere();
    });
    const int first = static_cast<int>(block_index()) * together * kFoldPixels + row;
    for (int i = 0, pixel = first; i < kFoldPixels && pixel < args.pixels; ++i, pixel += together) {
      Piece to[Planes] = {};
      gather(args, pixel, channel, to);
      const std::int64_t at = static_cast<std::int64_t>(pixel) * args.pieces.divisor + piece;
      for (int j = 0; j < Planes; ++j)
        if (j < args.stored) static_cast<Piece*>(args.to)[at + j * (args.plane / kPieceElements)] = to[j];
    }
  }

 private:
  static constexpr int Planes = Repacked<Element>::Planes;
  using From = typename Repacked<Element>::From;
  struct alignas(16) Piece {
    std::uint32_t pair[kPieceElements / 2];
  };

  static CONVGRAD_BOTH Spot nowhere() { return {0, kNowhere, 0, 0}; }

  static CONVGRAD_DEVICE void gather(const FoldArgs& args, int number, const Spot (&channel)[kPieceElements],
                                     Piece (&to)[Planes]) {
    const int extent[3] = {args.taps.axes[0].extent, args.taps.axes[1].extent, args.taps.axes[2].extent};
    const int w = take(number, args.columns), h = take(number, args.rows), d = take(number, args.planes);
    const Spot pixel = folded_pixel(args.taps, args.from_strides, {number, d, h, w});
    unrolled<kPieceElements>([&](int i) {
      const Spot spot = pixel + channel[i];
      std::uint16_t planes[Planes];
      Repacked<Element>::split(inside(spot, extent) ? static_cast<const From*>(args.from)[spot.offset] : From{},
                               planes);
      for (int j = 0; j < Planes; ++j) to[j].pair[i / 2] |= static_cast<std::uint32_t>(planes[j]) << i % 2 * 16;
    });
  }
};

// A thread has kUnfoldChannels results of a pixel, which share their taps. Terms are f32 sums of their own; their
// rounding errors are kept.
inline constexpr int kUnfoldChannels = 4;

template <class Element>
class Unfolding {
 public:
  using Args = UnfoldArgs;
  static constexpr int Threads = 256;
  static constexpr unsigned kSharedBytes = 0;

  static CONVGRAD_DEVICE void run(const UnfoldArgs& args) {
    int number = static_cast<int>(block_index()) * Threads + thread_index();
    if (number >= args.count) return;
    const int channel = take(number, args.parts) * kUnfoldChannels;
    const int w = take(number, args.columns), h = take(number, args.rows), d = take(number, args.planes);
    const Pixel at{number, d, h, w};
    KeepingSum<float> sum[kUnfoldChannels];
    add_taps(args, at, channel, sum);
    auto* const result = static_cast<typename Element::Stored*>(args.result) + offset(args.result_strides, at);
    unrolled<kUnfoldChannels>([&](int i) {
      if (channel + i < args.channels)
        result[(channel + i) * args.result_strides.c] = Element::narrowed(sum[i].value());
    });
  }

 private:
  static CONVGRAD_DEVICE void add_taps(const UnfoldArgs& args, const Pixel& at, int channel,
                                       KeepingSum<float> (&sum)[kUnfoldChannels]) {
    Pixel from{at.n, 0, 0, 0};
    for (int d = 0; d < args.axes[0].filter; ++d) {
      if (!reaches<Way::input_grad>(args.axes[0], args.steps[0], at.d, d, from.d)) continue;
      for (int h = 0; h < args.axes[1].filter; ++h) {
        if (!reaches<Way::input_grad>(args.axes[1], args.steps[1], at.h, h, from.h)) continue;
        const int row = (d * args.axes[1].filter + h) * args.axes[2].filter;
        for (int w = 0; w < args.axes[2].filter; ++w) {
          if (!reaches<Way::input_grad>(args.axes[2], args.steps[2], at.w, w, from.w)) continue;
          const float* const terms = args.sums + offset(args.strides, from) + (row + w) * args.channels + channel;
          unrolled<kUnfoldChannels>([&](int i) {
            if (channel + i < args.channels) sum[i].add(terms[i]);
          });
        }
      }
    }
  }
  static CONVGRAD_BOTH std::int64_t offset(const ImageStrides& s, const Pixel& p) {
    return p.n * s.n + p.d * s.d + p.h * s.h + p.w * s.w;
  }
};

}  // namespace convgrad::cuda
