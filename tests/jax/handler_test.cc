// What the custom call answers to frames of XLA's, right, wrong and from other versions.
#include <gtest/gtest.h>

#include "jax/frames.h"

namespace convgrad::test {
namespace {

TEST(JaxHandler, ComputesIntoTheResult) {
  Call call;
  EXPECT_EQ(call.run().code, 0);
  EXPECT_EQ(call.output, (std::vector<float>{5, 8, 11}));
}

TEST(JaxHandler, TheResultsShapeIsAGradientsSizeVector) {
  Call call;
  call.op = {"conv1d_backprop_filter", 22};
  call.second = {sizeof(xla::Buffer), nullptr, xla::DataType::f32, call.filter.data(), 3, call.filter_dims.data()};
  call.filter_dims = {1, 2, 1};  // out_backprop
  call.output_dims = {3, 1, 1};
  EXPECT_EQ(call.run().message, "");
  EXPECT_EQ(call.output, (std::vector<float>{5, 8, 11}));
}

TEST(JaxHandler, RefusesWithTheLibrarysSentence) {
  Call call;
  call.padding = {"FULL", 4};
  const Answer answer = call.run();
  EXPECT_EQ(answer.code, kInvalidArgument);
  EXPECT_NE(answer.message.find("padding: got \"FULL\""), std::string::npos) << answer.message;
}

TEST(JaxHandler, RefusesAResultOfAnotherShape) {
  Call call;
  call.output_dims = {1, 2, 1};
  EXPECT_EQ(call.run().code, kInvalidArgument);
  EXPECT_EQ(call.output, std::vector<float>(3, -1));
}

TEST(JaxHandler, RefusesATypeThatTheLibraryHasNot) {
  Call call;
  call.second.dtype = static_cast<xla::DataType>(7);
  EXPECT_NE(call.run().message.find("XLA's type 7"), std::string::npos);
}

TEST(JaxHandler, RefusesAttributesThatAreMissingOrOfAnotherKind) {
  for (int i = 0; i < 6; ++i) {
    Call renamed, retyped;
    renamed.names[i] = {"other", 5};
    retyped.kinds[i] = 3;
    const std::string name(Call().names[i].data, Call().names[i].size);
    EXPECT_NE(renamed.run().message.find(name), std::string::npos);
    EXPECT_NE(retyped.run().message.find(name), std::string::npos);
  }
  Call narrow;
  narrow.strides.dtype = 4;
  EXPECT_EQ(narrow.run().code, kInvalidArgument);
}

TEST(JaxHandler, RefusesOtherNumbersAndKindsOfTensors) {
  Call one, odd, old;
  one.frame.arguments.size = 1;
  odd.buffer_kinds[0] = 2;
  old.second.struct_size = 24;
  for (Call* call : {&one, &odd, &old}) EXPECT_EQ(call->run().code, kInvalidArgument);
}

TEST(JaxHandler, RefusesFramesOfOtherVersions) {
  Call next, smaller;
  next.api.version.major = 1;
  smaller.frame.struct_size = 120;
  for (Call* call : {&next, &smaller}) {
    EXPECT_EQ(call->run().code, kInternal);
    EXPECT_EQ(call->output, std::vector<float>(3, -1));
  }
}

int minor_spoken(const xla::Api* api) {
  const Spoken spoken = spoken_by(convgrad_jax_conv, api);
  EXPECT_EQ(spoken.major, 0);
  EXPECT_EQ(spoken.traits, 0u);
  return spoken.minor;
}

TEST(JaxHandler, SpeaksTheOlderOfTwoMinorVersions) {
  Call call;
  for (const auto& [theirs, spoken] : {std::pair{1, 1}, {2, 2}, {3, 3}, {9, 3}}) {
    call.api.version.minor = theirs;
    EXPECT_EQ(minor_spoken(&call.api), spoken);
  }
  EXPECT_EQ(minor_spoken(nullptr), 1);
}

}  // namespace
}  // namespace convgrad::test
