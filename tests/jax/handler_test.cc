// What the custom call answers to frames of XLA's, right, wrong and from other versions.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "xla_ffi.h"

namespace xla = convgrad::jax::xla;
extern "C" xla::Error* convgrad_jax_conv(xla::CallFrame* frame);

struct convgrad::jax::xla::Error {
  std::string message;
  int code;
};

namespace {

constexpr int kInvalidArgument = 3;
constexpr int kInternal = 13;

xla::Error* create_error(xla::ErrorArgs* args) { return new xla::Error{args->message, args->code}; }

struct Answer {
  int code = 0;
  std::string message = {};
};

// A 1-D convolution, input [1, 4, 1], filter [2, 1, 1], both 1, 2, ...; tests change what they want to be wrong.
struct Call {
  std::vector<float> input{1, 2, 3, 4}, filter{1, 2}, output = std::vector<float>(3, -1);
  std::vector<std::int64_t> input_dims{1, 4, 1}, filter_dims{2, 1, 1}, output_dims{1, 3, 1}, ones{1, 1, 1};
  xla::Buffer first{sizeof(xla::Buffer), nullptr, xla::DataType::f32, input.data(), 3, input_dims.data()};
  xla::Buffer second{sizeof(xla::Buffer), nullptr, xla::DataType::f32, filter.data(), 3, filter_dims.data()};
  xla::Buffer result{sizeof(xla::Buffer), nullptr, xla::DataType::f32, output.data(), 3, output_dims.data()};
  xla::Text names[6] = {{"data_format", 11}, {"dilations", 9}, {"explicit_paddings", 17},
                        {"op", 2},           {"padding", 7},   {"strides", 7}};
  xla::Text format{"NWC", 3}, op{"conv1d", 6}, padding{"VALID", 5};
  xla::Array strides{xla::kInt64, 3, ones.data()}, none{xla::kInt64, 0, nullptr};
  int buffer_kinds[2] = {xla::kBuffer, xla::kBuffer};
  int kinds[6] = {xla::kTextAttribute, xla::kArrayAttribute, xla::kArrayAttribute,
                  xla::kTextAttribute, xla::kTextAttribute,  xla::kArrayAttribute};
  xla::Text* name_list[6] = {&names[0], &names[1], &names[2], &names[3], &names[4], &names[5]};
  void* items[6] = {&format, &strides, &none, &op, &padding, &strides};
  void* operands[2] = {&first, &second};
  void* results[1] = {&result};
  xla::Api api{sizeof(xla::Api), nullptr, {sizeof(xla::Version), nullptr, 0, 3}, nullptr, create_error};
  xla::CallFrame frame{sizeof(xla::CallFrame),
                       nullptr,
                       &api,
                       nullptr,
                       3,
                       {sizeof(xla::Buffers), nullptr, 2, buffer_kinds, operands},
                       {sizeof(xla::Buffers), nullptr, 1, buffer_kinds, results},
                       {sizeof(xla::Attributes), nullptr, 6, kinds, name_list, items}};

  Answer run() {
    xla::Error* error = convgrad_jax_conv(&frame);
    if (error == nullptr) return {};
    const Answer answer{error->code, error->message};
    delete error;
    return answer;
  }
};

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

// The version that the handler says it speaks when XLA asks at registration.
int minor_spoken(const xla::Api* api) {
  Call call;
  xla::Metadata metadata{xla::kMetadataSize, {}, 7};
  xla::MetadataExtension asked{{sizeof(xla::MetadataExtension), xla::kMetadataExtension, nullptr}, &metadata};
  call.frame.extensions = &asked.base;
  call.frame.api = api;
  EXPECT_EQ(call.run().code, 0);
  EXPECT_EQ(metadata.version.major, 0);
  EXPECT_EQ(metadata.traits, 0u);
  return metadata.version.minor;
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
