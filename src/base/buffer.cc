#include "base/buffer.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace convgrad {

std::shared_ptr<void> aligned_buffer(std::size_t bytes) noexcept {
  const std::size_t rounded = (bytes + kBufferAlignment) / kBufferAlignment * kBufferAlignment;
  if (rounded < bytes) return nullptr;
  void* memory = std::aligned_alloc(kBufferAlignment, rounded);
  if (memory == nullptr) return nullptr;
  std::memset(memory, 0, rounded);
  try {
    return std::shared_ptr<void>(memory, std::free);  // frees memory itself when it throws
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace convgrad
