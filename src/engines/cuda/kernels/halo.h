// Gathers of few channels: the pixels of a patch are loaded once, with the halo that its taps reach into, and the
// filter stays in shared memory. A tap is another start of the same box: the product's descriptor says where its rows
// begin and how far 8 pixels of one row of the image are from the next 8.
#pragma once

#include "engines/cuda/kernels/boxes.h"
#include "engines/cuda/kernels/store.h"
#include "engines/cuda/kernels/unrolled.h"

namespace convgrad::cuda {

// A tile has the 8 x 8 pixels of a patch. Two warpgroups of a block each walk through the planes of columns of patches
// of their own, over a ring of boxes: a plane is loaded once for all the planes of results that it reaches.
inline constexpr int kHaloSide = 8, kHaloRows = kHaloSide * kHaloSide, kHaloTeams = 2;

template <class S>
class HaloConvolve {
 public:
  using Args = ConvArgs;
  static constexpr int Threads = S::Threads;
  static_assert(S::Rows == kHaloRows && S::Consumers == kHaloTeams * 128 && S::way != Way::filter_grad);
  static_assert(S::Columns <= 64, "one bit for each sum of a thread");

  static CONVGRAD_BOTH unsigned shared_bytes(const ConvArgs& args) {
    return Places(args).empty + kHaloTeams * static_cast<unsigned>(args.stages) * 8;
  }

  static CONVGRAD_DEVICE void run(const ConvArgs& args) {
    const Places at(args);
    const Share share(args, static_cast<int>(block_index()));
    const int thread = thread_index();
    if (thread == 0) start_barriers(args, at);
    sync_block();
    if (thread >= S::Consumers) {
      give_registers<40>();
      produce(args, at, share, thread - S::Consumers);
    } else {
      take_registers<232>();
      consume(args, at, share, thread);
    }
  }

 private:
  using Work = typename S::Work;
  static constexpr int Terms = S::Terms, kChunkTaps = kChunkTerms / Terms;
  // A tap of the filter is one box: input channels x the output channels of the tile (forward), or output channels by
  // rows of input channels.
  static constexpr bool kTurned = S::dense_major == Major::across;
  static constexpr unsigned kFilterRow = kTurned ? S::Columns * 2 : S::RowBytes, kTapBytes = Terms * S::Columns * 2;
  // Rows of results wait here to be stored; 16 bytes more than they need, against bank conflicts.
  static constexpr unsigned kResultPitch = S::Columns * 2 + 16, kResultBytes = kHaloRows * kResultPitch;

  // Where a block's shared memory holds what. Boxes start at multiples of 1024 bytes, as their swizzle has it.
  struct Places {
    unsigned slot, ring, results, offsets, filter_full, full, empty;
    unsigned box_bytes;
    int slots;

    CONVGRAD_BOTH explicit Places(const ConvArgs& args) : slots(args.stages) {
      box_bytes = static_cast<unsigned>(args.halo.box_width * args.halo.box_height * S::RowBytes);
      slot = (box_bytes + 1023) / 1024 * 1024;
      ring = static_cast<unsigned>(args.halo.taps) * kTapBytes;
      results = ring + kHaloTeams * static_cast<unsigned>(slots) * slot;
      offsets = results + kHaloTeams * kResultBytes;
      filter_full = offsets + kHaloTeams * kHaloRows * 8;
      full = filter_full + 8;
      empty = full + kHaloTeams * static_cast<unsigned>(slots) * 8;
    }
    CONVGRAD_BOTH unsigned box(int team, int index) const {
      return ring + static_cast<unsigned>(team * slots + index) * slot;
    }
    CONVGRAD_BOTH unsigned full_at(int team, int index) const {
      return full + static_cast<unsigned>(team * slots + index) * 8;
    }
    CONVGRAD_BOTH unsigned empty_at(int team, int index) const {
      return empty + static_cast<unsigned>(team * slots + index) * 8;
    }
  };

  // Part of a column: its first patch, and how many planes follow.
  struct Column {
    int patch, planes;
  };

  // A block's columns n, phase and group are those of the tiles `first`, `first` + `step` patches ...
  struct Share {
    int n_tile, rest, worker;

