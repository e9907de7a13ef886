#include "base/arena.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#include "base/buffer.h"
#include "base/machine.h"
#include "base/try_lock.h"

namespace convgrad {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kKeptBytes = std::size_t{64} << 20;  // a buffer larger than this is freed at once
constexpr int kPlaces = 8;

// Idle buffers. Whoever finds them locked makes a buffer of his own.
struct Shelf {
  struct Place {
    void* data = nullptr;
    std::size_t bytes = 0;
  };
  std::atomic_flag taken = ATOMIC_FLAG_INIT;
  Place places[kPlaces];
};
Shelf g_shelf;

void* fresh(std::size_t bytes) {
  if (bytes > kKeptBytes && static_cast<std::int64_t>(bytes) > available_memory()) return nullptr;
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kBufferAlignment;
  void* data = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
#if defined(MADV_HUGEPAGE)
  if (data != nullptr && bytes >= kHugePage) madvise(data, bytes, MADV_HUGEPAGE);
#endif
  return data;
}

// The smallest idle buffer that fits.
Shelf::Place take(std::size_t bytes) {
  const TryLock lock(g_shelf.taken);
  if (!lock) return {};
  Shelf::Place* best = nullptr;
  for (Shelf::Place& place : g_shelf.places) {
    if (place.data != nullptr && place.bytes >= bytes && (best == nullptr || place.bytes < best->bytes)) best = &place;
  }
  if (best == nullptr) return {};
  const Shelf::Place taken = *best;
  *best = {};
  return taken;
}

// Puts a buffer in the place of the smallest idle one; returns what fell off.
void* put(void* data, std::size_t bytes) {
  if (bytes > kKeptBytes) return data;
  const TryLock lock(g_shelf.taken);
  if (!lock) return data;
  Shelf::Place* smallest = &g_shelf.places[0];
  for (Shelf::Place& place : g_shelf.places) {
    if (place.bytes < smallest->bytes) smallest = &place;
  }
  if (smallest->bytes >= bytes) return data;
  void* fallen = smallest->data;
  *smallest = {data, bytes};
  return fallen;
}

}  // namespace

Scratch::Scratch(std::size_t bytes) noexcept {
  if (bytes == 0 || bytes > SIZE_MAX - kHugePage) return;
  const Shelf::Place idle = take(bytes);
  data_ = idle.data != nullptr ? idle.data : fresh(bytes);
  bytes_ = idle.data != nullptr ? idle.bytes : bytes;
}

Scratch::~Scratch() {
  if (data_ != nullptr) std::free(put(data_, bytes_));
}

}  // namespace convgrad
