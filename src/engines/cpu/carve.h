// Divides the workspace. Run once with a null base it measures, run with the memory it hands out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"

namespace convgrad::cpu {

class Carver {
 public:
  explicit Carver(void* base) : base_(static_cast<char*>(base)) {}

  template <class T>
  T* take(std::int64_t count) {
    char* at = base_ == nullptr ? nullptr : base_ + used_;
    const auto bytes = count * static_cast<std::int64_t>(sizeof(T));
    constexpr auto kAlign = static_cast<std::int64_t>(kBufferAlignment);
    used_ += (bytes + kAlign - 1) / kAlign * kAlign;
    return reinterpret_cast<T*>(at);
  }
  std::int64_t used() const { return used_; }

 private:
  char* base_;
  std::int64_t used_ = 0;
};

// The workbench of one worker; they lie one after the other.
template <class Workbench, class Program>
Workbench workbench_of(Carver carve, const Program& program, int worker) {
  for (int w = 0; w < worker; ++w) Workbench(carve, program);
  return Workbench(carve, program);
}

}  // namespace convgrad::cpu
