// fork() with a live pool: parent and child both compute.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/problems.h"

namespace convgrad {
namespace {

TEST(Fork, parent_and_child_compute_the_same) {
  test::Random random(3);
  const ConvProblem problem = parse_problem("n4c8d4h9w9_k8t3r3s3_same_f32_filter_grad").value();
  const test::Operands given = test::random_operands(random, validate(problem).value());
  const Tensor before = compute(problem, given.first, given.second, {.threads = 4}).value();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    const Result<Tensor> mine = compute(problem, given.first, given.second, {.threads = 4});
    _exit(mine.ok() && test::difference(*mine, before).empty() ? 0 : 1);
  }
  EXPECT_EQ(test::difference(compute(problem, given.first, given.second, {.threads = 4}).value(), before), "");
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace convgrad
