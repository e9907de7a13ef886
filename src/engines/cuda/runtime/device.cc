#include "engines/cuda/runtime/device.h"

#include <algorithm>
#include <span>

#include "base/rules.h"
#include "base/text.h"
#include "convgrad/plan.h"
#include "engines/cuda/runtime/image.h"

namespace convgrad::cuda {
namespace {

constexpr int kMostDevices = 64;
constexpr int kLeastMajor = 8;  // asynchronous copies into shared memory, bf16 and f64 tensor cores

CUdeviceptr address_of(const void* pointer) {
  return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(pointer));
}

Result<int> device_count(const Driver& driver) {
  int count = 0;
  CONVGRAD_RETURN_IF_ERROR(CONVGRAD_CUDA(driver, cuDeviceGetCount(&count)));
  return std::min(count, kMostDevices);
}

Status refuse_device(std::string reason, std::string got, std::string wanted) {
  return refuse("cuda", {.rule = Rule::device,
                         .argument = "device",
                         .reason = std::move(reason),
                         .got = std::move(got),
                         .wanted = std::move(wanted),
                         .code = StatusCode::unimplemented});
}

Result<CUdevice> device_at(const Driver& driver, int ordinal) {
  const Result<int> count = device_count(driver);
  if (!count.ok()) return count.status();
  if (*count == 0) return refuse_device("the NVIDIA driver sees no GPU", "none", "one or more");
  if (ordinal < 0 || ordinal >= *count)
    return refuse_device("there is no such GPU", concat(ordinal), concat("0 to ", *count - 1));
  CUdevice device = 0;
  CONVGRAD_RETURN_IF_ERROR(CONVGRAD_CUDA(driver, cuDeviceGet(&device, ordinal)));
  return device;
}

Result<DeviceFacts> facts_of(const Driver& driver, CUdevice device) {
  DeviceFacts facts{};
  char name[256] = {};
  CONVGRAD_RETURN_IF_ERROR(CONVGRAD_CUDA(driver, cuDeviceGetName(name, sizeof(name) - 1, device)));
  facts.name = name;
  int pools = 0;
  const std::pair<int, int*> wanted[] = {{kCapabilityMajor, &facts.major},
                                         {kCapabilityMinor, &facts.minor},
                                         {kMultiprocessors, &facts.multiprocessors},
                                         {kSharedBytesOptIn, &facts.shared_bytes},
                                         {kMemoryPools, &pools}};
  for (const auto& [attribute, value] : wanted)
    CONVGRAD_RETURN_IF_ERROR(CONVGRAD_CUDA(driver, cuDeviceGetAttribute(value, attribute, device)));
  facts.has_memory_pools = pools != 0;
  if (facts.major >= kLeastMajor) return facts;
  return refuse_device(concat("the GPU ", facts.name, " is too old"),
                       concat("compute capability ", facts.major, ".", facts.minor),
                       concat(kLeastMajor, ".0 or higher"));
}

// Where a group's module is kept.
std::size_t first_of_group(std::string_view group) {
  int first = 0;
  while (info(static_cast<Kernel>(first)).group != group) ++first;
  return static_cast<std::size_t>(first);
}

int data_type(int element_bytes) {
  return element_bytes == 2 ? kElementsOf16Bits : element_bytes == 4 ? kElementsOfF32 : kElementsOfF64;
}

}  // namespace

Result<DeviceFacts> device_facts(int ordinal) {
  const Result<const Driver*> loaded = driver();
  if (!loaded.ok()) return loaded.status();
  const Result<CUdevice> device = device_at(**loaded, ordinal);
  return device.ok() ? facts_of(**loaded, *device) : Result<DeviceFacts>(device.status());
}

std::string obstacle() {
  const Result<DeviceFacts> first = device_facts(0);
  if (first.ok()) return {};
  const Result<const Driver*> loaded = driver();
  const Result<int> count = loaded.ok() ? device_count(**loaded) : Result<int>(loaded.status());
  for (int ordinal = 1; count.ok() && ordinal < *count; ++ordinal) {
    if (device_facts(ordinal).ok()) return {};
  }
  return first.status().message();
}

Result<std::unique_ptr<Device>> Device::open(int ordinal) {
  const Result<const Driver*> loaded = cuda::driver();
  if (!loaded.ok()) return loaded.status();
  const Driver& driver = **loaded;
  const Result<CUdevice> device = device_at(driver, ordinal);
  if (!device.ok()) return device.status();
  Result<DeviceFacts> facts = facts_of(driver, *device);
  if (!facts.ok()) return facts.status();
  CUcontext context = nullptr;
  CONVGRAD_RETURN_IF_ERROR(CONVGRAD_CUDA(driver, cuDevicePrimaryCtxRetain(&context, *device)));
  std::unique_ptr<Device> opened(new Device(driver, std::move(*facts)));
  opened->ordinal_ = ordinal;
  opened->device_ = *device;
  opened->context_ = context;
  return opened;
}