    CONVGRAD_DEVICE Share(const ConvArgs& args, int block) {
      n_tile = args.n_tiles.remainder(block);
      const int number = args.n_tiles.quotient(block);
      worker = args.halo.workers.remainder(number);
      rest = args.halo.workers.quotient(number);
    }
    // The number of a patch's tile, as a block of its own would have it.
    CONVGRAD_DEVICE int tile(const ConvArgs& args, int patch) const {
      return (rest * static_cast<int>(args.m_tiles.divisor) + patch) * static_cast<int>(args.n_tiles.divisor) + n_tile;
    }
    // visit(column) for every column of a team.
    template <class Visit>
    CONVGRAD_DEVICE void each_column(const ConvArgs& args, int team, const Visit& visit) const {
      const Halo& halo = args.halo;
      const int all_planes = static_cast<int>(args.patches.planes.divisor);
      const int step = static_cast<int>(halo.workers.divisor) * kHaloTeams;
      for (int i = worker * kHaloTeams + team; i < halo.columns; i += step) {
        const int part = halo.plane_patches.quotient(i), image = halo.parts.quotient(part);
        const int plane = halo.parts.remainder(part) * halo.planes, left = all_planes - plane;
        visit(Column{(image * all_planes + plane) * static_cast<int>(halo.plane_patches.divisor) +
                         halo.plane_patches.remainder(i),
                     left < halo.planes ? left : halo.planes});
      }
    }
  };

  // The taps of one axis in a box: the box starts `low` before the pixel's own coordinate, tap u lies at first + u
  // step.
  struct Reach {
    int taps, low, first, step, span;
    CONVGRAD_DEVICE explicit Reach(const Axis& axis) : taps(axis.taps), step(axis.reach) {
      const int far = (axis.taps - 1) * axis.reach;
      low = axis.origin + (far < 0 ? far : 0);
      first = far < 0 ? -far : 0;
      span = (far < 0 ? -far : far) + 1;
    }
  };

  static CONVGRAD_DEVICE void start_barriers(const ConvArgs& args, const Places& at) {
    barrier_init(at.filter_full, 1);
    for (int slot = 0; slot < kHaloTeams * args.stages; ++slot) {
      barrier_init(at.full_at(0, slot), 1);
      barrier_init(at.empty_at(0, slot), 4);
    }
    barriers_ready();
  }

  // A warp for each team's ring, and one for the filter.
  static CONVGRAD_DEVICE void produce(const ConvArgs& args, const Places& at, const Share& share, int thread) {
    const int warp = thread / 32;
    if (warp == kHaloTeams) load_filter(args, at, share, thread % 32);
    if (warp < kHaloTeams && thread % 32 == 0) fill_ring(args, at, share, warp);
  }

  static CONVGRAD_DEVICE void load_filter(const ConvArgs& args, const Places& at, const Share& share, int lane) {
    const Work job(args, share.tile(args, 0));
    const int taps = job.steps();
    if (lane == 0) barrier_expect(at.filter_full, static_cast<unsigned>(taps) * kTapBytes);
    sync_warp();
    for (int tap = lane; tap < taps; tap += 32)
      load_box(static_cast<unsigned>(tap) * kTapBytes, args.maps[1], at.filter_full,
               filter_box_start<S>(args, job, job.column_at(tap * Terms), 0).at);
  }

  static CONVGRAD_DEVICE void fill_ring(const ConvArgs& args, const Places& at, const Share& share, int team) {
    Turn turn;
    share.each_column(args, team, [&](const Column& column) {
      const Work job(args, share.tile(args, column.patch));
      if (job.steps() == 0) return;
      const Pixel& corner = job.corner();
      const Reach d(job.axis(0)), h(job.axis(1)), w(job.axis(2));
      for (int plane = 0; plane < column.planes + d.span - 1; ++plane, turn.next(args.stages)) {
        barrier_wait(at.empty_at(team, turn.slot), turn.parity ^ 1);
        barrier_expect(at.full_at(team, turn.slot), at.box_bytes);
        load_box(
            at.box(team, turn.slot), args.maps[0], at.full_at(team, turn.slot),
            {job.group() * args.field_group, corner.w + w.low, corner.h + h.low, corner.d + d.low + plane, corner.n});
      }
    });
  }

