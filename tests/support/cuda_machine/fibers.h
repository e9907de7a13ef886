// A thread of the host machine: a function on a stack of its own that pauses and goes on.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstddef>

namespace convgrad::cuda {

class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // entry(argument) will run on this fiber's stack, from the first resume() on. The one before must have ended.
  void start(void (*entry)(void*), void* argument);
  void resume();  // until it pauses or ends
  void pause();   // on the fiber itself

 private:
  void enter();
  boost::context::protected_fixedsize_stack stacks_;
  boost::context::stack_context stack_;
  std::size_t unused_;  // bytes at its top
  boost::context::fiber inside_, outside_;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  // What AddressSanitizer is told at each switch.
  void* fake_inside_ = nullptr;
  void* fake_outside_ = nullptr;
  const void* outside_stack_ = nullptr;
  std::size_t outside_size_ = 0;
};

}  // namespace convgrad::cuda
