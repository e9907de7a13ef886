// TF_EXPECT_OK and TF_ASSERT_OK, for tests that include GoogleTest.
#ifndef CONVGRAD_COMPAT_TESTING_H_
#define CONVGRAD_COMPAT_TESTING_H_

#include "convgrad/compat/tensorflow.h"

#define TF_EXPECT_OK(statement) EXPECT_EQ(::convgrad::graph::OkStatus(), (statement))
#define TF_ASSERT_OK(statement) ASSERT_EQ(::convgrad::graph::OkStatus(), (statement))

#endif  // CONVGRAD_COMPAT_TESTING_H_
