// Scratch memory that outlives the call: the first touch of fresh pages costs more than most kernels
// (0.3 ms a MB), so buffers are kept and lent again.
#pragma once

#include <cstddef>

namespace convgrad {

// Memory of at least `bytes`, aligned to kBufferAlignment, contents unspecified; given back at the end
// of its life. Null when there is none to be had. Safe from many threads and after fork().
class Scratch {
 public:
  explicit Scratch(std::size_t bytes) noexcept;
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace convgrad
