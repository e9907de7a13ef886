// A convolution as the Python side says it, and the validator's answer.
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string_view>

#include "convgrad/geometry.h"

namespace convgrad::jax {

// The attributes of the call, in TensorFlow's words.
struct Words {
  std::string_view op;  // "conv2d_backprop_filter"
  std::string_view padding;
  std::string_view data_format;
  ConvCall::Numbers strides = {};
  ConvCall::Numbers dilations = {};
  ConvCall::Numbers explicit_paddings = {};
};

// The two operands in the library's order, and a gradient's size vector.
struct Tensors {
  DType first_dtype = DType::f32;
  DType second_dtype = DType::f32;
  ConvCall::Numbers first = {};
  ConvCall::Numbers second = {};
  ConvCall::Numbers sizes = {};
  int sizes_rank = 1;
};

Result<Geometry> geometry_of(const Words& words, const Tensors& tensors);

// The refusal of an element type that the library does not have.
Status unknown_dtype(std::string_view argument, std::string_view got);

// The answer of body, whose exceptions must reach neither XLA nor Python.
template <class Body>
auto guarded(const Body& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  } catch (const std::exception& error) {
    return Status::internal(error.what());
  }
}

}  // namespace convgrad::jax
