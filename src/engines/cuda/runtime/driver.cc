#include "engines/cuda/runtime/driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>

#include "base/rules.h"
#include "base/text.h"
#include "engines/cuda/runtime/image.h"

namespace convgrad::cuda {
namespace {

Status cannot_start(std::string reason, std::string got, std::string wanted) {
  return refuse("cuda", {.rule = Rule::device,
                         .argument = "driver",
                         .reason = std::move(reason),
                         .got = std::move(got),
                         .wanted = std::move(wanted),
                         .code = StatusCode::unimplemented});
}

// The first process that asks owns the driver: its state does not survive a fork, and calls in a child may hang.
Status is_owner() {
  static std::atomic<pid_t> owner{0};
  const pid_t me = getpid();
  pid_t found = 0;
  if (owner.compare_exchange_strong(found, me) || found == me) return {};
  return cannot_start("this process was forked from one that used CUDA", concat("a child of process ", found),
                      "a process started anew (for Python: multiprocessing's \"spawn\")");
}

std::string last_error_of_loader() {
  const char* text = dlerror();
  return text != nullptr ? text : "no reason";
}

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

Status find_functions(void* library, Driver& driver) {
  const char* missing = nullptr;
#define CONVGRAD_CUDA_FUNCTION(name, ...) \
  if (!find(library, #name, driver.name)) missing = #name;
#include "engines/cuda/runtime/driver.inc"
#undef CONVGRAD_CUDA_FUNCTION
  if (missing == nullptr) return {};
  return cannot_start("the driver is too old", concat("a library without ", missing), "a driver for CUDA 12 or later");
}

// The library stays open as long as the process: threads of the driver may run in it. The tests' driver, which runs
// kernels on the CPU, says so by a function and needs no images.
Status open(const char* name, Driver& driver) {
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return cannot_start("the NVIDIA driver cannot be loaded", last_error_of_loader(), concat("a loadable ", name));
  if (!has_images() && dlsym(library, "convgrad_host_driver") == nullptr)
    return cannot_start("this library was built without CUDA kernels", concat("only ", name), "-DCONVGRAD_CUDA=ON");
  return find_functions(library, driver);
}

Status load(Driver& driver) {
  const char* const named = std::getenv("CONVGRAD_CUDA_DRIVER");
  if (named == nullptr && !has_images())
    return cannot_start("this library was built without CUDA kernels", "a build without them", "-DCONVGRAD_CUDA=ON");
  CONVGRAD_RETURN_IF_ERROR(open(named != nullptr ? named : "libcuda.so.1", driver));
  CONVGRAD_RETURN_IF_ERROR(is_owner());
  return CONVGRAD_CUDA(driver, cuInit(0));
}

StatusCode code_of(CUresult result) {
  switch (result) {
    case kOutOfMemory: return StatusCode::resource_exhausted;
    case kNotInitialized:  // in a child of a process where others used CUDA
    case kNoDevice:
    case kInvalidImage:
    case kNoBinary:
    case kUnsupportedPtx:
    case kNotSupported:
    case kDriverMismatch: return StatusCode::unimplemented;
    case kInvalidDevice:
    case kInvalidContext:
    case kInvalidHandle:
    case kContextDestroyed: return StatusCode::invalid_argument;
    default:
      const bool of_capture = kFirstOfCapture <= result && result <= kLastOfCapture;
      return of_capture ? StatusCode::invalid_argument : StatusCode::internal;
  }
}

}  // namespace

Result<const Driver*> driver() {
  static std::atomic<const Driver*> loaded{nullptr};
  if (const Driver* there = loaded.load(std::memory_order_acquire)) {
    const Status owned = is_owner();
    return owned.ok() ? Result<const Driver*>(there) : owned;
  }
  auto fresh = std::make_unique<Driver>();
  CONVGRAD_RETURN_IF_ERROR(load(*fresh));
  const Driver* other = nullptr;  // of a thread that was faster
  return loaded.compare_exchange_strong(other, fresh.get()) ? fresh.release() : other;
}

Status answer(const Driver& driver, CUresult result, const char* call, std::source_location where) {
  if (result == kSuccess) return {};
  const char* text = nullptr;
  if (driver.cuGetErrorString(result, &text) != kSuccess || text == nullptr) text = "an unknown error";
  const std::string_view path = where.file_name();
  return refuse("cuda", {.rule = result == kOutOfMemory ? Rule::resource : Rule::device,
                         .argument = "device",
                         .reason = concat(call, " failed at ", path.substr(path.rfind('/') + 1), ":", where.line()),
                         .got = concat(text, " (error ", result, ")"),
                         .wanted = "success",
                         .code = code_of(result)});
}

}  // namespace convgrad::cuda
