// Filter gradients of few channels: the pixels of a patch are loaded once, with the halo that all taps reach into. A
// warpgroup keeps the sums of several tiles, each a tap or two, in registers, and multiplies every patch for all of
// them.
#pragma once

#include "engines/cuda/kernels/halo.h"

namespace convgrad::cuda {

// A tile has 64 rows (tap, channel): one tap of rows of 128 bytes, two of rows of 64. A term is a pixel of a patch.
template <class Element_, int Columns_, int RowBytes_, int Tiles_>
struct HaloFilterShape {
  static constexpr Way way = Way::filter_grad;
  using Element = Element_;
  using Sum = float;
  static constexpr int Rows = 64, Columns = Columns_, RowBytes = RowBytes_, Terms = kHaloRows;
  static constexpr int Tiles = Tiles_, BlockTiles = kHaloTeams * Tiles;  // of a warpgroup, of a block
  static constexpr int Consumers = kHaloTeams * 128, Threads = Consumers + kProducers;
  using Work = Job<way, Rows, Columns, Terms>;
};

template <class S>
class HaloFilter {
 public:
  using Args = ConvArgs;
  static constexpr int Threads = S::Threads;

  static CONVGRAD_BOTH unsigned shared_bytes(const ConvArgs& args) {
    return Places(args).empty + static_cast<unsigned>(args.stages) * 8;
  }

  static CONVGRAD_DEVICE void run(const ConvArgs& args) {
    const Places at(args);
    const Share share(args, static_cast<int>(block_index()));
    const int thread = thread_index();
    if (thread == 0) start_barriers(args, at);
    sync_block();
    if (thread >= S::Consumers) {
      give_registers<40>();
      if (thread == S::Consumers) produce(args, at, share);
    } else {
      take_registers<232>();
      Walker(args, at, share, thread).run();
    }
  }

 private:
  using Work = typename S::Work;
  static constexpr unsigned kDenseRow = S::Columns * 2, kDenseBytes = kHaloRows * kDenseRow;
  // A tile of sums: rows are 16 bytes longer than they need be, against bank conflicts.
  static constexpr int kTilePitch = S::Columns + 4;
  static constexpr unsigned kTileBytes = S::Rows * kTilePitch * 4;
  static constexpr int kTapsEach = 128 / S::RowBytes;
  static constexpr int kBlockSteps = kBlockTerms / S::Terms;
  static_assert(S::Terms == kChunkTerms, "a patch is a chunk");

  // Shared memory: stages of a box and the patch of dy, the tiles of sums, the rows' offsets, barriers. The tiles may
  // lie on the stages where a sum has one block only.
  struct Places {
    unsigned box_bytes, dense, stage, tiles, offsets, full, empty;

    CONVGRAD_BOTH explicit Places(const ConvArgs& args) {
      const Halo& halo = args.halo;
      box_bytes = static_cast<unsigned>(halo.box_width * halo.box_height * halo.box_depth * S::RowBytes);
      dense = (box_bytes + 1023) / 1024 * 1024;
      stage = dense + kDenseBytes;
      tiles = static_cast<unsigned>(args.tile_at);
      const unsigned stages = static_cast<unsigned>(args.stages) * stage;
      const unsigned sums = tiles + S::BlockTiles * kTileBytes;
      offsets = stages > sums ? stages : sums;
      full = offsets + kHaloTeams * S::Rows * 8;
      empty = full + static_cast<unsigned>(args.stages) * 8;
    }
  };

  // A block's columns n, group and slice, and the first of its tiles. A box has the planes that its taps reach.
  struct Share {
    int n_tile, first, rest;

    CONVGRAD_DEVICE Share(const ConvArgs& args, int block) {
      n_tile = args.n_tiles.remainder(block);
      const int number = args.n_tiles.quotient(block);
      first = args.halo.workers.remainder(number) * S::BlockTiles;
      rest = args.halo.workers.quotient(number);
    }
    // The number of a tile, as a block of its own would have it.
    CONVGRAD_DEVICE int tile(const ConvArgs& args, int row_tile) const {
      return (rest * static_cast<int>(args.m_tiles.divisor) + row_tile) * static_cast<int>(args.n_tiles.divisor) +
             n_tile;
    }
    CONVGRAD_DEVICE int first_plane(const Work& job) const { return job.column_at(first * S::Rows).d; }
  };

  static CONVGRAD_DEVICE void start_barriers(const ConvArgs& args, const Places& at) {
    for (int slot = 0; slot < args.stages; ++slot) {
      barrier_init(at.full + static_cast<unsigned>(slot) * 8, 1);
      barrier_init(at.empty + static_cast<unsigned>(slot) * 8, S::Consumers / 32);
    }
    barriers_ready();
  }

  static CONVGRAD_DEVICE void produce(const ConvArgs& args, const Places& at, const Share& share) {
    const Work job(args, share.tile(args, share.first));
    const int steps = job.steps();
    Turn turn;
    for (int step = 0; step < steps; ++step, turn.next(args.stages)) {
      const Pixel p = job.term_corner(step);
      const unsigned stage = static_cast<unsigned>(turn.slot) * at.stage;
      const unsigned full = at.full + static_cast<unsigned>(turn.slot) * 8;
      barrier_wait(at.empty + static_cast<unsigned>(turn.slot) * 8, turn.parity ^ 1);
      barrier_expect(full, at.box_bytes + kDenseBytes);
      load_box(stage, args.maps[0], full,
               {job.group() * args.field_group, p.w + job.axis(2).origin, p.h + job.axis(1).origin,
                p.d + job.axis(0).origin + share.first_plane(job) * job.axis(0).reach, p.n});
      load_box(stage + at.dense, args.maps[1], full, {job.group() * args.dense_group + job.n0(), p.w, p.h, p.d, p.n});
    }
  }

