// Depthwise convolutions in strips: a thread has several neighbouring pixels of a few channels, and loads what the taps
// of these pixels share once.
#pragma once

#include "engines/cuda/kernels/direct.h"

namespace convgrad::cuda {

inline constexpr int kStripThreads = 256;
// Blocks that a multiprocessor has registers for: four, with 64 for each of a thread, or three where ptxas needs more.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
inline constexpr int kStripBlocksOfFour = 3;  // four channels a thread
#else
inline constexpr int kStripBlocksOfFour = 4;
#endif
template <Way way, class Stored, bool Planar, int Channels>
inline constexpr int kStripBlocks = Channels == 4                                          ? kStripBlocksOfFour
                                    : way == Way::forward && Planar && sizeof(Stored) == 2 ? 3
                                                                                           : 4;
// Taps that are taken together, along a strip and across it.
inline constexpr int kStripTaps = 3;
// Terms of a chunk, and of a thread's sum of chunks.
inline constexpr int kStripChunk = 64, kStripBlock = 2048;

// Strips lie along rows of an image where channels are last, and down its columns where they are first: in both,
// neighbouring threads have neighbouring addresses. Pixels `step` apart in the field share fewer of its columns.
// 14 are whole strips of most images' heights, from 14 to 224.
CONVGRAD_BOTH constexpr int strip_pixels(bool planar, bool gathers, std::size_t element_bytes, int step) {
  if (planar && gathers && element_bytes < 8 && step == 1) return 14;
  return (planar && element_bytes < 8 ? 8 : 4) / step;
}
// Pieces of channels that threads of a filter gradient's block have, one each; the others share their strips.
CONVGRAD_BOTH constexpr int strip_lanes(bool planar) { return planar ? 8 : 16; }
// Bytes of a thread's channels where they are whole pieces: 8 of 16 and 32 bits, so that the sums of a strip leave
// registers for half of the threads that a multiprocessor can have. The filter gradient has nine sums for each, and two
// channels.
CONVGRAD_BOTH constexpr int strip_channels(bool gathers, std::size_t element_bytes) {
  return gathers ? 8 / static_cast<int>(element_bytes) : element_bytes < 8 ? 2 : 1;
}
template <bool Planar>
inline constexpr int kAlong = Planar ? 1 : 2;
template <bool Planar>
inline constexpr int kAcross = 3 - kAlong<Planar>;

// The first pixel of a strip, counted in its phase, and where the others are the same.
struct StripPlace {
  int phase, first, across, d, n;
};

template <int Pixels, bool Phases>
CONVGRAD_BOTH StripPlace strip_at(const StripArgs& args, int number) {
  const int low = args.across_low.take(number), strip = args.strips.take(number);
  const int high = args.across_high.take(number), d = args.planes.take(number);
  const int phase = Phases ? args.phase_strips.quotient(strip) : 0;
  return {phase, (strip - phase * static_cast<int>(args.phase_strips.divisor)) * Pixels,
          high * static_cast<int>(args.across_low.divisor) + low, d, number};
}

template <int Axis>
CONVGRAD_BOTH int stride_along(const StripStrides& s) {
  return Axis == 1 ? s.h : s.w;
}

// Neighbouring channels of one pixel or of one tap as they are loaded; 16-bit ones in words of 32, which registers are.
template <class Element, int Channels>
struct StripPiece {
  using Stored = typename Element::Stored;
  using Sum = typename Element::Sum;
  using Word = std::conditional_t<sizeof(Stored) == 2, std::uint32_t, Stored>;
  static constexpr int kPerWord = sizeof(Word) / sizeof(Stored), kWords = (Channels + kPerWord - 1) / kPerWord;
  using InMemory = std::conditional_t<Channels == 1, Stored, Word>;
  // At a multiple of its size.
  struct alignas(Channels * sizeof(Stored)) Whole {
    InMemory words[kWords];
  };
  Word words[kWords] = {};

