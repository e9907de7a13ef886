#include "engines/cuda/host_driver.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <iterator>
#include <mutex>

#include "engines/cuda/runtime/driver_types.h"
#include "support/cuda_machine/launches.h"

namespace convgrad::cuda {
namespace {

using test::HostDriver;

HostDriver state;
std::recursive_mutex everything;

// ---- Contexts: the place of a device in a list ----

char primaries[8];
thread_local std::vector<CUcontext> contexts;  // of this thread, the current one last
CUcontext context_of(CUdevice device) { return reinterpret_cast<CUcontext>(primaries + device); }
int current_device() { return static_cast<int>(reinterpret_cast<char*>(contexts.back()) - primaries); }

// ---- Memory: pages that cannot be touched on both sides, poison inside and up to the page behind ----

constexpr std::size_t kPage = 4096, kAlignment = 64;
constexpr int kPoison = 0xff;
constexpr CUresult kLaunchFailed = 719;

struct Allocation {
  std::byte* mapping;
  std::size_t mapped, bytes, rim;
  int device;
};
std::map<CUdeviceptr, Allocation> allocations;

CUresult take_memory(CUdeviceptr* address, std::size_t bytes) {
  if (bytes == 0) return kInvalidValue;
  const std::size_t block = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t inside = (block + kPage - 1) / kPage * kPage, mapped = inside + 2 * kPage;
  void* const mapping = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return kOutOfMemory;
  auto* const first = static_cast<std::byte*>(mapping) + kPage;
  if (mprotect(first, inside, PROT_READ | PROT_WRITE) != 0) return kOutOfMemory;
  std::memset(first, kPoison, inside);
  *address = reinterpret_cast<std::uintptr_t>(first + inside - block);
  allocations[*address] = {static_cast<std::byte*>(mapping), mapped, bytes, block - bytes, current_device()};
  state.buffers = allocations.size();
  return kSuccess;
}

CUresult give_memory_back(CUdeviceptr address) {
  const auto found = allocations.find(address);
  if (found == allocations.end()) return kInvalidValue;
  const Allocation& a = found->second;
  const auto* const rim = reinterpret_cast<const std::byte*>(address) + a.bytes;
  state.overruns += std::any_of(rim, rim + a.rim, [](std::byte b) { return b != std::byte{kPoison}; });
  munmap(a.mapping, a.mapped);
  allocations.erase(found);
  state.buffers = allocations.size();
  return kSuccess;
}

// The allocation that holds the bytes; null: none does.
const Allocation* holder(CUdeviceptr address, std::size_t bytes) {
  const auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) return nullptr;
  const auto& [begin, allocation] = *std::prev(after);
  return address + bytes <= begin + allocation.bytes ? &allocation : nullptr;
}

std::vector<std::span<const std::byte>> all_memory() {
  std::vector<std::span<const std::byte>> all;
  for (const auto& [address, a] : allocations) all.emplace_back(reinterpret_cast<const std::byte*>(address), a.bytes);
  return all;
}

// ---- Events: when they were recorded, for work is done when a call returns ----

using Moment = std::chrono::steady_clock::time_point;

// ---- What every call looks at ----

thread_local int capture_mode = 0;

bool is_forbidden_in_capture(std::string_view call) {
  if (call == "cuStreamSynchronize" || call == "cuMemAlloc_v2" || call == "cuMemFree_v2") return true;
  return call == "cuModuleLoadData" && capture_mode != kCaptureRelaxed;
}

CUresult entered(const char* call) {
  ++state.calls[call];
  if (state.fail == call && --state.countdown == 0) {
    state.failed = true;
    return state.error;
  }
  return state.capturing && is_forbidden_in_capture(call) ? kFirstOfCapture : kSuccess;
}

// For the calls that want a context.
CUresult entered_with_context(const char* call) {
  if (const CUresult failed = entered(call); failed != kSuccess) return failed;
  return contexts.empty() ? kInvalidContext : kSuccess;
}

// ---- Kernels ----

constexpr Kernel kAll[] = {
#define CONVGRAD_CUDA_KERNEL(group, name, ...) Kernel::name,
#include "engines/cuda/kernels.inc"
#undef CONVGRAD_CUDA_KERNEL
};

constexpr int kMostShared = 227 << 10;
std::map<const Kernel*, int> shared_limits;
thread_local std::deque<Box> boxes;  // that maps of the next launch point to

// Of a map's data type; 0: none that the engine has use for.
int element_bytes(int data_type) {
  return data_type == kElementsOf16Bits ? 2 : data_type == kElementsOfF32 ? 4 : data_type == kElementsOfF64 ? 8 : 0;
}
bool is_multiple(const void* address, std::size_t of) { return reinterpret_cast<std::uintptr_t>(address) % of == 0; }

const Kernel* kernel_of(CUfunction function) { return reinterpret_cast<const Kernel*>(function); }

CUresult launch(const Kernel* kernel, const Grid& grid, const void* args) {
  const auto limit = shared_limits.find(kernel);
  const int allowed = limit != shared_limits.end() ? limit->second : 48 << 10;
  if (grid.blocks == 0 || static_cast<int>(grid.threads) != info(*kernel).threads) return kInvalidValue;
  if (static_cast<int>(grid.shared_bytes) > allowed) return kInvalidValue;
  state.complaint = run_kernel(*kernel, grid, args);
  boxes.clear();
  return state.complaint.empty() ? kSuccess : kLaunchFailed;
}

}  // namespace

