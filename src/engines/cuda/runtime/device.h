// A GPU: its facts, its memory, its streams, and kernels launched on it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engines/cuda/launch.h"
#include "engines/cuda/runtime/driver.h"

namespace convgrad::cuda {

struct DeviceFacts {
  std::string name;
  int major, minor;  // compute capability
  int multiprocessors;
  int shared_bytes;       // that a block may ask for
  bool has_memory_pools;  // memory can be taken and given back in the order of a stream
};

// Touches no context: cheap, and nothing to undo.
Result<DeviceFacts> device_facts(int ordinal);

// Why no GPU here can run the kernels; empty: one can.
std::string obstacle();

inline constexpr std::size_t kKernels = 0
#define CONVGRAD_CUDA_KERNEL(...) +1
#include "engines/cuda/kernels.inc"
#undef CONVGRAD_CUDA_KERNEL
    ;

// One for each GPU that was used, never destroyed. Thread-safe. All calls but of() want its context current.
class Device {
 public:
  // Retains the primary context, which CUDA's runtime and the frameworks use too, when first asked.
  static Result<const Device*> of(int ordinal);

  ~Device() { driver_.cuDevicePrimaryCtxRelease_v2(device_); }  // of one that another thread was faster to open

  const Driver& driver() const { return driver_; }
  const DeviceFacts& facts() const { return facts_; }
  int ordinal() const { return ordinal_; }
  CUcontext context() const { return context_; }

  // Adds a kernel to the stream. The first launch of a kernel loads its image.
  Status launch(const Launch& launch, CUstream stream) const;

 private:
  Device(const Driver& driver, DeviceFacts facts) : driver_(driver), facts_(std::move(facts)) {}
  static Result<std::unique_ptr<Device>> open(int ordinal);
  Result<CUfunction> function(Kernel kernel) const;
  Result<CUfunction> load(Kernel kernel) const;
  Result<CUmodule> module_of(std::string_view group) const;
  Status allow_shared_memory(CUfunction function) const;
  Status encode(const Box& box, void* map) const;

  const Driver& driver_;
  const DeviceFacts facts_;
  int ordinal_ = 0;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  mutable std::array<std::atomic<CUfunction>, kKernels> functions_{};
  mutable std::array<std::atomic<CUmodule>, kKernels> modules_{};  // at the place of its group's first kernel
};

// The device's context is this thread's as long as this lives.
class InContext {
 public:
  explicit InContext(const Device& device);
  ~InContext();
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
  const Status& status() const { return status_; }

 private:
  const Driver& driver_;
  const Status status_;
};

// Modules may be loaded while a stream of this thread is captured into a graph, as long as this lives.
class InRelaxedCapture {
 public:
  explicit InRelaxedCapture(const Driver& driver) : driver_(driver) { exchange(); }
  ~InRelaxedCapture() { exchange(); }
  InRelaxedCapture(const InRelaxedCapture&) = delete;
  InRelaxedCapture& operator=(const InRelaxedCapture&) = delete;

 private:
  void exchange() { driver_.cuThreadExchangeStreamCaptureMode(&mode_); }
  const Driver& driver_;
  int mode_ = kCaptureRelaxed;
};

struct StreamDeleter {
  const Driver* driver;
  void operator()(CUstream stream) const noexcept { driver->cuStreamDestroy_v2(stream); }
};
using Stream = std::unique_ptr<CUstream_st, StreamDeleter>;
Result<Stream> make_stream(const Device& device);
// Until all work of the stream is done.
Status wait(const Device& device, CUstream stream);

// A moment in the order of a stream.
struct EventDeleter {
  const Driver* driver;
  void operator()(CUevent event) const noexcept { driver->cuEventDestroy_v2(event); }
};
using Event = std::unique_ptr<CUevent_st, EventDeleter>;
Result<Event> make_event(const Device& device);
Status record(const Device& device, const Event& event, CUstream stream);
// From one recorded event to a later one, whose work is waited for; the driver counts in steps of half a microsecond.
Result<double> microseconds_between(const Device& device, const Event& from, const Event& to);

// Memory of the device, given back when the work that the stream has by then is done.
struct BufferDeleter {
  const Device* device;
  CUstream stream;
  void operator()(void* address) const noexcept;
};
using Buffer = std::unique_ptr<void, BufferDeleter>;
Result<Buffer> allocate(const Device& device, std::size_t bytes, CUstream stream);  // null for 0 bytes

Status fill(const Device& device, void* to, std::size_t bytes, unsigned char value, CUstream stream);
Status copy_in(const Device& device, void* to, std::span<const std::byte> from, CUstream stream);
Status copy_out(const Device& device, std::span<std::byte> to, const void* from, CUstream stream);

// Whether kernels of the device can reach an address; a sentence about the argument otherwise.
Status is_reachable(const Device& device, std::string_view argument, const void* address);

}  // namespace convgrad::cuda
