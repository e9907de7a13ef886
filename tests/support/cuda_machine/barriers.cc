// Barriers in shared memory: their state is kept aside; their 8 bytes hold a mark that shows when they are overwritten.
#include <algorithm>

#include "support/cuda_machine/block.h"

namespace convgrad::cuda {
namespace {

constexpr std::uint64_t kMark = 0xb5c3b5c3b5c3b5c3u;
constexpr std::int64_t kMostBytes = (1 << 20) - 1;  // in one phase
constexpr unsigned kMostArrivals = (1 << 20) - 1;

}  // namespace

Barrier* Block::find_barrier(unsigned at) {
  const auto found = std::find_if(barriers_.begin(), barriers_.end(), [at](const Barrier& b) { return b.at == at; });
  return found == barriers_.end() ? nullptr : &*found;
}

Barrier& Block::barrier(unsigned at, const char* atom) {
  const std::byte* bytes = read(at, 8, 8, atom);
  Barrier* barrier = find_barrier(at);
  if (barrier == nullptr) fail(sentence(atom, ": there is no barrier at ", at));
  if (std::memcmp(bytes, &kMark, 8) != 0) fail(sentence(atom, ": the barrier at ", at, " was overwritten"));
  return *barrier;
}

void Block::barrier_init(unsigned at, unsigned arrivals) {
  read(at, 8, 8, "barrier_init");
  if (arrivals == 0 || arrivals > kMostArrivals) fail(sentence("barrier_init with ", arrivals, " arrivals"));
  if (find_barrier(at) != nullptr) fail(sentence("barrier_init: there is a barrier at ", at, " already"));
  std::memcpy(memory_ + at, &kMark, 8);
  barriers_.push_back({.at = at, .arrivals = arrivals, .maker = self().index, .missing = arrivals});
}

void Block::barriers_ready() {
  for (Barrier& barrier : barriers_) barrier.ready = barrier.ready || barrier.maker == self().index;
}

void Block::complete_if_done(Barrier& barrier) {
  if (barrier.missing != 0 || barrier.missing_bytes != 0) return;
  ++barrier.phase;
  barrier.missing = barrier.arrivals;
  wake(barrier.waiting);
}

void Block::barrier_arrive(unsigned at, unsigned bytes) {
  maybe_yield();
  Barrier& here = barrier(at, "barrier_arrive");
  if (here.missing == 0)
    fail(sentence("barrier_arrive at ", at, ": all ", here.arrivals, " have arrived in this phase"));
  here.missing_bytes += bytes;
  if (here.missing_bytes > kMostBytes) fail(sentence("barrier_expect of more than ", kMostBytes, " bytes in a phase"));
  --here.missing;
  complete_if_done(here);
}

void Block::barrier_wait(unsigned at, unsigned parity) {
  maybe_yield();
  if (parity > 1) fail(sentence("barrier_wait for parity ", parity));
  barrier(at, "barrier_wait");
  while ((find_barrier(at)->phase & 1) == parity) sleep(find_barrier(at)->waiting, "barrier_wait", at, parity);
}

void barrier_init(unsigned at, unsigned arrivals) { block().barrier_init(at, arrivals); }
void barriers_ready() { block().barriers_ready(); }
void barrier_arrive(unsigned at) { block().barrier_arrive(at, 0); }
void barrier_expect(unsigned at, unsigned bytes) { block().barrier_arrive(at, bytes); }
void barrier_wait(unsigned at, unsigned parity) { block().barrier_wait(at, parity); }

}  // namespace convgrad::cuda