#define CONVGRAD_CUDA_FUNCTION(name, ...) extern "C" __attribute__((visibility("default"))) CUresult name(__VA_ARGS__);
#include "engines/cuda/runtime/driver.inc"
#undef CONVGRAD_CUDA_FUNCTION
#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED HostDriver* convgrad_host_driver() { return &state; }
EXPORTED void convgrad_host_devices(int count) { state.devices = count; }
EXPORTED int convgrad_host_calls(const char* call) { return state.calls[call]; }
EXPORTED void* convgrad_host_stream() { return state.stream; }
#undef EXPORTED

#define ENTER(how)                        \
  const std::lock_guard held(everything); \
  if (const CUresult failed = how(__func__); failed != kSuccess) return failed

extern "C" {

CUresult cuInit(unsigned) {
  ENTER(entered);
  return kSuccess;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  ENTER(entered);
  *text = error == kOutOfMemory ? "out of memory" : "an error of the host driver";
  return kSuccess;
}

CUresult cuDeviceGetCount(int* count) {
  ENTER(entered);
  *count = state.devices;
  return kSuccess;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  ENTER(entered);
  *device = ordinal;
  return ordinal < state.devices ? kSuccess : kInvalidDevice;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  ENTER(entered);
  std::strncpy(name, "host machine", static_cast<std::size_t>(length));
  return kSuccess;
}

CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice) {
  ENTER(entered);
  const std::map<int, int> values = {{kMultiprocessors, 132},
                                     {kCapabilityMajor, state.major},
                                     {kCapabilityMinor, state.minor},
                                     {kSharedBytesOptIn, kMostShared},
                                     {kMemoryPools, state.memory_pools}};
  if (!values.contains(attribute)) return kInvalidValue;
  *value = values.at(attribute);
  return kSuccess;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  ENTER(entered);
  *context = context_of(device);
  return kSuccess;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  ENTER(entered);
  return kSuccess;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  ENTER(entered);
  contexts.push_back(context);
  ++state.contexts;
  return kSuccess;
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  ENTER(entered_with_context);
  *context = contexts.back();
  contexts.pop_back();
  --state.contexts;
  return kSuccess;
}

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  ENTER(entered_with_context);
  *stream = reinterpret_cast<CUstream>(new char);
  ++state.streams;
  return kSuccess;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  ENTER(entered_with_context);
  delete reinterpret_cast<char*>(stream);
  --state.streams;
  return kSuccess;
}

CUresult cuStreamSynchronize(CUstream) {
  ENTER(entered_with_context);
  return kSuccess;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  ENTER(entered_with_context);
  *event = reinterpret_cast<CUevent>(new Moment);
  ++state.events;
  return kSuccess;
}

CUresult cuEventDestroy_v2(CUevent event) {
  ENTER(entered_with_context);
  delete reinterpret_cast<Moment*>(event);
  --state.events;
  return kSuccess;
}

CUresult cuEventRecord(CUevent event, CUstream) {
  ENTER(entered_with_context);
  *reinterpret_cast<Moment*>(event) = std::chrono::steady_clock::now();
  return kSuccess;
}

CUresult cuEventSynchronize(CUevent) {
  ENTER(entered_with_context);
  return kSuccess;
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
  ENTER(entered_with_context);
  const auto passed = *reinterpret_cast<Moment*>(to) - *reinterpret_cast<Moment*>(from);
  *milliseconds = std::chrono::duration<float, std::milli>(passed).count();
  return kSuccess;
}

