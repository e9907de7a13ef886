// The macros of compat/, and a namespace that a program re-opens.
#include <gtest/gtest.h>

#include "tensorflow/cc/client/client_session.h"
#include "tensorflow/cc/ops/standard_ops.h"
#include "tensorflow/core/lib/core/status_test_util.h"
#include "tensorflow/core/platform/logging.h"

namespace tensorflow {
namespace {

Status Twice(int x, int* result) {
  Scope root = Scope::NewRootScope();
  auto sum = ops::Add(root, x, x);
  std::vector<Tensor> outputs;
  TF_RETURN_IF_ERROR(ClientSession(root).Run({sum}, &outputs));
  *result = outputs[0].scalar<int>()();
  return Status::OK();
}

Status Refused() {
  TF_RETURN_IF_ERROR(errors::InvalidArgument("first"));
  return errors::Internal("not reached");
}

TEST(Compat, macros_hand_a_status_on) {
  int result = 0;
  TF_ASSERT_OK(Twice(21, &result));
  TF_EXPECT_OK(Status::OK());
  TF_CHECK_OK(Twice(21, &result)) << "not printed";
  EXPECT_EQ(result, 42);
  EXPECT_EQ(Refused(), errors::InvalidArgument("first"));
}

TEST(CompatDeathTest, macros_end_the_process_with_the_reason) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(TF_CHECK_OK(Refused()) << "and more", "Non-OK-status: Refused.* INVALID_ARGUMENT: first and more");
  EXPECT_DEATH(CHECK_EQ(1 + 1, 3) << "sum", "Check failed: 1 \\+ 1 == 3 \\(2 vs. 3\\) sum");
  EXPECT_DEATH(LOG(FATAL) << "over", "over");
}

TEST(Compat, checks_stand_in_an_if_without_braces) {
  bool taken = false;
  if (false)
    CHECK(false);
  else
    taken = true;
  EXPECT_TRUE(taken);
  VLOG(1) << "not printed";
}

}  // namespace
}  // namespace tensorflow
