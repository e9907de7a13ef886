// Aligned, zeroed memory whose failure is a null pointer, not an exception.
#pragma once

#include <cstddef>
#include <memory>

namespace convgrad {

inline constexpr std::size_t kBufferAlignment = 64;  // one cache line, one AVX-512 vector

// At least one byte is allocated, so that empty tensors have an address too.
std::shared_ptr<void> aligned_buffer(std::size_t bytes) noexcept;

}  // namespace convgrad
