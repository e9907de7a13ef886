// Memory with unreadable pages on both sides: one byte too far is a crash.
#pragma once

#include <cstddef>

#include "support/problems.h"

namespace convgrad::test {

class GuardedMemory {
 public:
  // Where the block touches its guard exactly: the page behind it, or the page before it.
  enum class Against { end, begin };
  GuardedMemory(std::size_t bytes, Against against);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  void* data() const { return data_; }
  void make_read_only();

 private:
  char* mapping_;
  std::size_t usable_;
  char* data_;
};

// The operands of a call, read only, and room for its result, every byte of which is 0xff: NaN in every float type.
struct GuardedCall {
  GuardedMemory first, second, result;

  GuardedCall(const Operands& given, const Tensor& wanted, GuardedMemory::Against against);
  // Whether the result now is `wanted`, byte by byte.
  bool gave(const Tensor& wanted) const;
};

}  // namespace convgrad::test