  static CONVGRAD_BOTH StripPiece at(const Stored* from) {
    const Whole whole = *reinterpret_cast<const Whole*>(from);
    StripPiece piece;
    unrolled<kWords>([&](int i) { piece.words[i] = whole.words[i]; });
    return piece;
  }
  static CONVGRAD_BOTH void store(const Sum (&sum)[Channels], Stored* to) {
    Whole whole;
    unrolled<kWords>([&](int i) {
      Word word = Element::narrowed(sum[i * kPerWord]);
      if constexpr (kPerWord == 2 && Channels > 1)
        word |= static_cast<Word>(Element::narrowed(sum[i * kPerWord + 1])) << 16;
      whole.words[i] = static_cast<InMemory>(word);
    });
    *reinterpret_cast<Whole*>(to) = whole;
  }
  CONVGRAD_BOTH Sum number(int c) const {
    if constexpr (kPerWord == 1)
      return static_cast<Sum>(Element::widened(words[c]));
    else
      return static_cast<Sum>(Element::widened(static_cast<Stored>(words[c / 2] >> c % 2 * 16)));
  }
};

// result[pixel][c] = sum over taps of field[pixel through tap][c] * filter[tap][c], at most kStripChunk taps, in one
// chunk. kStripTaps x kStripTaps of them at a time, in an order that is the same for any number of channels of a
// thread. Channels: of a thread, whose tensors have whole pieces of so many, at multiples of their size.
template <Way way, class Element, bool Planar, int Channels>
class Strips {
 public:
  using Args = StripArgs;
  static constexpr int Threads = kStripThreads,
                       BlocksAtOnce = kStripBlocks<way, typename Element::Stored, Planar, Channels>;
  static constexpr unsigned kSharedBytes = 0;

  static CONVGRAD_DEVICE void run(const StripArgs& args) {
    int position = static_cast<int>(block_index()) * Threads + thread_index();
    if (position >= args.units) return;
    const int inner = args.inner.take(position);
    const int piece = Planar ? position : inner;
    if (way == Way::forward && args.step == 2)
      Work<2>{args, strip_at<pixels(2), false>(args, Planar ? inner : position), piece * Channels}.run();
    else
      Work<1>{args, strip_at < pixels(1), way == Way::input_grad > (args, Planar ? inner : position), piece * Channels}
          .run();
  }

 private:
  using Stored = typename Element::Stored;
  static constexpr int Along = kAlong<Planar>, Across = kAcross<Planar>;
  static CONVGRAD_BOTH constexpr int pixels(int step) { return strip_pixels(Planar, true, sizeof(Stored), step); }
  using Sum = typename Element::Sum;
  using Piece = StripPiece<Element, Channels>;

  // One strip.
  template <int Stride>
  struct Work {
    static constexpr int Pixels = pixels(Stride);
    const StripArgs& args;
    StripPlace place;
    int channel;

    CONVGRAD_DEVICE void run() const {
      if (place.across >= args.across) return;
      const StripPhase phase = args.phases[way == Way::forward ? 0 : place.phase];
      Sum sum[Pixels][Channels] = {};
      for (int d = 0; d < args.axes[0].filter; ++d) {
        int from;
        if (!reaches<way>(args.axes[0], args.strides[0], place.d, d, from)) continue;
        for (TapRow row = first_row(from, d); row.left > 0; row = next_row(row)) add_rows(phase, row, sum);
      }
      store(phase.pixels, sum);
    }

   private:
    // A row of taps: its coordinate across the field, where coordinate 0 along it lies in the image, where its first
    // tap lies in the filter, and how many rows are left with it.
    struct TapRow {
      int across, at, weight, left;
    };
    static constexpr int kOnward = way == Way::forward ? 1 : -1;  // across the field, from one row to the next
    static constexpr int kColumns = (Pixels - 1) * Stride + kStripTaps;

