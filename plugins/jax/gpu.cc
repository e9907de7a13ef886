#include "gpu.h"

#include <string>

namespace convgrad::jax {
namespace {

constexpr std::size_t kAlignment = 256;  // as CUDA itself aligns

const xla::GpuApi& api_of(const xla::CallFrame& frame) { return reinterpret_cast<const xla::GpuApi&>(*frame.api); }

// XLA's sentence, with convgrad's code for it.
Status taken(const xla::GpuApi& api, xla::Error* error, StatusCode code) {
  if (error == nullptr) return {};
  xla::ErrorMessageArgs asked{sizeof(asked), nullptr, error, nullptr};
  api.error_message(&asked);
  ErrorDetail detail{.code = code, .message = asked.message};
  xla::ErrorDestroyArgs done{sizeof(done), nullptr, error};
  api.destroy_error(&done);
  return Status(std::move(detail));
}

}  // namespace

Result<Site> gpu_of(const xla::CallFrame& frame) {
  if (frame.api->struct_size < sizeof(xla::GpuApi)) {
    return Status({.code = StatusCode::unimplemented,
                   .message = "convgrad: this version of XLA's interface does not tell on which GPU a call runs; that "
                              "of jaxlib 0.6 does"});
  }
  const xla::GpuApi& api = api_of(frame);
  xla::DeviceArgs device{xla::kDeviceArgsSize, nullptr, frame.context, 0};
  CONVGRAD_RETURN_IF_ERROR(taken(api, api.device(&device), StatusCode::internal));
  xla::StreamArgs stream{sizeof(stream), nullptr, frame.context, nullptr};
  CONVGRAD_RETURN_IF_ERROR(taken(api, api.stream(&stream), StatusCode::internal));
  return Site{{Memory::cuda, device.number}, stream.stream};
}

Scratch::Scratch(const xla::CallFrame& frame, std::int64_t bytes) : frame_(frame) {
  if (bytes == 0) return;
  const xla::GpuApi& api = api_of(frame);
  const auto size = static_cast<std::size_t>(bytes);
  xla::AllocateArgs asked{sizeof(asked), nullptr, frame.context, size, kAlignment, nullptr};
  status_ = taken(api, api.allocate(&asked), StatusCode::resource_exhausted);
  if (status_.ok()) workspace_ = {asked.data, size};
}

Scratch::~Scratch() {
  if (workspace_.data == nullptr) return;
  const xla::GpuApi& api = api_of(frame_);
  xla::FreeArgs done{sizeof(done), nullptr, frame_.context, workspace_.bytes, workspace_.data};
  if (xla::Error* const error = api.free(&done); error != nullptr) {  // nobody is left to be told
    xla::ErrorDestroyArgs ignored{sizeof(ignored), nullptr, error};
    api.destroy_error(&ignored);
  }
}

}  // namespace convgrad::jax
