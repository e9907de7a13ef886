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

struct ErrorMessageArgs {
  std::size_t struct_size;
  Extension* extensions;
  Error* error;
  const char* message;  // out; XLA's, as long as the error lives
};

struct ErrorDestroyArgs {
  std::size_t struct_size;
  Extension* extensions;
  Error* error;
};

struct StreamArgs {
  std::size_t struct_size;
  Extension* extensions;
  void* context;
  void* stream;  // out; a CUstream
};

struct AllocateArgs {
  std::size_t struct_size;
  Extension* extensions;
  void* context;
  std::size_t bytes;
  std::size_t alignment;
  void* data;  // out
};

struct FreeArgs {
  std::size_t struct_size;
  Extension* extensions;
  void* context;
  std::size_t bytes;
  void* data;
};

struct DeviceArgs {
  std::size_t struct_size;
  Extension* extensions;
  void* context;
  std::int32_t number;  // out; as CUDA counts
};

// The functions that a custom call on a GPU needs too. The last of them is there since jaxlib 0.6.
struct GpuApi {
  Api base;
  void (*error_message)(ErrorMessageArgs* args);
  void (*destroy_error)(ErrorDestroyArgs* args);
  const void* register_handler;
  Error* (*stream)(StreamArgs* args);
  const void* types_and_state[4];
  Error* (*allocate)(AllocateArgs* args);
  Error* (*free)(FreeArgs* args);
  const void* threads_and_futures[5];
  const void* run_id;
  Error* (*device)(DeviceArgs* args);
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
inline constexpr std::size_t kDeviceArgsSize = offsetof(DeviceArgs, number) + sizeof(std::int32_t);
static_assert(sizeof(Buffer) == 48 && sizeof(Buffers) == 40 && sizeof(Attributes) == 48 && sizeof(CallFrame) == 168);
static_assert(kMetadataSize == 36 && kErrorArgsSize == 28 && sizeof(Api) == 56 && sizeof(MetadataExtension) == 32);
static_assert(sizeof(ErrorMessageArgs) == 32 && sizeof(ErrorDestroyArgs) == 24 && sizeof(StreamArgs) == 32);
static_assert(sizeof(AllocateArgs) == 48 && sizeof(FreeArgs) == 40 && kDeviceArgsSize == 28 && sizeof(GpuApi) == 192);

}  // namespace convgrad::jax::xla
