// Fibers of Boost.Context on stacks that are kept, with a guard page below each.
#include "support/cuda_machine/fibers.h"

#include <atomic>
#include <memory>
#include <utility>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define CONVGRAD_ASAN 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define CONVGRAD_ASAN 1
#endif
#ifdef CONVGRAD_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace convgrad::cuda {
namespace {

namespace context = boost::context;

#ifdef CONVGRAD_ASAN
constexpr std::size_t kStackBytes = 512 << 10;  // red zones around every variable
void leave(void** fake, const void* bottom, std::size_t bytes) { __sanitizer_start_switch_fiber(fake, bottom, bytes); }
void arrive(void* fake, const void** bottom, std::size_t* bytes) {
  __sanitizer_finish_switch_fiber(fake, bottom, bytes);
}
void unpoison(const void* bottom, std::size_t bytes) { __asan_unpoison_memory_region(bottom, bytes); }
#else
constexpr std::size_t kStackBytes = 64 << 10;
void leave(void**, const void*, std::size_t) {}
void arrive(void*, const void**, std::size_t*) {}
void unpoison(const void*, std::size_t) {}
#endif

// The stack outlives the fiber on it.
struct Kept {
  void deallocate(context::stack_context&) {}
};

const void* bottom(const context::stack_context& stack) { return static_cast<const char*>(stack.sp) - stack.size; }

}  // namespace

// Stacks start at 16 different places of a page: at one place, their busy lines would share a few sets of the cache.
Fiber::Fiber() : stacks_(kStackBytes), stack_(stacks_.allocate()) {
  static std::atomic<std::size_t> made = 0;
  unused_ = made++ % 16 * 256;
}

Fiber::~Fiber() { stacks_.deallocate(stack_); }

void Fiber::start(void (*entry)(void*), void* argument) {
  entry_ = entry;
  argument_ = argument;
  // The lowest page is the guard.
  unpoison(static_cast<const char*>(bottom(stack_)) + 4096, stack_.size - 4096);
  void* top = static_cast<char*>(stack_.sp) - unused_;
  inside_ = context::fiber(std::allocator_arg, context::preallocated(top, stack_.size - unused_, stack_), Kept{},
                           [this](context::fiber&& outside) {
                             outside_ = std::move(outside);
                             enter();
                             return std::move(outside_);
                           });
}

void Fiber::enter() {
  arrive(nullptr, &outside_stack_, &outside_size_);
  entry_(argument_);
  leave(nullptr, outside_stack_, outside_size_);
}

void Fiber::resume() {
  leave(&fake_outside_, bottom(stack_), stack_.size);
  inside_ = std::move(inside_).resume();
  arrive(fake_outside_, nullptr, nullptr);
}

void Fiber::pause() {
  leave(&fake_inside_, outside_stack_, outside_size_);
  outside_ = std::move(outside_).resume();
  arrive(fake_inside_, &outside_stack_, &outside_size_);
}

}  // namespace convgrad::cuda