  static CONVGRAD_DEVICE void consume(const ConvArgs& args, const Places& at, const Share& share, int thread) {
    const int team = thread / 128;
    Walker self(args, at, team, thread % 128);
    bool waited = false;
    share.each_column(args, team, [&](const Column& column) {
      const Work job(args, share.tile(args, column.patch));
      if (job.steps() > 0 && !waited) barrier_wait(at.filter_full, 0);
      waited = true;
      self.run(job, column, share);
    });
  }

  // 128 threads with the sums of one patch at a time.
  class Walker {
   public:
    CONVGRAD_DEVICE Walker(const ConvArgs& args, const Places& at, int team, int thread)
        : args_(args), at_(at), team_(team), thread_(thread) {}

    CONVGRAD_DEVICE void run(const Work& job, const Column& column, const Share& share) {
      const Reach d(job.axis(0));
      const bool empty = job.steps() == 0;
      for (int plane = 0; plane < column.planes; ++plane) {
        unrolled<S::Columns / 2>([&](int i) { sums_[i] = 0; });
        if (!empty) {
          wait_for(plane == 0 ? d.span : 1);
          multiply(job);
          release(plane == column.planes - 1 ? d.span : 1);
        }
        store(share.tile(args_, column.patch + plane * static_cast<int>(args_.halo.plane_patches.divisor)));
      }
    }

   private:
    CONVGRAD_DEVICE void wait_for(int boxes) {
      for (int i = 0; i < boxes; ++i, ready_.next(at_.slots))
        barrier_wait(at_.full_at(team_, ready_.slot), ready_.parity);
    }
    CONVGRAD_DEVICE void release(int boxes) {
      for (int i = 0; i < boxes; ++i) {
        if (thread_ % 32 == 0) barrier_arrive(at_.empty_at(team_, oldest_));
        if (++oldest_ == at_.slots) oldest_ = 0;
      }
    }

    // Taps in the order of their numbers, a chunk at a time. Between the products of a chunk stands no branch: the
    // compiler would wait for each of them.
    CONVGRAD_DEVICE void multiply(const Work& job) {
      Taps taps(job, *this);
      const int all = job.steps(), rest = all % kChunkTaps;  // of a chunk of two: at most one
      for (int left = all / kChunkTaps; left > 0; --left) {
        warpgroup_fence();
        unrolled<kChunkTaps>([&](int each) { multiply_tap(taps.next(), taps.pitch, each > 0); });
        end_chunk();
      }
      if (rest == 0) return;
      warpgroup_fence();
      multiply_tap(taps.next(), taps.pitch, false);
      end_chunk();
    }

    // Where a tap's pixels and its part of the filter start.
    struct Operands {
      unsigned field, filter;
    };
    // One tap after another, w fastest.
    struct Taps {
      const Walker& walker;
      const Reach d, h, w;
      const unsigned pitch;  // bytes from one row of a box to the next
      int td = 0, th = 0, tw = 0;
      unsigned filter = 0;

      CONVGRAD_DEVICE Taps(const Work& job, const Walker& of)
          : walker(of),
            d(job.axis(0)),
            h(job.axis(1)),
            w(job.axis(2)),
            pitch(static_cast<unsigned>(of.args_.halo.box_width * S::RowBytes)) {}

      CONVGRAD_DEVICE Operands next() {
        const int plane = walker.oldest_ + d.first + td * d.step;
        const int slot = plane >= walker.at_.slots ? plane - walker.at_.slots : plane;
        const Operands found{walker.at_.box(walker.team_, slot) + static_cast<unsigned>(h.first + th * h.step) * pitch +
                                 static_cast<unsigned>(w.first + tw * w.step) * S::RowBytes,
                             filter};
        filter += kTapBytes;
        const bool row_ends = ++tw == w.taps;
        tw = row_ends ? 0 : tw;
        th += row_ends;
        const bool plane_ends = th == h.taps;
        th = plane_ends ? 0 : th;
        td += plane_ends;
        return found;
      }
    };