    // Of an input gradient, the taps t with across + pad - t = stride * source.
    CONVGRAD_DEVICE TapRow first_row(int d, int tap_d) const {
      const AxisRule& axis = args.axes[Across];
      const StripStrides& s = args.field_strides;
      int tap = 0, source = place.across * axis.plain.step + axis.plain.origin;
      if (way == Way::input_grad) {
        source = place.across + static_cast<int>(axis.pad);
        tap = args.strides[Across].take(source);
      }
      const int left =
          way == Way::forward ? axis.filter : args.strides[Across].quotient(axis.filter - tap + axis.stride - 1);
      return {source, d * s.d + source * stride_along<Across>(s) + channel * s.c,
              tap_d * args.taps.d + tap * stride_along<Across>(args.taps) + channel, left};
    }
    CONVGRAD_DEVICE TapRow next_row(const TapRow& row) const {
      return {row.across + kStripTaps * kOnward,
              row.at + kStripTaps * kOnward * stride_along<Across>(args.field_strides),
              row.weight + kStripTaps * args.row_step, row.left - kStripTaps};
    }
    CONVGRAD_DEVICE bool exists(const TapRow& row, int a) const {
      return a < row.left &&
             static_cast<unsigned>(row.across + a * kOnward) < static_cast<unsigned>(args.axes[Across].plain.extent);
    }
    CONVGRAD_DEVICE bool within(int at) const { return static_cast<unsigned>(at) < static_cast<unsigned>(args.extent); }
    CONVGRAD_DEVICE void add_rows(const StripPhase& phase, TapRow row, Sum (&sum)[Pixels][Channels]) const {
      row.weight += phase.tap_first * stride_along<Along>(args.taps);
      int first = way == Way::forward ? place.first * Stride + phase.origin : place.first + phase.origin;
      for (int taps = phase.taps; taps > 0; taps -= kStripTaps) {
        const int low = way == Way::forward ? first : first - (kStripTaps - 1);
        if (taps >= 3 && within(low) && within(low + kColumns - 1))
          add_taps<3, true>(row, first, sum);
        else if (taps >= 3)
          add_taps<3, false>(row, first, sum);
        else if (taps == 2)
          add_taps<2, false>(row, first, sum);
        else
          add_taps<1, false>(row, first, sum);
        first += kOnward * kStripTaps;
        row.weight += kStripTaps * args.tap_step;
      }
    }

    // Pixel p reads through tap t of these the column p * Stride + t, or p - t of an input gradient, counted from
    // `first`. Whole: all columns exist.
    template <int Taps, bool Whole>
    CONVGRAD_DEVICE void add_taps(const TapRow& row, int first, Sum (&sum)[Pixels][Channels]) const {
      constexpr int columns = (Pixels - 1) * Stride + Taps;
      if (way == Way::input_grad) first -= Taps - 1;
      const StripStrides& s = args.field_strides;
      const auto* field =
          static_cast<const Stored*>(args.field) + place.n * s.n + (row.at + first * stride_along<Along>(s));
      const auto weight_at = [&](int a, int t) {
        return Piece::at(static_cast<const Stored*>(args.dense) + (row.weight + a * args.row_step + t * args.tap_step));
      };
      const auto add = [&](const Stored* at, const Piece(&weight)[Taps], int k, bool row_there) {
        const bool there = (Whole || within(first + k)) && row_there;
        const Piece column = there ? Piece::at(at) : Piece{};
        unrolled<Pixels>([&](int p) {
          const int t = way == Way::forward ? k - p * Stride : p - k + (Taps - 1);
          if (t < 0 || t >= Taps) return;
          unrolled<Channels>([&](int c) {
            const Sum next = multiply_add(column.number(c), weight[t].number(c), sum[p][c]);
            sum[p][c] = there ? next : sum[p][c];
          });
        });
      };
      if constexpr (Planar) {  // the rows are neighbours in memory: one address serves them
        bool has[kStripTaps];
        Piece weight[kStripTaps][Taps];
        unrolled<kStripTaps>([&](int a) {
          has[a] = exists(row, a);
          unrolled<Taps>([&](int t) { weight[a][t] = has[a] ? weight_at(a, t) : Piece{}; });
        });
        unrolled<columns>([&](int k) {
          unrolled<kStripTaps>([&](int a) { add(field + a * kOnward, weight[a], k, has[a]); });
          field += s.h;
        });
      } else {
        CONVGRAD_UNROLL_NOT for (int a = 0; a < kStripTaps; ++a) {
          if (!exists(row, a)) continue;
          Piece weight[Taps];
          unrolled<Taps>([&](int t) { weight[t] = weight_at(a, t); });
          const Stored* at = field + a * kOnward * s.h;
          unrolled<columns>([&](int k) {
            add(at, weight, k, true);
            at += s.w;
          });
        }
      }
    }

