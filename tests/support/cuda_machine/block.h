// One block of threads on the host machine: what its threads, its shared memory and its copies are doing.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "engines/cuda/atoms/atoms.h"
#include "support/cuda_machine/fibers.h"
#include "support/cuda_machine/machine.h"

namespace convgrad::cuda {

constexpr unsigned kWarp = 32;
constexpr unsigned kWarpgroup = 128;
constexpr unsigned kMostThreads = 1024;
constexpr unsigned kMostShared = 227 << 10;
constexpr unsigned kGranule = 16;
constexpr unsigned kWindow = 1024;  // where shared memory starts in the shared window
constexpr std::byte kPoison{0xff};

template <class... Parts>
std::string sentence(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

class Random {  // xorshift64*
 public:
  void seed(std::uint64_t seed) {
    state_ = (seed + 1) * 0x9e3779b97f4a7c15u | 1;
    for (int i = 0; i < 4; ++i) next();
  }
  unsigned next() {
    state_ ^= state_ >> 12, state_ ^= state_ << 25, state_ ^= state_ >> 27;
    return static_cast<unsigned>(state_ * 0x2545f4914f6cdd1du >> 32);
  }
  unsigned below(unsigned n) { return static_cast<unsigned>(std::uint64_t{next()} * n >> 32); }
  bool chance(unsigned of_16) { return next() % 16 < of_16; }

 private:
  std::uint64_t state_ = 1;
};

// Threads that wait for one thing, linked through Thread::next.
struct Queue {
  int first = -1;
};

// A copy under way. Its group is one that Thread::groups counts.
struct Copy {
  unsigned to;
  const void* from;
  unsigned bytes;
  bool there;
  unsigned group;
};

struct Thread {
  Fiber fiber;
  unsigned index = 0;
  bool ended = false;
  int next = -1;
  // What it waits for.
  const char* waits_for = nullptr;
  unsigned wait_at = 0, wait_parity = 0;
  // Its copies, and the number of groups it has closed.
  std::deque<Copy> copies;
  unsigned groups = 0;
  unsigned fences = 0;  // fence_for_async() calls
};

// Where the lanes of a warp (or warpgroup) meet for an atom. The last one acts for all.
struct Meeting {
  const char* atom = nullptr;
  unsigned arrived = 0;
  Queue waiting;
  std::array<const void*, kWarpgroup> arguments;
};

struct Warp {
  std::uint32_t ready = 0;  // lanes
  Meeting meeting;
  std::vector<unsigned> commits;  // products issued at each warpgroup_commit()
  bool fenced = false;
  unsigned registers = 0;  // of a thread
};

// Accumulators of a warpgroup that products under way will write.
struct Accumulators {
  bool used = false;
  std::array<float*, kWarpgroup> visible;
  std::array<bool, 4> in_flight;  // by warp
  unsigned each = 0;              // of a thread
  std::vector<float> values;      // [64][2 each]
  unsigned last = 0;              // product
};

struct IssuedProduct {
  host::Product shape;
  std::uint64_t a, b;
  bool add;
  Accumulators* d;
};

struct Warpgroup {
  Meeting meeting;
  std::deque<IssuedProduct> products;  // issued and not done
  unsigned issued = 0, done = 0;
  std::deque<Accumulators> accumulators;
};

struct NamedBarrier {
  int threads = 0, arrived = 0;
  std::array<std::uint32_t, kMostThreads / kWarp> lanes{};
  Queue waiting;
};

struct Barrier {
  unsigned at, arrivals, maker;
  bool ready = false;
  unsigned missing = 0;            // arrivals to come in this phase
  std::int64_t missing_bytes = 0;  // below 0 when bytes came before they were expected
  unsigned phase = 0;
  Queue waiting = {};
};

struct BoxLoad {
  Box box;
  std::array<int, 5> at;
  std::array<int, 5> counts;  // of elements
  unsigned to, barrier, bytes;
};

// Who may have stored to 16 bytes since when, to find stores that no fence_for_async() followed.
struct Granule {
  unsigned thread = 0;  // + 1
  unsigned fences = 0;  // of that thread then
  std::array<std::byte, kGranule> before;
};

struct Stopped {};  // thrown through the threads of a block that has failed

class Block {
 public:
  std::string run(const Grid& grid, const std::function<void()>& kernel);

  // ---- machine.cc: threads ----
  Thread& self() { return *threads_[static_cast<unsigned>(current_)]; }
  unsigned index() const { return block_; }
  Warp& warp() { return warps_[self().index / kWarp]; }
  Warpgroup& warpgroup() { return warpgroups_[self().index / kWarpgroup]; }
  [[noreturn]] void fail(const std::string& what);
  void sleep(Queue& queue, const char* reason, unsigned at = 0, unsigned parity = 0);
  void wake(Queue& queue);
  void maybe_yield();
  void sync_block();
  void sync_some(int id, int count);
  // The calling lane's argument and those of the others: act(meeting) runs once all `lanes` are there.
  template <class Argument, class Act>
  void meet(Meeting& meeting, unsigned lanes, const char* atom, const Argument& argument, Act act) {
    if (join(meeting, lanes, atom, &argument)) act(meeting), wake(meeting.waiting);
  }

  // ---- registers.cc ----
  void take_registers(unsigned registers);
  void give_registers(unsigned registers);

  // ---- memory.cc: shared memory and copies ----
  std::byte* memory() { return memory_; }
  const std::byte* read(unsigned at, std::size_t bytes, std::size_t alignment, const char* atom);
  std::byte* reach(unsigned at, std::size_t bytes, std::size_t alignment, bool to_write);
  void copy(const Copy& copy);
  void land_copies(Thread& thread, unsigned groups);  // all of the first `groups`
  bool unfenced(unsigned at) const;
  unsigned writer(unsigned at) const { return granules_[at / kGranule].thread - 1; }

  // ---- boxes.cc ----
  void load_box(unsigned to, const Box& box, unsigned barrier, const int (&at)[5]);

  // ---- barriers.cc ----
  void barrier_init(unsigned at, unsigned arrivals);
  void barriers_ready();
  void barrier_arrive(unsigned at, unsigned bytes);
  void barrier_wait(unsigned at, unsigned parity);

  // ---- warpgroup.cc ----
  void issue(const Meeting& meeting);
  void finish_products(unsigned cover);  // of the calling warp

 private:
  static void enter(void* thread);
  void begin(unsigned block);
  void schedule();
  unsigned pick_lane(Warp& warp);
  bool join(Meeting& meeting, unsigned lanes, const char* atom, const void* argument);
  void make_ready(unsigned thread);
  void pause();
  void stop();
  void note(const std::string& what);
  std::string stuck() const;
  std::string reason(const Thread& thread) const;
  std::string leftovers() const;

  unsigned registers_at_start() const;
  std::string unequal_registers() const;

  void poison(unsigned at, std::size_t bytes);
  void touch(unsigned granule);
  void land(Thread& thread, const Copy& copy);
  void land_some_copies(Thread& thread);
  bool may_read(const void* from, std::size_t bytes) const;

  std::string box_fault(const BoxLoad& load) const;
  bool land_a_box();  // false: none is under way
  void land(const BoxLoad& load);
  void land_row(const BoxLoad& load, const std::byte* row, unsigned offset, bool inside);

  Barrier& barrier(unsigned at, const char* atom);
  Barrier* find_barrier(unsigned at);
  void complete_if_done(Barrier& barrier);

  Accumulators& accumulators(Warpgroup& group, const Meeting& meeting, unsigned each);
  void do_a_product(Warpgroup& group);  // the next one, if any is under way
  void do_product(const IssuedProduct& product);
  bool gather(std::uint64_t descriptor, const host::Product& product, bool transposed, int extent, double* to);

  const Grid* grid_ = nullptr;
  const std::function<void()>* kernel_ = nullptr;
  Random random_;
  unsigned land_chance_ = 0, yield_chance_ = 0;  // of 16
  std::string error_;
  bool stopping_ = false;

  unsigned block_ = 0;
  int current_ = -1;  // thread; -1 outside
  unsigned alive_ = 0;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::array<Warp, kMostThreads / kWarp> warps_;
  std::array<Warpgroup, kMostThreads / kWarpgroup> warpgroups_;
  std::uint32_t ready_warps_ = 0;
  unsigned last_warp_ = 0;
  unsigned free_registers_ = 0;  // that warps gave up and no other has taken
  Queue want_registers_;
  NamedBarrier whole_;
  std::array<NamedBarrier, 16> named_;

  std::vector<std::byte> storage_;
  std::byte* memory_ = nullptr;
  std::vector<Granule> granules_;
  std::vector<Barrier> barriers_;
  std::vector<BoxLoad> loads_;
  unsigned products_ = 0;  // of warpgroups, under way
};

// The block that is running on this thread of the host.
Block& block();

}  // namespace convgrad::cuda
