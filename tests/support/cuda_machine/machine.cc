// Threads of a block: who runs next, where they meet, and what they wait for when nobody can run.
#include "support/cuda_machine/machine.h"

#include <bit>
#include <exception>
#include <string_view>
#include <utility>

#include "support/cuda_machine/block.h"

namespace convgrad::cuda {
namespace {

thread_local Block* running = nullptr;

std::string grid_fault(const Grid& grid) {
  if (grid.threads == 0 || grid.threads % kWarp != 0 || grid.threads > kMostThreads)
    return sentence("a block of ", grid.threads, " threads; whole warps, at most ", kMostThreads);
  if (grid.shared_bytes > kMostShared)
    return sentence(grid.shared_bytes, " bytes of shared memory; there are ", kMostShared);
  return "";
}

}  // namespace

Block& block() { return *running; }

std::string run_on_host(const Grid& grid, const std::function<void()>& kernel) {
  thread_local std::unique_ptr<Block> kept = std::make_unique<Block>();  // with its stacks
  if (std::string fault = grid_fault(grid); !fault.empty()) return fault;
  running = kept.get();
  std::string error = kept->run(grid, kernel);
  running = nullptr;
  return error;
}

// The seed also decides how hostile a run is: copies land late, early or any time, and threads yield often or never.
std::string Block::run(const Grid& grid, const std::function<void()>& kernel) {
  grid_ = &grid, kernel_ = &kernel;
  error_.clear();
  random_.seed(grid.seed);
  land_chance_ = std::array{0u, 1u, 8u, 16u}[random_.below(4)];
  yield_chance_ = std::array{0u, 2u, 8u}[random_.below(3)];
  while (threads_.size() < grid.threads) threads_.push_back(std::make_unique<Thread>());
  for (unsigned i = 0; i < grid.blocks && error_.empty(); ++i) {
    begin(i);
    schedule();
    if (error_.empty()) note(leftovers());
    if (!error_.empty()) stop();
  }
  return std::exchange(error_, "");
}

void Block::begin(unsigned block) {
  block_ = block, current_ = -1, stopping_ = false;
  alive_ = grid_->threads;
  ready_warps_ = 0, last_warp_ = 0;
  whole_ = {}, named_ = {};
  free_registers_ = 0, want_registers_ = {};
  for (Warp& warp : warps_) {
    warp.ready = 0, warp.meeting = {}, warp.commits.clear(), warp.fenced = false;
    warp.registers = registers_at_start();
  }
  for (Warpgroup& group : warpgroups_) {
    group.meeting = {}, group.products.clear(), group.issued = group.done = 0;
    for (Accumulators& d : group.accumulators) d.used = false;
  }
  for (unsigned i = 0; i < grid_->threads; ++i) {
    Thread& thread = *threads_[i];
    thread.index = i, thread.ended = false, thread.next = -1, thread.waits_for = nullptr;
    thread.copies.clear(), thread.groups = thread.fences = 0;
    thread.fiber.start(enter, &thread);
    make_ready(i);
  }
  storage_.resize(grid_->shared_bytes + 1024);
  memory_ = storage_.data() + (-reinterpret_cast<std::uintptr_t>(storage_.data()) & 1023);
  std::memset(memory_, std::to_integer<int>(kPoison), grid_->shared_bytes);
  granules_.assign((grid_->shared_bytes + kGranule - 1) / kGranule, {});
  barriers_.clear(), loads_.clear(), products_ = 0;
}

void Block::enter(void* thread) {
  Block& block = *running;
  try {
    if (!block.stopping_) (*block.kernel_)();
  } catch (const Stopped&) {
  } catch (const std::exception& error) {
    block.note(sentence("the kernel threw: ", error.what()));
  }
  static_cast<Thread*>(thread)->ended = true;
  --block.alive_;
}

// A warp goes on while it can, which keeps its stacks in the cache; now and then another takes over.
void Block::schedule() {
  while (alive_ > 0 && error_.empty()) {
    if (!loads_.empty() && random_.chance(land_chance_)) land_a_box();
    if (products_ > 0 && random_.chance(land_chance_))
      do_a_product(warpgroups_[random_.below((grid_->threads + 127) / kWarpgroup)]);
    if (ready_warps_ == 0) {
      if (!land_a_box()) note(stuck());
      continue;
    }
    if ((ready_warps_ >> last_warp_ & 1) == 0 || random_.chance(1)) {
      const int turn = static_cast<int>(random_.below(32));
      last_warp_ = static_cast<unsigned>(std::countr_zero(std::rotr(ready_warps_, turn)) + turn) % 32;
    }
    current_ = static_cast<int>(last_warp_ * kWarp + pick_lane(warps_[last_warp_]));
    if (!self().copies.empty()) land_some_copies(self());
    self().fiber.resume();
    current_ = -1;
  }
}

// A random ready lane, no longer ready.
unsigned Block::pick_lane(Warp& warp) {
  const int turn = static_cast<int>(random_.below(32));
  const unsigned lane = static_cast<unsigned>(std::countr_zero(std::rotr(warp.ready, turn)) + turn) % 32;
  warp.ready &= ~(1u << lane);
  if (warp.ready == 0) ready_warps_ &= ~(1u << last_warp_);
  return lane;
}

void Block::make_ready(unsigned thread) {
  warps_[thread / kWarp].ready |= 1u << thread % kWarp;
  ready_warps_ |= 1u << thread / kWarp;
}

void Block::pause() {
  Thread& thread = self();
  thread.fiber.pause();
  if (stopping_) throw Stopped{};
  thread.waits_for = nullptr;
}

void Block::sleep(Queue& queue, const char* reason, unsigned at, unsigned parity) {
  Thread& thread = self();
  thread.waits_for = reason, thread.wait_at = at, thread.wait_parity = parity;
  thread.next = std::exchange(queue.first, static_cast<int>(thread.index));
  pause();
}

void Block::wake(Queue& queue) {
  for (int i = std::exchange(queue.first, -1); i >= 0; i = threads_[static_cast<unsigned>(i)]->next)
    make_ready(static_cast<unsigned>(i));
}

void Block::maybe_yield() {
  if (!random_.chance(yield_chance_)) return;
  make_ready(self().index);
  pause();
}

void Block::note(const std::string& what) {
  if (error_.empty() && !what.empty()) error_ = sentence("block ", block_, ": ", what);
}

void Block::fail(const std::string& what) {
  if (error_.empty()) error_ = sentence("block ", block_, ", thread ", self().index, ": ", what);
  throw Stopped{};
}

// Lets every thread that has not ended unwind its stack.
void Block::stop() {
  stopping_ = true;
  for (unsigned i = 0; i < grid_->threads; ++i) {
    current_ = static_cast<int>(i);
    if (!self().ended) self().fiber.resume();
  }
  current_ = -1;
}

// True for the last of the lanes, which does not wait.
bool Block::join(Meeting& meeting, unsigned lanes, const char* atom, const void* argument) {
  const unsigned lane = self().index % lanes;
  if (self().index - lane + lanes > grid_->threads) fail(sentence(atom, " needs ", lanes, " threads"));
  if (meeting.arrived == 0) meeting.atom = atom;
  if (std::string_view(meeting.atom) != atom)
    fail(sentence(atom, " while other threads of the ", lanes, " are in ", meeting.atom));
  meeting.arguments[lane] = argument;
  if (++meeting.arrived < lanes) {
    sleep(meeting.waiting, atom);
    return false;
  }
  meeting.arrived = 0;
  return true;
}

void Block::sync_block() {
  if (++whole_.arrived < static_cast<int>(grid_->threads)) return sleep(whole_.waiting, "sync_block");
  whole_.arrived = 0;
  wake(whole_.waiting);
}

void Block::sync_some(int id, int count) {
  if (id < 1 || id > 15) fail(sentence("sync_some: there is no barrier ", id));
  if (count <= 0 || count % static_cast<int>(kWarp) != 0)
    fail(sentence("sync_some(", id, ", ", count, "): not a number of whole warps"));
  NamedBarrier& barrier = named_[static_cast<unsigned>(id)];
  if (barrier.arrived == 0) barrier.threads = count;
  if (barrier.threads != count)
    fail(sentence("sync_some(", id, ", ", count, ") while others wait there for ", barrier.threads, " threads"));
  barrier.lanes[self().index / kWarp] |= 1u << self().index % kWarp;
  if (++barrier.arrived < count) return sleep(barrier.waiting, "sync_some", static_cast<unsigned>(id));
  for (std::uint32_t& lanes : barrier.lanes) {
    if (lanes != 0 && ~lanes != 0) fail(sentence("sync_some(", id, ", ", count, "): a warp is there only in part"));
    lanes = 0;
  }
  barrier.arrived = 0;
  wake(barrier.waiting);
}

std::string Block::reason(const Thread& thread) const {
  if (thread.ended) return "ended";
  const std::string_view atom = thread.waits_for == nullptr ? "nothing" : thread.waits_for;
  if (atom == "sync_some") return sentence("wait in sync_some(", thread.wait_at, ")");
  if (atom != "barrier_wait") return sentence("wait in ", atom);
  for (const Barrier& barrier : barriers_) {
    if (barrier.at != thread.wait_at) continue;
    return sentence("wait for parity ", thread.wait_parity, " of the barrier at ", barrier.at, " (in phase ",
                    barrier.phase, ": ", barrier.missing, " arrivals and ", barrier.missing_bytes, " bytes to come)");
  }
  return "wait for a barrier";
}

std::string Block::stuck() const {
  std::string text = "stuck: ";
  for (unsigned first = 0, next; first < grid_->threads; first = next) {
    const std::string why = reason(*threads_[first]);
    for (next = first + 1; next < grid_->threads && reason(*threads_[next]) == why;) ++next;
    text += sentence(first == 0 ? "" : "; ", "threads ", first, " to ", next - 1, " ", why);
  }
  return text;
}

std::string Block::leftovers() const {
  if (!loads_.empty()) return sentence("ended while a box of ", loads_.front().bytes, " bytes was under way");
  for (const Warpgroup& group : warpgroups_) {
    for (const Accumulators& d : group.accumulators)
      if (d.used) return "ended with a product of a warpgroup that no warpgroup_wait covers";
  }
  return unequal_registers();
}

int thread_index() { return static_cast<int>(block().self().index); }
unsigned block_index() { return block().index(); }
void sync_block() { block().sync_block(); }
void sync_warp() {
  block().meet(block().warp().meeting, kWarp, "sync_warp", 0, [](const Meeting&) {});
}
void sync_some(int id, int threads) { block().sync_some(id, threads); }

}  // namespace convgrad::cuda
