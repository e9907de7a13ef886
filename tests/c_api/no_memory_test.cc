// Every call with its k-th allocation failing, k = 1, 2, ... until it succeeds: the answer is
// CONVGRAD_RESOURCE_EXHAUSTED, never a crash, and the next call works.
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

#include "c_api/scene.h"

namespace {

// Allocations on this thread that still succeed; negative: all of them.
thread_local long t_left = -1;

bool refused() {
  if (t_left < 0) return false;
  if (t_left == 0) return true;
  --t_left;
  return false;
}

void* allocated(std::size_t bytes) {
  void* memory = refused() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* allocated_aligned(std::size_t bytes, std::size_t alignment) {
  void* memory = nullptr;
  if (refused() || posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) return nullptr;
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocated(bytes); }
void* operator new[](std::size_t bytes) { return allocated(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return refused() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  void* memory = allocated_aligned(bytes, static_cast<std::size_t>(alignment));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// Not inlined: the compiler would see free() without the malloc() of the new beside it, and warn.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

// The library's buffers come from here; this one is found before libc's.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return allocated_aligned(bytes, alignment);
}

namespace convgrad::test {
namespace {

// Calls until the allocations last; answers how many there were.
template <class Call>
long every_allocation_fails_once(convgrad_status in_the_end, const Call& call) {
  for (long k = 0; k < 10000; ++k) {
    t_left = k;
    const convgrad_status status = call();
    const bool lasted = t_left > 0 || (t_left == 0 && status != CONVGRAD_RESOURCE_EXHAUSTED);
    t_left = -1;
    if (lasted) {
      EXPECT_EQ(status, in_the_end) << convgrad_last_message();
      return k;
    }
    EXPECT_EQ(status, CONVGRAD_RESOURCE_EXHAUSTED) << "allocation " << k + 1 << ": " << convgrad_last_message();
    EXPECT_STREQ(convgrad_last_rule(), "resource");
    EXPECT_STREQ(convgrad_last_argument(), "memory");
    EXPECT_EQ(call(), in_the_end) << "after allocation " << k + 1 << " had failed";
  }
  ADD_FAILURE() << "it never succeeds";
  return -1;
}

TEST(NoMemory, plan_create_from_a_call) {
  SceneCall scene;
  const long count = every_allocation_fails_once(CONVGRAD_OK, [&] {
    PlanHandle handle;
    return convgrad_plan_create(&scene.call, nullptr, &handle.plan);
  });
  EXPECT_GT(count, 1);
}

TEST(NoMemory, plan_create_from_a_problem) {
  every_allocation_fails_once(CONVGRAD_OK, [] {
    PlanHandle handle;
    return convgrad_plan_create_from_problem(kSceneProblem, nullptr, &handle.plan);
  });
}

TEST(NoMemory, plan_create_with_a_named_engine_that_is_not_there) {
  convgrad_policy policy{};
  policy.struct_size = sizeof(policy);
  policy.engine = "an engine whose name is too long for a short string";
  every_allocation_fails_once(CONVGRAD_UNIMPLEMENTED, [&] {
    PlanHandle handle;
    return convgrad_plan_create_from_problem(kSceneProblem, &policy, &handle.plan);
  });
}

TEST(NoMemory, check_of_bad_input) {
  SceneCall scene;
  scene.strides[1] = 0;
  const long count =
      every_allocation_fails_once(CONVGRAD_INVALID_ARGUMENT, [&] { return convgrad_check(&scene.call); });
  EXPECT_GT(count, 1);
  every_allocation_fails_once(CONVGRAD_INVALID_ARGUMENT, [] { return convgrad_check(nullptr); });
  every_allocation_fails_once(CONVGRAD_INVALID_ARGUMENT, [] { return convgrad_check_problem("nonsense"); });
}

TEST(NoMemory, run_with_misaligned_buffers) {
  const PlanHandle handle(kSceneProblem);
  SceneBuffers arrays;
  std::vector<char> x(sizeof(arrays.x) + 1), dy(sizeof(arrays.dy) + 1), dw(sizeof(arrays.dw) + 1);
  std::memcpy(x.data() + 1, arrays.x.data(), sizeof(arrays.x));
  std::memcpy(dy.data() + 1, arrays.dy.data(), sizeof(arrays.dy));
  arrays.buffers.first = x.data() + 1;
  arrays.buffers.second = dy.data() + 1;
  arrays.buffers.result = dw.data() + 1;
  const long count =
      every_allocation_fails_once(CONVGRAD_OK, [&] { return convgrad_plan_run(handle.plan, &arrays.buffers); });
  EXPECT_GT(count, 3);
  std::memcpy(arrays.dw.data(), dw.data() + 1, sizeof(arrays.dw));
  EXPECT_EQ(arrays.dw, kSceneResult);
}

TEST(NoMemory, run_with_wrong_buffers) {
  const PlanHandle handle(kSceneProblem);
  SceneBuffers arrays;
  arrays.buffers.result = arrays.x.data();
  every_allocation_fails_once(CONVGRAD_INVALID_ARGUMENT,
                              [&] { return convgrad_plan_run(handle.plan, &arrays.buffers); });
}

TEST(NoMemory, questions_to_a_plan) {
  const PlanHandle handle(kSceneProblem);
  std::int64_t sizes[5] = {}, bytes = 0;
  std::int32_t rank = 0;
  every_allocation_fails_once(CONVGRAD_OK, [&] { return convgrad_plan_result_shape(handle.plan, sizes, &rank); });
  every_allocation_fails_once(CONVGRAD_OK, [&] { return convgrad_plan_workspace_bytes(handle.plan, &bytes); });
}

// The worst moment: a lent loop throws, and there is no memory left to say so with.
void throws_and_takes_the_memory(void* allowed, std::int64_t, convgrad_parallel_body, void*) {
  t_left = *static_cast<long*>(allowed);
  throw std::runtime_error("a sentence that is too long for the short form of a string");
}

TEST(NoMemory, a_lent_loop_that_throws) {
  long allowed = -1;
  convgrad_policy policy{};
  policy.struct_size = sizeof(policy);
  policy.engine = "reference";  // one that lends out work however small the problem
  policy.parallel_for = throws_and_takes_the_memory;
  policy.parallel_for_context = &allowed;
  const PlanHandle handle(kSceneProblem, &policy);
  SceneBuffers arrays;
  // The exception object itself comes from the runtime's own reserve when malloc has none.
  for (allowed = 0; allowed < 8; ++allowed) {
    const convgrad_status status = convgrad_plan_run(handle.plan, &arrays.buffers);
    t_left = -1;
    EXPECT_TRUE(status == CONVGRAD_RESOURCE_EXHAUSTED || status == CONVGRAD_INTERNAL) << allowed;
  }
}

}  // namespace
}  // namespace convgrad::test
