// The loader for everything: any layout, any alignment, copies of 2 to 16 bytes, padding left out one by one.
#pragma once

#include "engines/cuda/kernels/shape.h"

namespace convgrad::cuda {

// One operand of a stage: an element at (index, term) lies at tensor + (spots[index] + spot of the term), copied
// Bytes at a time along the contiguous index.
template <class Element, class Stage, Major major, int Count>
struct Operand {
  using Stored = typename Element::Stored;
  const Stored* tensor;
  int extent[3];
  unsigned spots;  // in shared memory, one for each copy's first index
  bool along_sum;  // neighbouring threads copy neighbouring terms
  static constexpr int kBatch = 8;  // loads that wait for memory together

  // For each stage: the part of thread `thread` of the producers.
  template <int Bytes, class TermSpot>
  CONVGRAD_DEVICE void fill(unsigned stage, int thread, const TermSpot& term_spot) const {
    constexpr int wide = Bytes / static_cast<int>(sizeof(Stored));  // elements of a copy
    constexpr int terms = major == Major::along_sum ? Stage::Terms / wide : Stage::Terms;
    constexpr int indices = major == Major::along_sum ? Count : (Count + wide - 1) / wide;
    constexpr int together = kProducers / terms;  // threads that copy the same terms
    const int term = along_sum ? thread % terms : thread / together;
    const int first = along_sum ? thread / terms : thread % together;
    const int element_term = major == Major::along_sum ? term * wide : term;
    const Spot mine = term_spot(element_term);
    const auto copy = [&](int i, auto&& move) {
      const int index = major == Major::along_sum ? i : i * wide;
      const Spot spot = mine + shared<const Spot>(spots + static_cast<unsigned>(index) * sizeof(Spot));
      move(stage + Stage::template at<major>(index, element_term), tensor + spot.offset, inside(spot, extent));
    };
    if constexpr (Bytes >= 4) {
      CONVGRAD_UNROLL_TWICE  // copies wait for nothing; more of them at once take registers
      for (int i = first; i < indices; i += together)
        copy(i, [&](unsigned to, const Stored* from, bool there) {
          copy_async<Bytes>(to, there ? from : tensor, there);
        });
    } else {  // a thread's asynchronous copies are of 4 bytes or more; these go by registers, kBatch at a time
      for (int i = first; i < indices; i += together * kBatch) {
        Stored held[kBatch];
        CONVGRAD_UNROLL
        for (int j = 0; j < kBatch; ++j)
          if (i + j * together < indices)
            copy(i + j * together,
                 [&](unsigned, const Stored* from, bool there) { held[j] = there ? *from : Stored{}; });
        CONVGRAD_UNROLL
        for (int j = 0; j < kBatch; ++j)
          if (i + j * together < indices)
            copy(i + j * together, [&](unsigned to, const Stored*, bool) { shared<Stored>(to) = held[j]; });
      }
    }
  }

  template <class TermSpot>
  CONVGRAD_DEVICE void fill(int bytes, unsigned stage, int thread, const TermSpot& term_spot) const {
    constexpr int size = sizeof(Stored);
    if (bytes == 16) return fill<16>(stage, thread, term_spot);
    if constexpr (size <= 4) {
      if (bytes == 8) return fill<8>(stage, thread, term_spot);
    }
    if constexpr (size == 2) {
      if (bytes == 4) return fill<4>(stage, thread, term_spot);
    }
    fill<size>(stage, thread, term_spot);
  }
};

template <class S>
class Gather {
 public:
  static constexpr int arrivals = kProducers;
  static constexpr int registers = sizeof(typename S::Element::Stored) == 8 ? 104 : 136;  // more widths, more of them

  static CONVGRAD_DEVICE void run(const ConvArgs& args, const typename S::Work& job, const SharedPlaces<S>& at, int thread) {
    using Element = typename S::Element;
    using Stored = typename Element::Stored;
    const int steps = job.steps();
    if (steps == 0) return;  // and nobody would wait for the spots before their memory is used again
    write_spots(job, at, thread);
    const Operand<Element, typename S::Stage, S::field_major, S::Rows> field{
        static_cast<const Stored*>(args.field),
        {job.axis(0).extent, job.axis(1).extent, job.axis(2).extent},
        at.field_spots,
        args.field_copy.along_sum};
    const Operand<Element, typename S::Stage, S::dense_major, S::Columns> dense{
        static_cast<const Stored*>(args.dense), {1, 1, 1}, at.dense_spots, args.dense_copy.along_sum};
    Turn turn, landed;
    for (int step = 0; step < steps; ++step, turn.next(args.stages)) {
      barrier_wait(at.empty + static_cast<unsigned>(turn.slot) * 8, turn.parity ^ 1);
      const unsigned stage = at.stage(turn.slot);
      field.fill(args.field_copy.bytes, stage, thread, [&](int kk) { return job.field_k(step, kk); });
      dense.fill(args.dense_copy.bytes, stage + S::dense_at, thread, [&](int kk) { return job.dense_k(step, kk); });
      commit_copies();
      if (step < kBehind) continue;
      wait_copies<kBehind>();
      hand_over(args, at, landed);
    }
    wait_copies<0>();
    for (int step = steps < kBehind ? 0 : steps - kBehind; step < steps; ++step) hand_over(args, at, landed);
  }

 private:
  static constexpr int kBehind = 2;  // steps whose copies are under way while the next are asked for

  static CONVGRAD_DEVICE void write_spots(const typename S::Work& job, const SharedPlaces<S>& at, int thread) {
    for (int m = thread; m < S::Rows; m += kProducers)
      shared<Spot>(at.field_spots + static_cast<unsigned>(m) * sizeof(Spot)) = job.field_m(m);
    for (int n = thread; n < S::Columns; n += kProducers)
      shared<Spot>(at.dense_spots + static_cast<unsigned>(n) * sizeof(Spot)) = job.dense_n(n);
    sync_some(1, kProducers);
  }

  static CONVGRAD_DEVICE void hand_over(const ConvArgs& args, const SharedPlaces<S>& at, Turn& landed) {
    fence_for_async();  // matrix units may read what threads wrote
    barrier_arrive(at.full + static_cast<unsigned>(landed.slot) * 8);
    landed.next(args.stages);
  }
};

}  // namespace convgrad::cuda
