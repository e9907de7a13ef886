// Shared memory of a block: every access is checked, and copies into it land when they like.
#include <algorithm>

#include "support/cuda_machine/block.h"

namespace convgrad::cuda {

const std::byte* Block::read(unsigned at, std::size_t bytes, std::size_t alignment, const char* atom) {
  if (at % alignment != 0) fail(sentence(atom, " at ", at, ": not a multiple of ", alignment));
  if (at + bytes > grid_->shared_bytes)
    fail(sentence(atom, " of ", bytes, " bytes at ", at, ": shared memory has ", grid_->shared_bytes));
  return memory_ + at;
}

std::byte* Block::reach(unsigned at, std::size_t bytes, std::size_t alignment, bool to_write) {
  read(at, bytes, alignment, "shared");
  if (to_write) {
    for (unsigned g = at / kGranule; g * kGranule < at + bytes; ++g) touch(g);
  }
  return memory_ + at;
}

void Block::poison(unsigned at, std::size_t bytes) { std::memset(memory_ + at, std::to_integer<int>(kPoison), bytes); }

// This thread may store to the granule now. One that has stored before, and not fenced it, stays responsible.
void Block::touch(unsigned granule) {
  Granule& g = granules_[granule];
  Thread& thread = self();
  if (g.thread == thread.index + 1 && g.fences == thread.fences) return;
  if (unfenced(granule * kGranule)) return;
  g.thread = thread.index + 1, g.fences = thread.fences;
  const unsigned at = granule * kGranule;
  std::memcpy(g.before.data(), memory_ + at, std::min(kGranule, grid_->shared_bytes - at));
}

bool Block::unfenced(unsigned at) const {
  const Granule& g = granules_[at / kGranule];
  if (g.thread == 0 || threads_[g.thread - 1]->fences != g.fences) return false;
  const unsigned start = at / kGranule * kGranule;
  return std::memcmp(g.before.data(), memory_ + start, std::min(kGranule, grid_->shared_bytes - start)) != 0;
}

bool Block::may_read(const void* from, std::size_t bytes) const {
  const auto inside = [&](std::span<const std::byte> range) {
    const auto start = reinterpret_cast<std::uintptr_t>(from), first = reinterpret_cast<std::uintptr_t>(range.data());
    return start >= first && start + bytes <= first + range.size();
  };
  return grid_->readable.empty() || std::any_of(grid_->readable.begin(), grid_->readable.end(), inside);
}

void Block::copy(const Copy& copy) {
  read(copy.to, copy.bytes, copy.bytes, "copy_async");
  if (copy.there && reinterpret_cast<std::uintptr_t>(copy.from) % copy.bytes != 0)
    fail(sentence("copy_async from an address that is not a multiple of ", copy.bytes));
  if (copy.there && !may_read(copy.from, copy.bytes)) fail("copy_async from outside the readable memory");
  touch(copy.to / kGranule);
  poison(copy.to, copy.bytes);
  self().copies.push_back(copy);
}

// A copy stores as if its thread did so at this moment.
void Block::land(Thread& thread, const Copy& copy) {
  Granule& g = granules_[copy.to / kGranule];
  if (g.thread != thread.index + 1 || g.fences != thread.fences) {
    g.thread = thread.index + 1, g.fences = thread.fences;
    const unsigned start = copy.to / kGranule * kGranule;
    std::memcpy(g.before.data(), memory_ + start, std::min(kGranule, grid_->shared_bytes - start));
  }
  if (copy.there) {
    std::memcpy(memory_ + copy.to, copy.from, copy.bytes);
  } else {
    std::memset(memory_ + copy.to, 0, copy.bytes);
  }
}

void Block::land_copies(Thread& thread, unsigned groups) {
  while (!thread.copies.empty() && thread.copies.front().group < groups) {
    land(thread, thread.copies.front());
    thread.copies.pop_front();
  }
}

void Block::land_some_copies(Thread& thread) {
  while (!thread.copies.empty() && random_.chance(land_chance_)) {
    land(thread, thread.copies.front());
    thread.copies.pop_front();
  }
}

std::byte* shared_memory() { return block().memory(); }
void commit_copies() { ++block().self().groups; }
void fence_for_async() { ++block().self().fences; }

namespace host {

std::byte* reach(unsigned at, std::size_t bytes, std::size_t alignment, bool to_write) {
  return block().reach(at, bytes, alignment, to_write);
}

void copy(unsigned to, const void* from, unsigned bytes, bool there) {
  block().copy({.to = to, .from = from, .bytes = bytes, .there = there, .group = block().self().groups});
}

void wait_copies(unsigned groups) {
  Thread& thread = block().self();
  block().land_copies(thread, thread.groups - std::min(groups, thread.groups));
}

}  // namespace host
}  // namespace convgrad::cuda
