#include "base/buffer.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/machine.h"

namespace convgrad {
namespace {

// Linux promises more memory than it has and ends the process that uses it, so large amounts are
// looked up first. Reading the amount takes about as long as clearing 1 MiB.
constexpr std::size_t kWorthAsking = std::size_t{64} << 20;

bool can_be_had(std::size_t bytes) {
  return bytes <= kWorthAsking || static_cast<std::int64_t>(bytes) <= available_memory();
}

}  // namespace

std::shared_ptr<void> aligned_buffer(std::size_t bytes) noexcept {
  const std::size_t rounded = (bytes + kBufferAlignment) / kBufferAlignment * kBufferAlignment;
  if (rounded < bytes) return nullptr;
  try {
    if (!can_be_had(rounded)) return nullptr;
    void* memory = std::aligned_alloc(kBufferAlignment, rounded);
    if (memory == nullptr) return nullptr;
    std::memset(memory, 0, rounded);
    return std::shared_ptr<void>(memory, std::free);  // frees the memory itself when it throws
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace convgrad