CUresult cuThreadExchangeStreamCaptureMode(int* mode) {
  ENTER(entered);
  std::swap(*mode, capture_mode);
  return kSuccess;
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  ENTER(entered_with_context);
  return take_memory(address, bytes);
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  ENTER(entered_with_context);
  return give_memory_back(address);
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream) {
  ENTER(entered_with_context);
  return state.memory_pools != 0 ? take_memory(address, bytes) : kNotSupported;
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream) {
  ENTER(entered_with_context);
  return give_memory_back(address);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
  ENTER(entered_with_context);
  if (holder(to, bytes) == nullptr) return kInvalidValue;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return kSuccess;
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream) {
  ENTER(entered_with_context);
  if (holder(from, bytes) == nullptr) return kInvalidValue;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream) {
  ENTER(entered_with_context);
  if (holder(to, bytes) == nullptr) return kInvalidValue;
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return kSuccess;
}

CUresult cuPointerGetAttribute(void* value, int attribute, CUdeviceptr address) {
  ENTER(entered_with_context);
  const Allocation* const found = holder(address, 1);
  if (found == nullptr) return kInvalidValue;
  const std::map<int, int> values = {
      {kMemoryType, static_cast<int>(kDeviceMemory)}, {kDeviceOrdinal, found->device}, {kIsManaged, 0}};
  if (!values.contains(attribute)) return kInvalidValue;
  std::memcpy(value, &values.at(attribute), attribute == kIsManaged ? 1 : sizeof(int));
  return kSuccess;
}

CUresult cuModuleLoadData(CUmodule* module, const void*) {
  ENTER(entered_with_context);
  *module = reinterpret_cast<CUmodule>(primaries);
  return kSuccess;
}

CUresult cuModuleUnload(CUmodule) {
  ENTER(entered_with_context);
  return kSuccess;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  ENTER(entered_with_context);
  const auto* const found = std::ranges::find(kAll, std::string_view(name), [](Kernel k) { return info(k).name; });
  if (found == std::end(kAll)) return kNotFound;
  *function = reinterpret_cast<CUfunction>(const_cast<Kernel*>(found));
  return kSuccess;
}

CUresult cuFuncGetAttribute(int* value, int attribute, CUfunction) {
  ENTER(entered_with_context);
  *value = 0;
  return attribute == kStaticSharedBytes ? kSuccess : kInvalidValue;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  ENTER(entered_with_context);
  if (attribute != kDynamicSharedBytes || value > kMostShared) return kInvalidValue;
  shared_limits[kernel_of(function)] = value;
  return kSuccess;
}

CUresult cuLaunchKernel(CUfunction function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                        unsigned shared_bytes, CUstream stream, void** parameters, void**) {
  ENTER(entered_with_context);
  state.stream = stream;
  return launch(kernel_of(function), {blocks, threads, shared_bytes, state.seed, all_memory()}, parameters[0]);
}

CUresult cuTensorMapEncodeTiled(void* map, int data_type, unsigned rank, void* address, const std::uint64_t* extents,
                                const std::uint64_t* byte_strides, const std::uint32_t* box,
                                const std::uint32_t* element_strides, int interleave, int swizzle, int promotion,
                                int fill) {
  ENTER(entered);
  const int size = element_bytes(data_type);
  if (rank != 5 || size == 0 || interleave != kNoInterleave || promotion != kPromote128 || fill != kFillZeros)
    return kInvalidValue;
  if (!is_multiple(address, 16) || !is_multiple(map, alignof(TensorMap))) return kInvalidValue;
  Box& kept = boxes.emplace_back();
  kept.tensor = address;
  kept.element_bytes = size;
  kept.swizzle_bytes = swizzle == kSwizzle128 ? 128 : 64;
  std::copy_n(extents, 5, kept.extents);
  std::copy_n(byte_strides, 4, kept.byte_strides);
  std::copy_n(box, 5, kept.box);
  std::copy_n(element_strides, 5, kept.element_strides);
  for (int i = 0; i < 5; ++i) {
    const bool whole = i == 4 || (byte_strides[i] % 16 == 0 && byte_strides[i] < std::uint64_t{1} << 40);
    if (extents[i] == 0 || extents[i] > std::uint64_t{1} << 32 || !whole) return kInvalidValue;
    if (box[i] == 0 || box[i] > 256 || element_strides[i] == 0 || element_strides[i] > 8) return kInvalidValue;
  }
  if (swizzle != kSwizzle128 && swizzle != kSwizzle64) return kInvalidValue;
  if (static_cast<int>(box[0]) * size > kept.swizzle_bytes || static_cast<int>(box[0]) * size % 16 != 0)
    return kInvalidValue;
  const TensorMap made = host_map(kept);
  std::memcpy(map, &made, sizeof(made));
  return kSuccess;
}

}  // extern "C"

}  // namespace convgrad::cuda