    CONVGRAD_DEVICE void multiply_tap(const Operands& at, unsigned pitch, bool goes_on) {
      unrolled<Terms / 16>([&](int step) {
        const auto term = static_cast<unsigned>(16 * step);
        warpgroup_multiply<typename S::Element::Tag, S::Columns, false, kTurned>(
            chunk_, descriptor(at.field + term * 2, 16, pitch, S::RowBytes),
            descriptor(at.filter + term * (kTurned ? kFilterRow : 2), 16, 8 * kFilterRow, kFilterRow),
            step > 0 || goes_on);
      });
    }
    CONVGRAD_DEVICE void end_chunk() {
      warpgroup_commit();
      warpgroup_wait<0>();
      unrolled<S::Columns / 2>([&](int i) { sums_[i] += chunk_[i]; });
    }

    // Where sum i of this thread belongs in the patch.
    CONVGRAD_DEVICE int row(int i) const { return 16 * (thread_ / 32) + thread_ % 32 / 4 + i / 2 % 2 * 8; }
    CONVGRAD_DEVICE int column(int i) const { return i / 4 * 8 + 2 * (thread_ % 4) + i % 2; }

    CONVGRAD_DEVICE std::int64_t& offset(int m) const {
      return shared<std::int64_t>(at_.offsets + static_cast<unsigned>(team_ * kHaloRows + m) * 8);
    }
    CONVGRAD_DEVICE unsigned result_at(int m, int n) const {
      return at_.results + static_cast<unsigned>(team_) * kResultBytes + static_cast<unsigned>(m) * kResultPitch +
             static_cast<unsigned>(n) * 2;
    }

    // From registers to shared memory, rounded, so that neighbouring threads store what lies together. Sums that are
    // not finite are taken again once all the others are out of their registers.
    CONVGRAD_DEVICE void store(int tile) {
      const Work job(args_, tile);
      if (thread_ < kHaloRows) offset(thread_) = job.result_m(thread_);
      std::uint32_t odd = 0;
      unrolled<S::Columns / 2>([&](int i) {
        shared<std::uint16_t>(result_at(row(i), column(i))) = S::Element::narrowed(sums_[i]);
        odd |= static_cast<std::uint32_t>(!is_finite(sums_[i])) << i;
      });
      for (int i = 0; odd != 0; ++i, odd >>= 1)
        if ((odd & 1) != 0 && job.result_m(row(i)) >= 0 && job.result_n(column(i)) >= 0)
          shared<std::uint16_t>(result_at(row(i), column(i))) =
              S::Element::narrowed(by_definition<S>(args_, tile, row(i), column(i)));
      sync_some(2 + team_, 128);
      if (args_.image_strides.c == 1 && args_.results % 8 == 0)
        store_rows(job);
      else
        store_elements(job);
      sync_some(2 + team_, 128);
    }
    // Rows of channels, 16 bytes at a time where they are aligned.
    CONVGRAD_DEVICE void store_rows(const Work& job) const {
      struct alignas(16) Piece {
        std::uint16_t v[8];
      };
      constexpr int pieces = S::Columns / 8;
      for (int i = thread_; i < kHaloRows * pieces; i += 128) {
        const int m = i / pieces, n = i % pieces * 8;
        const std::int64_t to = offset(m);
        if (to < 0 || job.result_n(n) < 0) continue;
        auto* result = static_cast<std::uint16_t*>(args_.result) + to + job.result_n(n);
        const Piece piece = shared<const Piece>(result_at(m, n));
        if (reinterpret_cast<std::uintptr_t>(result) % 16 == 0)
          *reinterpret_cast<Piece*>(result) = piece;
        else
          for (int each = 0; each < 8; ++each) result[each] = piece.v[each];
      }
    }
    CONVGRAD_DEVICE void store_elements(const Work& job) const {
      const bool rows_fastest = args_.image_strides.c != 1;
      for (int i = thread_; i < kHaloRows * S::Columns; i += 128) {
        const int m = rows_fastest ? i % kHaloRows : i / S::Columns, n = rows_fastest ? i / kHaloRows : i % S::Columns;
        const std::int64_t to = offset(m), column = job.result_n(n);
        if (to >= 0 && column >= 0)
          static_cast<std::uint16_t*>(args_.result)[to + column] = shared<const std::uint16_t>(result_at(m, n));
      }
    }

    const ConvArgs& args_;
    const Places& at_;
    int team_, thread_;
    Turn ready_;      // the next box to wait for
    int oldest_ = 0;  // slot of the first box that the present patch reads
    float chunk_[S::Columns / 2] = {}, sums_[S::Columns / 2] = {};
  };
};

}  // namespace convgrad::cuda
