// The message of the last failure: empty at first, one a thread, kept until the next failure there.
#include <string>
#include <thread>

#include "c_api/scene.h"

namespace convgrad::test {
namespace {

TEST(CApiMessages, are_empty_on_a_thread_without_failures) {
  std::thread([] {
    EXPECT_STREQ(convgrad_last_message(), "");
    EXPECT_STREQ(convgrad_last_argument(), "");
    EXPECT_STREQ(convgrad_last_got(), "");
    EXPECT_STREQ(convgrad_last_wanted(), "");
    EXPECT_STREQ(convgrad_last_rule(), "");
  }).join();
}

TEST(CApiMessages, say_what_was_got_and_wanted) {
  EXPECT_EQ(convgrad_check_problem("n2c2h2w2_k2r2s2_st0_same_filter_grad"), CONVGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(convgrad_last_argument(), "strides");
  EXPECT_STREQ(convgrad_last_rule(), "stride-range");
  EXPECT_NE(std::string(convgrad_last_got()).find('0'), std::string::npos);
  const std::string message = convgrad_last_message();
  for (const char* part : {convgrad_last_got(), convgrad_last_wanted(), convgrad_last_argument()}) {
    EXPECT_NE(message.find(part), std::string::npos) << message << " lacks " << part;
  }
}

TEST(CApiMessages, outlive_calls_that_succeed) {
  EXPECT_EQ(convgrad_check_problem("nonsense"), CONVGRAD_INVALID_ARGUMENT);
  const std::string message = convgrad_last_message();
  EXPECT_EQ(convgrad_check_problem(kSceneProblem), CONVGRAD_OK);
  EXPECT_EQ(convgrad_last_message(), message);
}

TEST(CApiMessages, of_two_threads_that_fail_differently_stay_apart) {
  const auto fail_often = [](const char* problem, const char* argument, const char* rule) {
    for (int i = 0; i < 2000; ++i) {
      ASSERT_EQ(convgrad_check_problem(problem), CONVGRAD_INVALID_ARGUMENT);
      ASSERT_STREQ(convgrad_last_argument(), argument);
      ASSERT_STREQ(convgrad_last_rule(), rule);
    }
  };
  std::thread one(fail_often, "n2c2h2w2_k2r2s2_st0_same_filter_grad", "strides", "stride-range");
  std::thread two(fail_often, "n2c2h-1w2_k2r2s2_same_forward", "input", "negative-dim");
  one.join();
  two.join();
}

}  // namespace
}  // namespace convgrad::test
