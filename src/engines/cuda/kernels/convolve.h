// The kernel of every convolution: producers fill a ring of stages, consumers multiply them and keep the sums.
#pragma once

#include "engines/cuda/kernels/store.h"

namespace convgrad::cuda {

// S is the shape, Loader fills stages (Gather, Boxes), Tile multiplies them (F64Tile, FmaTile, MmaTile, WarpgroupTile):
// multiply_stage() adds a stage to the sums of a chunk, which it starts anew itself where it kOverwrites.
template <class S, template <class> class Loader, class Tile>
class Convolve {
 public:
  using Args = ConvArgs;
  static constexpr int Threads = S::Threads;

  static CONVGRAD_BOTH unsigned shared_bytes(const ConvArgs& args) { return S::shared_bytes(args); }

  static CONVGRAD_DEVICE void run(const ConvArgs& args) {
    const typename S::Work job(args, static_cast<int>(block_index()));
    const SharedPlaces<S> at(args);
    const int thread = thread_index();
    if (thread == 0) start_barriers(args, at);
    sync_block();
    if (thread >= S::Consumers) {
      if constexpr (kLendsRegisters) give_registers<kProducerRegisters>();
      Loader<S>::run(args, job, at, thread - S::Consumers);
    } else {
      if constexpr (kLendsRegisters) take_registers<kConsumerRegisters>();
      consume(args, job, at, thread);
    }
  }

 private:
  // 384 threads are started with 168 registers each, 64512 in all: what producers leave, consumers take.
  static constexpr bool kLendsRegisters = S::Threads == 384;
  static constexpr int kProducerRegisters = Loader<S>::registers;
  static constexpr int kConsumerRegisters = (64512 - kProducers * kProducerRegisters) / 256;
  static constexpr int kChunkSteps = kChunkTerms / S::Terms, kBlockSteps = kBlockTerms / S::Terms;

  // Of products of planes the first is a sum of its own: the others are smaller by 2^8, and adding them to it one by
  // one would take as many roundings.
  static CONVGRAD_DEVICE bool ends_chunk(int step, int product, int products) {
    if (kHasPlanes<typename S::Element>) return product == 0 || product == products - 1;
    return step % kChunkSteps == kChunkSteps - 1;
  }

  static CONVGRAD_DEVICE void start_barriers(const ConvArgs& args, const SharedPlaces<S>& at) {
    for (int slot = 0; slot < args.stages; ++slot) {
      barrier_init(at.full + static_cast<unsigned>(slot) * 8, Loader<S>::arrivals);
      barrier_init(at.empty + static_cast<unsigned>(slot) * 8, S::Consumers / 32);
    }
    barriers_ready();
  }

  static CONVGRAD_DEVICE void consume(const ConvArgs& args, const typename S::Work& job, const SharedPlaces<S>& at,
                                      int thread) {
    Tile tile(thread);
    const int steps = job.steps(), products = products_of<typename S::Element>(args.planes);
    Turn turn;
    bool first = true, starts_chunk = true;
    for (int step = 0; step < steps; ++step) {
      for (int product = 0; product < products; ++product, turn.next(args.stages)) {
        barrier_wait(at.full + static_cast<unsigned>(turn.slot) * 8, turn.parity);
        tile.multiply_stage(at.stage(turn.slot), starts_chunk);
        sync_warp();
        if (thread % 32 == 0) barrier_arrive(at.empty + static_cast<unsigned>(turn.slot) * 8);
        starts_chunk = ends_chunk(step, product, products);
        if (starts_chunk) end_chunk(tile);
      }
      if (step % kBlockSteps == kBlockSteps - 1 && step + 1 < steps) {
        end_block(tile, at, first);
        first = false;
      }
    }
    if (!starts_chunk) end_chunk(tile);
    sync_some(2, S::Consumers);  // the tile may lie where the stages did
    end_block(tile, at, first);
    Store<S>(args, job, at).run(thread);
  }

  static CONVGRAD_DEVICE void end_chunk(Tile& tile) {
    tile.each([](int, int, auto& chunk, auto& block) {
      block += chunk;
      if constexpr (!Tile::kOverwrites) chunk = 0;
    });
  }
  static CONVGRAD_DEVICE void end_block(Tile& tile, const SharedPlaces<S>& at, bool first) {
    tile.each([&](int row, int column, auto&, auto& block) {
      auto& sum = shared<typename S::Sum>(at.tile + static_cast<unsigned>(row * S::tile_pitch + column) *
                                                        sizeof(typename S::Sum));
      sum = first ? block : sum + block;
      block = 0;
    });
  }
};

}  // namespace convgrad::cuda
