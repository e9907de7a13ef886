// What XLA hands to a custom call and takes back: the part of its foreign-function C interface that is used here,
// declared by hand, so that neither JAX nor XLA is needed to build. Checked against the published interface, versions
// 0.1 (jaxlib 0.5) to 0.3 (jaxlib 0.10), which lay these fields out alike; later minor versions may only append.
#pragma once

#include <cstddef>
#include <cstdint>

namespace convgrad::jax::xla {

inline constexpr int kMajor = 0;
inline constexpr int kOldestMinor = 1;
inline constexpr int kNewestMinor = 3;

// Every struct begins with its size as the caller knows it, up to its last field.
struct Extension {
  std::size_t struct_size;
  int type;
  Extension* next;
};
inline constexpr int kMetadataExtension = 1;

struct Version {
  std::size_t struct_size;
  Extension* extensions;
  int major;
  int minor;
};

struct Error;  // XLA's own; ownership passes to whom it is returned
struct ErrorArgs {
  std::size_t struct_size;
  Extension* extensions;
  const char* message;
  int code;  // of absl::Status
};

struct Api {
  std::size_t struct_size;
  Extension* extensions;
  Version version;
  const void* internal;
  Error* (*create_error)(ErrorArgs* args);
  // more functions follow
};

enum class DataType : int { s32 = 4, f16 = 10, f32 = 11, f64 = 12, bf16 = 16 };

struct Buffer {
  std::size_t struct_size;
  Extension* extensions;
  DataType dtype;
  void* data;  // row-major
  std::int64_t rank;
  std::int64_t* dims;
};

struct Text {
  const char* data;
  std::size_t size;
};

struct Array {
  int dtype;
  std::size_t size;
  void* data;
};
inline constexpr int kInt64 = 5;

// Arguments and results have the same fields; kind 1 is a Buffer.
struct Buffers {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  int* kinds;
  void** items;
};
inline constexpr int kBuffer = 1;

struct Attributes {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  int* kinds;
  Text** names;
  void** items;
};
inline constexpr int kArrayAttribute = 1;
inline constexpr int kTextAttribute = 4;

struct CallFrame {
  std::size_t struct_size;
  Extension* extensions;
  const Api* api;
  void* context;
  int stage;
  Buffers arguments;
  Buffers results;
  Attributes attributes;
  // more fields may follow
};

// XLA asks for it when the handler is registered, and refuses versions that it does not serve.
struct Metadata {
  std::size_t struct_size;
  Version version;
  std::uint32_t traits;
  // more fields may follow; XLA's zeros stand for "none" there
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

// Sizes as XLA states them: without the padding behind a last field.
inline constexpr std::size_t kMetadataSize = offsetof(Metadata, traits) + sizeof(std::uint32_t);
inline constexpr std::size_t kErrorArgsSize = offsetof(ErrorArgs, code) + sizeof(int);
static_assert(sizeof(Buffer) == 48 && sizeof(Buffers) == 40 && sizeof(Attributes) == 48 && sizeof(CallFrame) == 168);
static_assert(kMetadataSize == 36 && kErrorArgsSize == 28 && sizeof(Api) == 56 && sizeof(MetadataExtension) == 32);

}  // namespace convgrad::jax::xla