Result<const Device*> Device::of(int ordinal) {
  static std::array<std::atomic<const Device*>, kMostDevices> opened{};
  const Result<const Driver*> loaded = cuda::driver();  // refuses a forked child
  if (!loaded.ok()) return loaded.status();
  const bool known = ordinal >= 0 && ordinal < kMostDevices;
  const auto place = static_cast<std::size_t>(ordinal);
  if (const Device* there = known ? opened[place].load(std::memory_order_acquire) : nullptr) return there;
  Result<std::unique_ptr<Device>> fresh = open(ordinal);
  if (!fresh.ok()) return fresh.status();
  const Device* other = nullptr;
  return opened[place].compare_exchange_strong(other, fresh->get()) ? fresh->release() : other;
}

Result<CUmodule> Device::module_of(std::string_view group) const {
  std::atomic<CUmodule>& place = modules_[first_of_group(group)];
  if (const CUmodule there = place.load(std::memory_order_acquire)) return there;
  CUmodule fresh = nullptr, other = nullptr;
  CONVGRAD_RETURN_IF_ERROR(CONVGRAD_CUDA(driver_, cuModuleLoadData(&fresh, image(group).data())));
  if (place.compare_exchange_strong(other, fresh)) return fresh;
  driver_.cuModuleUnload(fresh);
  return other;
}

// All that a block may have, once for all launches: how much one takes is said at the launch.
Status Device::allow_shared_memory(CUfunction function) const {
  int taken = 0;
  CONVGRAD_RETURN_IF_ERROR(CONVGRAD_CUDA(driver_, cuFuncGetAttribute(&taken, kStaticSharedBytes, function)));
  const int rest = facts_.shared_bytes - taken;
  return CONVGRAD_CUDA(driver_, cuFuncSetAttribute(function, kDynamicSharedBytes, rest));
}

Result<CUfunction> Device::load(Kernel kernel) const {
  const InRelaxedCapture relaxed(driver_);
  const Result<CUmodule> module = module_of(info(kernel).group);
  if (!module.ok()) return module.status();
  CUfunction fresh = nullptr;
  const char* const name = info(kernel).name.data();
  CONVGRAD_RETURN_IF_ERROR(CONVGRAD_CUDA(driver_, cuModuleGetFunction(&fresh, *module, name)));
  CONVGRAD_RETURN_IF_ERROR(allow_shared_memory(fresh));
  return fresh;
}

Result<CUfunction> Device::function(Kernel kernel) const {
  std::atomic<CUfunction>& place = functions_[static_cast<std::size_t>(kernel)];
  if (const CUfunction there = place.load(std::memory_order_acquire)) return there;
  Result<CUfunction> fresh = load(kernel);
  if (fresh.ok()) place.store(*fresh, std::memory_order_release);  // threads that meet here store the same
  return fresh;
}

Status Device::encode(const Box& box, void* map) const {
  constexpr unsigned kRank = 5;
  std::uint64_t extents[kRank], byte_strides[kRank - 1];
  std::uint32_t load[kRank], element_strides[kRank];
  std::copy_n(box.extents, kRank, extents);
  std::copy_n(box.byte_strides, kRank - 1, byte_strides);
  std::copy_n(box.box, kRank, load);
  std::copy_n(box.element_strides, kRank, element_strides);
  const int type = data_type(box.element_bytes);
  const int swizzle = box.swizzle_bytes == 128 ? kSwizzle128 : kSwizzle64;
  void* const tensor = const_cast<void*>(box.tensor);
  return CONVGRAD_CUDA(driver_,
                       cuTensorMapEncodeTiled(map, type, kRank, tensor, extents, byte_strides, load, element_strides,
                                              kNoInterleave, swizzle, kPromote128, kFillZeros));
}

Status Device::launch(const Launch& launch, CUstream stream) const {
  const Result<CUfunction> found = function(launch.kernel);
  if (!found.ok()) return found.status();
  KernelArgs args = launch.args;
  if (auto* conv = std::get_if<ConvArgs>(&args)) {
    for (std::size_t i = 0; i < launch.boxes.size(); ++i)
      CONVGRAD_RETURN_IF_ERROR(encode(launch.boxes[i], &conv->maps[i]));
  }
  void* parameters[] = {std::visit([](auto& given) -> void* { return &given; }, args)};
  const auto threads = static_cast<unsigned>(info(launch.kernel).threads);
  return CONVGRAD_CUDA(driver_, cuLaunchKernel(*found, launch.blocks, 1, 1, threads, 1, 1, launch.shared_bytes, stream,
                                               parameters, nullptr));
}