    CONVGRAD_DEVICE void store(int pixels, const Sum (&sum)[Pixels][Channels]) const {
      const StripStrides& s = args.image_strides;
      auto* to = static_cast<Stored*>(args.result) + place.n * s.n +
                 (place.d * s.d + place.across * stride_along<Across>(s) + channel * s.c +
                  (place.phase + place.first * args.spacing) * stride_along<Along>(s));
      unrolled<Pixels>([&](int p) {
        if (place.first + p < pixels) Piece::store(sum[p], to);
        to += args.spacing * stride_along<Along>(s);
      });
    }
  };
};

// sums[slice][tap][c] = sum over the slice's strips of field[pixel through tap][c] * dy[pixel][c]. A thread has
// kStripTaps x kStripTaps neighbouring taps of a few channels; the rows of a block share the strips. Chunks are summed
// in registers, a thread's chunks in shared memory, and there its neighbours' in order.
template <class Element, bool Planar, int Channels>
class StripsFilter {
 public:
  using Args = StripArgs;
  using Sum = typename Element::Sum;
  using Exact = typename Element::Exact;
  static constexpr int Threads = kStripThreads, BlocksAtOnce = sizeof(Sum) == 8 ? 3 : 4;
  static constexpr int Lanes = strip_lanes(Planar), Rows = Threads / Lanes;
  static constexpr int Taps = kStripTaps * kStripTaps, Slots = Taps * Channels;
  static constexpr unsigned kSharedBytes = Threads * Slots * sizeof(Sum);

  static CONVGRAD_DEVICE void run(const StripArgs& args) {
    const int thread = thread_index();
    const int lane = Planar ? thread / Rows : thread % Lanes, row = Planar ? thread % Rows : thread / Lanes;
    int block = static_cast<int>(block_index());
    const int channel = (args.inner.take(block) * Lanes + lane) * Channels;
    Tile tile;
    tile.along = args.tiles_along.take(block) * kStripTaps;
    tile.across = args.tiles_across.take(block) * kStripTaps;
    tile.d = args.tiles_d.take(block);
    unrolled<Slots>([&](int slot) { part(row, slot, lane) = 0; });
    if (channel < args.channels) {
      if (args.step == 2)
        Work<2>{args, tile, channel, row, lane}.run(block);
      else
        Work<1>{args, tile, channel, row, lane}.run(block);
    }
    sync_block();
    for (int i = thread; i < Slots * Lanes; i += Threads) store(args, tile, block, i);
  }

 private:
  using Stored = typename Element::Stored;
  static constexpr int Along = kAlong<Planar>, Across = kAcross<Planar>;
  static CONVGRAD_BOTH constexpr int pixels(int step) { return strip_pixels(Planar, false, sizeof(Stored), step); }
  using Piece = StripPiece<Element, Channels>;

  // The first of a thread's taps.
  struct Tile {
    int d, across, along;
  };

  static CONVGRAD_DEVICE Sum& part(int row, int slot, int lane) {
    return shared<Sum>(static_cast<unsigned>((row * Slots + slot) * Lanes + lane) * sizeof(Sum));
  }

  // The block's sum number i: of all its rows.
  static CONVGRAD_DEVICE void store(const StripArgs& args, const Tile& tile, int slice, int i) {
    const int lane = i % Lanes, slot = i / Lanes, tap = slot / Channels;
    const int a = tile.across + tap / kStripTaps, u = tile.along + tap % kStripTaps;
    const int team = args.inner.remainder(static_cast<int>(block_index()));
    const int channel = (team * Lanes + lane) * Channels + slot % Channels;
    if (a >= args.axes[Across].filter || u >= args.axes[Along].filter || channel >= args.channels) return;
    typename SumOf<Exact>::Type total;
    for (int row = 0; row < Rows; ++row)
      total.add(shared<const Sum>(static_cast<unsigned>((row * Slots + slot) * Lanes + lane) * sizeof(Sum)));
    const int h = Planar ? u : a, w = Planar ? a : u, rows = args.axes[1].filter, columns = args.axes[2].filter;
    const std::int64_t taps = static_cast<std::int64_t>(args.axes[0].filter) * rows * columns;
    static_cast<Exact*>(args.result)[(slice * taps + (tile.d * rows + h) * columns + w) * args.channels + channel] =
        total.value();
  }

