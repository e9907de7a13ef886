// The pool under nesting, crowds and fork.
#include "base/pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace convgrad {
namespace {

using Counters = std::vector<std::atomic<int>>;

void count_one(void* state, std::int64_t index) { ++(*static_cast<Counters*>(state))[static_cast<std::size_t>(index)]; }

bool all_once(const Counters& counters) {
  for (const auto& counter : counters) {
    if (counter != 1) return false;
  }
  return true;
}

TEST(Pool, runs_every_index_once) {
  for (int threads : {1, 2, 3, 7, 16}) {
    for (std::size_t count : {0u, 1u, 2u, 5u, 1000u}) {
      Counters counters(count);
      pool_run(static_cast<std::int64_t>(count), threads, count_one, &counters);
      EXPECT_TRUE(all_once(counters)) << threads << " threads, " << count << " indices";
    }
  }
}

TEST(Pool, serves_many_callers_at_once) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&wrong] {
      for (int round = 0; round < 200; ++round) {
        Counters counters(17);
        pool_run(17, 3, count_one, &counters);
        if (!all_once(counters)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Pool, can_be_used_from_inside_itself) {
  std::atomic<int> total{0};
  const auto outer = [](void* state, std::int64_t) {
    pool_run(10, 4, [](void* inner, std::int64_t) { ++*static_cast<std::atomic<int>*>(inner); }, state);
  };
  pool_run(20, 4, outer, &total);
  EXPECT_EQ(total, 200);
}

TEST(Pool, works_in_parent_and_child_after_fork) {
  Counters warm(100);
  pool_run(100, 4, count_one, &warm);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // a hang is a failure, not a wait
    Counters counters(100);
    pool_run(100, 4, count_one, &counters);
    _exit(all_once(counters) ? 0 : 1);
  }
  Counters counters(100);
  pool_run(100, 4, count_one, &counters);
  EXPECT_TRUE(all_once(counters));
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// fork() while other threads are inside the pool: the child must not inherit a held lock. Its memory comes from the same
// allocator, and AddressSanitizer's does not let go of its locks at a fork, so the threads allocate nothing meanwhile.
TEST(Pool, survives_fork_in_the_middle_of_work) {
  std::atomic<bool> stop{false};
  std::atomic<int> begun{0};
  std::vector<std::thread> busy;
  for (int i = 0; i < 3; ++i) {
    busy.emplace_back([&] {
      Counters counters(50);
      pool_run(50, 3, count_one, &counters);
      for (++begun; !stop;) pool_run(50, 3, count_one, &counters);
    });
  }
  while (begun < 3) std::this_thread::yield();
  int failures = 0;
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      Counters counters(50);
      pool_run(50, 3, count_one, &counters);
      _exit(all_once(counters) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) ++failures;
  }
  stop = true;
  for (std::thread& thread : busy) thread.join();
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace convgrad