InContext::InContext(const Device& device)
    : driver_(device.driver()), status_(CONVGRAD_CUDA(driver_, cuCtxPushCurrent_v2(device.context()))) {}

InContext::~InContext() {
  CUcontext ours = nullptr;
  if (status_.ok()) driver_.cuCtxPopCurrent_v2(&ours);
}

Result<Stream> make_stream(const Device& device) {
  CUstream stream = nullptr;
  CONVGRAD_RETURN_IF_ERROR(CONVGRAD_CUDA(device.driver(), cuStreamCreate(&stream, kNonBlocking)));
  return Stream(stream, {&device.driver()});
}

Status wait(const Device& device, CUstream stream) {
  return CONVGRAD_CUDA(device.driver(), cuStreamSynchronize(stream));
}

Result<Event> make_event(const Device& device) {
  CUevent event = nullptr;
  CONVGRAD_RETURN_IF_ERROR(CONVGRAD_CUDA(device.driver(), cuEventCreate(&event, kTimed)));
  return Event(event, {&device.driver()});
}

Status record(const Device& device, const Event& event, CUstream stream) {
  return CONVGRAD_CUDA(device.driver(), cuEventRecord(event.get(), stream));
}

Result<double> microseconds_between(const Device& device, const Event& from, const Event& to) {
  float milliseconds = 0;
  CONVGRAD_RETURN_IF_ERROR(CONVGRAD_CUDA(device.driver(), cuEventSynchronize(to.get())));
  CONVGRAD_RETURN_IF_ERROR(CONVGRAD_CUDA(device.driver(), cuEventElapsedTime(&milliseconds, from.get(), to.get())));
  return 1e3 * milliseconds;
}

void BufferDeleter::operator()(void* address) const noexcept {
  const Driver& driver = device->driver();
  if (device->facts().has_memory_pools) {
    driver.cuMemFreeAsync(address_of(address), stream);
  } else {
    driver.cuMemFree_v2(address_of(address));  // waits for the device
  }
}

Result<Buffer> allocate(const Device& device, std::size_t bytes, CUstream stream) {
  CUdeviceptr address = 0;
  const Driver& driver = device.driver();
  if (bytes > 0) {
    CONVGRAD_RETURN_IF_ERROR(device.facts().has_memory_pools
                                 ? CONVGRAD_CUDA(driver, cuMemAllocAsync(&address, bytes, stream))
                                 : CONVGRAD_CUDA(driver, cuMemAlloc_v2(&address, bytes)));
  }
  return Buffer(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), {&device, stream});
}

Status fill(const Device& device, void* to, std::size_t bytes, unsigned char value, CUstream stream) {
  if (bytes == 0) return {};
  return CONVGRAD_CUDA(device.driver(), cuMemsetD8Async(address_of(to), value, bytes, stream));
}

Status copy_in(const Device& device, void* to, std::span<const std::byte> from, CUstream stream) {
  if (from.empty()) return {};
  return CONVGRAD_CUDA(device.driver(), cuMemcpyHtoDAsync_v2(address_of(to), from.data(), from.size(), stream));
}

Status copy_out(const Device& device, std::span<std::byte> to, const void* from, CUstream stream) {
  if (to.empty()) return {};
  return CONVGRAD_CUDA(device.driver(), cuMemcpyDtoHAsync_v2(to.data(), address_of(from), to.size(), stream));
}

// A kernel that touches the host's memory loses the context, and with it everything of the process on that GPU.
Status is_reachable(const Device& device, std::string_view argument, const void* address) {
  unsigned kind = 0, managed = 0;  // of the latter the driver writes one byte
  int ordinal = -1;
  const auto ask = [&](void* value, int attribute) {
    return device.driver().cuPointerGetAttribute(value, attribute, address_of(address)) == kSuccess;
  };
  const bool known = ask(&kind, kMemoryType) && ask(&ordinal, kDeviceOrdinal) && ask(&managed, kIsManaged);
  const bool on_a_gpu = known && kind == kDeviceMemory;
  if ((known && managed != 0) || (on_a_gpu && ordinal == device.ordinal())) return {};
  return wrong_place(argument, on_a_gpu ? Place{Memory::cuda, ordinal} : Place{}, {Memory::cuda, device.ordinal()});
}

}  // namespace convgrad::cuda