  template <int Stride>
  struct Work {
    static constexpr int Pixels = pixels(Stride);
    const StripArgs& args;
    const Tile& tile;
    int channel, row, lane;

    CONVGRAD_DEVICE void run(int slice) const {
      const int begin = slice * args.slice_strips, left = args.units - begin;
      const int end = left < args.slice_strips ? args.units : begin + args.slice_strips;
      Sum chunk[Taps][Channels] = {};
      int in_chunk = 0;
      for (int number = begin + row; number < end; number += Rows) {
        add_strip(strip_at<Pixels, false>(args, number), chunk);
        if (++in_chunk == kStripChunk / Pixels) fold(chunk, in_chunk);
      }
      fold(chunk, in_chunk);
    }

   private:
    CONVGRAD_DEVICE void fold(Sum (&chunk)[Taps][Channels], int& in_chunk) const {
      unrolled<Taps>([&](int tap) {
        unrolled<Channels>([&](int c) {
          part(row, tap * Channels + c, lane) += chunk[tap][c];
          chunk[tap][c] = 0;
        });
      });
      in_chunk = 0;
    }

    CONVGRAD_DEVICE bool within(int at) const { return static_cast<unsigned>(at) < static_cast<unsigned>(args.extent); }
    CONVGRAD_DEVICE void add_strip(const StripPlace& place, Sum (&chunk)[Taps][Channels]) const {
      int d;
      if (place.across >= args.across || !reaches<Way::forward>(args.axes[0], args.strides[0], place.d, tile.d, d))
        return;
      const int first = place.first * Stride + args.phases[0].origin + tile.along;
      const bool whole = within(first) && within(first + kColumns - 1) && args.phases[0].pixels - place.first >= Pixels;
      if (whole)
        add_taps<true>(place, d, first, chunk);
      else
        add_taps<false>(place, d, first, chunk);
    }
    // Whole: all pixels of the strip, and all columns that they read, exist.
    template <bool Whole>
    CONVGRAD_DEVICE void add_taps(const StripPlace& place, int d, int first, Sum (&chunk)[Taps][Channels]) const {
      const StripStrides& s = args.image_strides;
      const StripStrides& f = args.field_strides;
      const int count = args.phases[0].pixels - place.first;
      const auto* dy = static_cast<const Stored*>(args.dense) + place.n * s.n +
                       (place.d * s.d + place.across * stride_along<Across>(s) + place.first * stride_along<Along>(s) +
                        channel * s.c);
      Piece signal[Pixels];
      unrolled<Pixels>([&](int p) {
        signal[p] = Whole || p < count ? Piece::at(dy) : Piece{};
        dy += stride_along<Along>(s);
      });
      const Axis& axis = args.axes[Across].plain;
      const int across = place.across * axis.step + axis.origin + tile.across;
      const auto has_row = [&](int a) {
        return static_cast<unsigned>(across + a) < static_cast<unsigned>(axis.extent);
      };
      const auto* field = static_cast<const Stored*>(args.field) + place.n * f.n +
                          (d * f.d + across * stride_along<Across>(f) + first * stride_along<Along>(f) + channel * f.c);
      const auto add = [&](const Stored* at, int k, int a) {
        const bool there = (Whole || within(first + k)) && has_row(a);
        const Piece column = there ? Piece::at(at) : Piece{};
        unrolled<Pixels>([&](int p) {
          const int t = k - p * Stride;
          if (t < 0 || t >= kStripTaps) return;
          unrolled<Channels>([&](int c) {
            Sum& sum = chunk[a * kStripTaps + t][c];
            const Sum next = multiply_add(column.number(c), signal[p].number(c), sum);
            sum = there && (Whole || p < count) ? next : sum;
          });
        });
      };
      if constexpr (Planar) {  // the three rows are neighbours in memory: one address serves them
        unrolled<kColumns>([&](int k) {
          unrolled<kStripTaps>([&](int a) { add(field + a, k, a); });
          field += f.h;
        });
      } else {
        unrolled<kStripTaps>([&](int a) {
          const Stored* at = field + a * f.h;
          unrolled<kColumns>([&](int k) {
            add(at, k, a);
            at += f.w;
          });
        });
      }
    }
    static constexpr int kColumns = (Pixels - 1) * Stride + kStripTaps;
  };
};

}  // namespace convgrad::cuda
