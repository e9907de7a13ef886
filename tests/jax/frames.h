// What XLA would hand to the custom calls, made by hand.
#pragma once

#include <string>
#include <vector>

#include "xla_ffi.h"

namespace xla = convgrad::jax::xla;

extern "C" xla::Error* convgrad_jax_conv(xla::CallFrame* frame);
extern "C" xla::Error* convgrad_jax_conv_cuda(xla::CallFrame* frame);

struct convgrad::jax::xla::Error {
  std::string message;
  int code;
};

namespace convgrad::test {

inline constexpr int kInvalidArgument = 3, kResourceExhausted = 8, kUnimplemented = 12, kInternal = 13;

inline xla::Error* create_error(xla::ErrorArgs* args) { return new xla::Error{args->message, args->code}; }

struct Answer {
  int code = 0;
  std::string message = {};
};

using Dims = std::vector<std::int64_t>;

// 1, 2, ... 7, 1, ...
inline std::vector<float> counted(const Dims& dims) {
  std::vector<float> values(static_cast<std::size_t>(dims[0] * dims[1] * dims[2]));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7 + 1);
  return values;
}

// A 1-D convolution, input [1, 4, 1], filter [2, 1, 1]; tests change what they want to be otherwise or wrong.
struct Call {
  Dims input_dims{1, 4, 1}, filter_dims{2, 1, 1}, output_dims{1, 3, 1}, ones{1, 1, 1};
  std::vector<float> input = counted(input_dims), filter = counted(filter_dims);
  std::vector<float> output = std::vector<float>(counted(output_dims).size(), -1);
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

  Call() = default;
  Call(Dims first_dims, Dims second_dims, Dims result_dims)
      : input_dims(std::move(first_dims)), filter_dims(std::move(second_dims)), output_dims(std::move(result_dims)) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Answer run(xla::Error* (*handler)(xla::CallFrame*) = convgrad_jax_conv) {
    xla::Error* error = handler(&frame);
    if (error == nullptr) return {};
    const Answer answer{error->code, error->message};
    delete error;
    return answer;
  }
};

// The version that a handler says it speaks when XLA asks at registration.
struct Spoken {
  int major, minor;
  std::uint32_t traits;
};
inline Spoken spoken_by(xla::Error* (*handler)(xla::CallFrame*), const xla::Api* api) {
  Call call;
  xla::Metadata metadata{xla::kMetadataSize, {}, 7};
  xla::MetadataExtension asked{{sizeof(xla::MetadataExtension), xla::kMetadataExtension, nullptr}, &metadata};
  call.frame.extensions = &asked.base;
  call.frame.api = api;
  if (call.run(handler).code != 0) return {};
  return {metadata.version.major, metadata.version.minor, metadata.traits};
}

}  // namespace convgrad::test
