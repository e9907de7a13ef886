#include "frame.h"

#include <cstring>
#include <string>

namespace convgrad::jax {
namespace {

Status refuse(std::string_view argument, std::string got, std::string wanted) {
  std::string message = std::string(argument) + ": got " + got + ", wanted " + wanted;
  return Status(ErrorDetail{StatusCode::invalid_argument, std::move(message), std::string(argument), std::move(got),
                            std::move(wanted), "attr-type"});
}

// The attribute of that name and kind, or nullptr.
const void* find(const xla::Attributes& attributes, std::string_view name, int kind) {
  for (std::int64_t i = 0; i < attributes.size; ++i) {
    const xla::Text& found = *attributes.names[i];
    if (std::string_view(found.data, found.size) != name) continue;
    return attributes.kinds[i] == kind ? attributes.items[i] : nullptr;
  }
  return nullptr;
}

Status read(const xla::Attributes& attributes, std::string_view name, std::string_view& text) {
  const auto* found = static_cast<const xla::Text*>(find(attributes, name, xla::kTextAttribute));
  if (found == nullptr) return refuse(name, "no text of that name", "an attribute");
  text = {found->data, found->size};
  return {};
}

Status read(const xla::Attributes& attributes, std::string_view name, ConvCall::Numbers& numbers) {
  const auto* found = static_cast<const xla::Array*>(find(attributes, name, xla::kArrayAttribute));
  if (found == nullptr || found->dtype != xla::kInt64) return refuse(name, "no list of that name", "64-bit integers");
  numbers = {static_cast<const std::int64_t*>(found->data), found->size};
  return {};
}

const xla::Buffer* buffer(const xla::Buffers& list, std::int64_t i) {
  if (list.kinds[i] != xla::kBuffer) return nullptr;
  const auto* found = static_cast<const xla::Buffer*>(list.items[i]);
  return found->struct_size >= sizeof(xla::Buffer) ? found : nullptr;
}

}  // namespace

Result<Given> tensors_of(const xla::CallFrame& frame) {
  if (frame.arguments.size != 2 || frame.results.size != 1) {
    return refuse(
        "call", std::to_string(frame.arguments.size) + " arguments, " + std::to_string(frame.results.size) + " results",
        "2 and 1");
  }
  const Given found{buffer(frame.arguments, 0), buffer(frame.arguments, 1), buffer(frame.results, 0)};
  if (found.first == nullptr || found.second == nullptr || found.result == nullptr)
    return refuse("call", "an argument or result of an unknown kind", "buffers");
  return found;
}

Result<Words> words_of(const xla::CallFrame& frame) {
  const xla::Attributes& attributes = frame.attributes;
  Words words;
  CONVGRAD_RETURN_IF_ERROR(read(attributes, "op", words.op));
  CONVGRAD_RETURN_IF_ERROR(read(attributes, "padding", words.padding));
  CONVGRAD_RETURN_IF_ERROR(read(attributes, "data_format", words.data_format));
  CONVGRAD_RETURN_IF_ERROR(read(attributes, "strides", words.strides));
  CONVGRAD_RETURN_IF_ERROR(read(attributes, "dilations", words.dilations));
  CONVGRAD_RETURN_IF_ERROR(read(attributes, "explicit_paddings", words.explicit_paddings));
  return words;
}

Result<DType> dtype_of(const xla::Buffer& buffer) {
  switch (buffer.dtype) {
    case xla::DataType::f16: return DType::f16;
    case xla::DataType::bf16: return DType::bf16;
    case xla::DataType::f32: return DType::f32;
    case xla::DataType::f64: return DType::f64;
    case xla::DataType::s32: return DType::i32;
  }
  return unknown_dtype("dtype", "XLA's type " + std::to_string(static_cast<int>(buffer.dtype)));
}

ConvCall::Numbers shape_of(const xla::Buffer& buffer) { return {buffer.dims, static_cast<std::size_t>(buffer.rank)}; }

}  // namespace convgrad::jax