  // 128 threads with the sums of their tiles. A tile behind the last is the last once more, and is not stored.
  class Walker {
   public:
    CONVGRAD_DEVICE Walker(const ConvArgs& args, const Places& at, const Share& share, int thread)
        : args_(args), at_(at), share_(share), team_(thread / 128), thread_(thread % 128) {
      const Work job(args, share.tile(args, share.first));
      unrolled<S::Tiles>([&](int i) { windows_[i] = window(job, row_tile(i)); });
    }

    CONVGRAD_DEVICE void run() {
      const int steps = Work(args_, share_.tile(args_, share_.first)).steps();
      Turn turn;
      bool first = true;
      for (int step = 0; step < steps; ++step, turn.next(args_.stages)) {
        barrier_wait(at_.full + static_cast<unsigned>(turn.slot) * 8, turn.parity);
        multiply(static_cast<unsigned>(turn.slot) * at_.stage);
        sync_warp();
        if (thread_ % 32 == 0) barrier_arrive(at_.empty + static_cast<unsigned>(turn.slot) * 8);
        if (step % kBlockSteps == kBlockSteps - 1 && step + 1 < steps) {
          end_block(first);
          first = false;
        }
      }
      sync_some(2, S::Consumers);  // the tiles may lie where the stages did
      end_block(first);
      store();
    }

   private:
    // Where a tile's rows start in a box, and how far its second tap is from the first.
    struct Window {
      unsigned start, second;
    };
    CONVGRAD_DEVICE unsigned place(const typename Work::Column& tap, const Work& job) const {
      const Halo& halo = args_.halo;
      const int plane = (tap.d - share_.first_plane(job)) * job.axis(0).reach;
      const int row = plane * halo.box_height + tap.h * job.axis(1).reach;
      return static_cast<unsigned>(row * halo.box_width + tap.w * job.axis(2).reach) * S::RowBytes;
    }
    CONVGRAD_DEVICE Window window(const Work& job, int row_tile) const {
      const int last = static_cast<int>(args_.m_tiles.divisor) - 1,
                flat = (row_tile < last ? row_tile : last) * S::Rows;
      const unsigned start = place(job.column_at(flat), job);
      const auto second = job.column_at(flat + S::Rows / kTapsEach);
      return {start, kTapsEach == 2 && second.there ? place(second, job) - start : 0};
    }
    CONVGRAD_DEVICE int row_tile(int i) const { return share_.first + team_ * S::Tiles + i; }

    // Both operands are contiguous across the sum: 16 terms are two rows of 8 pixels.
    CONVGRAD_DEVICE void multiply(unsigned stage) {
      const unsigned pitch = static_cast<unsigned>(args_.halo.box_width * S::RowBytes);
      unrolled<S::Tiles>([&](int i) {
        warpgroup_fence();
        unrolled<S::Terms / 16>([&](int step) {
          const auto rows = static_cast<unsigned>(2 * step);
          warpgroup_multiply<typename S::Element::Tag, S::Columns, true, true>(
              chunk_, descriptor(stage + windows_[i].start + rows * pitch, windows_[i].second, pitch, S::RowBytes),
              descriptor(stage + at_.dense + rows * 8 * kDenseRow, 16, 8 * kDenseRow, kDenseRow), step > 0);
        });
        warpgroup_commit();
        warpgroup_wait<0>();
        unrolled<S::Columns / 2>([&](int each) { sums_[i][each] += chunk_[each]; });
      });
    }

    CONVGRAD_DEVICE unsigned sum_at(int i, int m, int n) const {
      return at_.tiles + static_cast<unsigned>(team_ * S::Tiles + i) * kTileBytes +
             static_cast<unsigned>(m * kTilePitch + n) * 4;
    }
    CONVGRAD_DEVICE void end_block(bool first) {
      const int warp = thread_ / 32, lane = thread_ % 32;
      unrolled<S::Tiles>([&](int i) {
        unrolled<S::Columns / 2>([&](int each) {
          float& sum = shared<float>(
              sum_at(i, 16 * warp + lane / 4 + each / 2 % 2 * 8, each / 4 * 8 + 2 * (lane % 4) + each % 2));
          sum = first ? sums_[i][each] : sum + sums_[i][each];
          sums_[i][each] = 0;
        });
      });
    }

    CONVGRAD_DEVICE std::int64_t& offset(int m) const {
      return shared<std::int64_t>(at_.offsets + static_cast<unsigned>(team_ * S::Rows + m) * 8);
    }
    CONVGRAD_DEVICE void store() const {
      for (int i = 0; i < S::Tiles; ++i) {
        if (row_tile(i) >= static_cast<int>(args_.m_tiles.divisor)) return;
        const int tile = share_.tile(args_, row_tile(i));
        const Work job(args_, tile);
        sync_some(3 + team_, 128);
        if (thread_ < S::Rows) offset(thread_) = job.result_m(thread_);
        sync_some(3 + team_, 128);
        for (int each = thread_; each < S::Rows * S::Columns; each += 128) {
          const int m = each / S::Columns, n = each % S::Columns;
          const std::int64_t row = offset(m), column = job.result_n(n);
          if (row < 0 || column < 0) continue;
          const float sum = shared<const float>(sum_at(i, m, n));
          store_sum<S>(args_, job, row + column, is_finite(sum) ? sum : by_definition<S>(args_, tile, m, n));
        }
      }
    }

    const ConvArgs& args_;
    const Places& at_;
    const Share& share_;
    int team_, thread_;
    Window windows_[S::Tiles];
    float chunk_[S::Columns / 2] = {}, sums_[S::Tiles][S::Columns / 2] = {};
  };
};

}  // namespace convgrad::cuda
