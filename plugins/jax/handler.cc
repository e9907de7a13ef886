// The custom calls: what jax.ffi registers, for every op of the library. convgrad_jax_conv is the CPU's,
// convgrad_jax_conv_cuda that of NVIDIA's GPUs, which adds the work to XLA's stream and waits for nothing.
#include <algorithm>
#include <string>

#include "convgrad/plan.h"
#include "frame.h"
#include "gpu.h"

namespace convgrad::jax {
namespace {

bool can_complain(const xla::CallFrame& frame) {
  return frame.struct_size > offsetof(xla::CallFrame, api) && frame.api != nullptr &&
         frame.api->struct_size >= sizeof(xla::Api);
}

bool known(const xla::CallFrame& frame) {
  return can_complain(frame) && frame.api->version.major == xla::kMajor &&
         frame.struct_size >= sizeof(xla::CallFrame) && frame.arguments.struct_size >= sizeof(xla::Buffers) &&
         frame.results.struct_size >= sizeof(xla::Buffers) && frame.attributes.struct_size >= sizeof(xla::Attributes);
}

// What is registered is refused by XLA itself unless it serves this version: so a newer interface whose structs may
// lie otherwise never comes to run. Within a major version the older minor of the two is spoken; XLA 0.1 does not say
// its own here.
xla::Error* answer(const xla::CallFrame& frame, xla::MetadataExtension& asked) {
  if (asked.base.struct_size < sizeof(xla::MetadataExtension) || asked.metadata->struct_size < xla::kMetadataSize)
    return nullptr;
  const int minor = known(frame) ? std::min(frame.api->version.minor, xla::kNewestMinor) : xla::kOldestMinor;
  asked.metadata->version = {sizeof(xla::Version), nullptr, xla::kMajor, minor};
  asked.metadata->traits = 0;
  return nullptr;
}

// absl's number for a code.
int code_of(StatusCode code) {
  switch (code) {
    case StatusCode::ok: return 0;
    case StatusCode::cancelled: return 1;
    case StatusCode::invalid_argument: return 3;
    case StatusCode::resource_exhausted: return 8;
    case StatusCode::unimplemented: return 12;
    case StatusCode::internal: break;
  }
  return 13;
}

xla::Error* error_of(const xla::CallFrame& frame, const Status& status) {
  if (status.ok() || !can_complain(frame)) return nullptr;
  xla::ErrorArgs args{xla::kErrorArgsSize, nullptr, status.message().c_str(), code_of(status.code())};
  return frame.api->create_error(&args);
}

template <class View>
View view_of(const xla::Buffer& buffer, DType dtype) {
  const ConvCall::Numbers shape = shape_of(buffer);
  return {buffer.data, dtype, Shape(shape.begin(), shape.end()), {}};
}

// A call as the library takes it.
struct Asked {
  Geometry geometry;
  TensorView first;
  TensorView second;
  MutableTensorView result;
};

Result<Asked> asked_by(const xla::CallFrame& frame) {
  const Result<Given> given = tensors_of(frame);
  if (!given.ok()) return given.status();
  const Result<Words> words = words_of(frame);
  if (!words.ok()) return words.status();
  const Result<DType> first = dtype_of(*given->first);
  if (!first.ok()) return first.status();
  const Result<DType> second = dtype_of(*given->second);
  if (!second.ok()) return second.status();
  const Result<DType> result = dtype_of(*given->result);
  if (!result.ok()) return result.status();
  // The size vector of a gradient is the shape of its result.
  const Result<Geometry> geometry = geometry_of(
      *words, {*first, *second, shape_of(*given->first), shape_of(*given->second), shape_of(*given->result), 1});
  if (!geometry.ok()) return geometry.status();
  return Asked{*geometry, view_of<TensorView>(*given->first, *first), view_of<TensorView>(*given->second, *second),
               view_of<MutableTensorView>(*given->result, *result)};
}

// On the host the library itself has memory for a plan's workspace; on a GPU XLA has.
Status compute(const xla::CallFrame& frame, const Site& site) {
  const Result<Asked> asked = asked_by(frame);
  if (!asked.ok()) return asked.status();
  Policy policy;
  policy.place = site.place;
  const Result<Plan> plan = make_plan(asked->geometry, policy);
  if (!plan.ok()) return plan.status();
  const Scratch scratch(frame, site.place.memory == Memory::host ? 0 : plan->workspace_bytes);
  CONVGRAD_RETURN_IF_ERROR(scratch.status());
  return run(*plan, {asked->first, asked->second, asked->result, scratch.workspace(), site.stream});
}

Status on_host(const xla::CallFrame& frame) { return compute(frame, {}); }

Status on_gpu(const xla::CallFrame& frame) {
  const Result<Site> site = gpu_of(frame);
  return site.ok() ? compute(frame, *site) : site.status();
}

xla::Error* handle(xla::CallFrame& frame, Status (*compute)(const xla::CallFrame& frame)) {
  if (frame.extensions != nullptr && frame.extensions->type == xla::kMetadataExtension)
    return answer(frame, *reinterpret_cast<xla::MetadataExtension*>(frame.extensions));
  if (!known(frame)) return error_of(frame, Status::internal("convgrad: this version of XLA's interface is not known"));
  return error_of(frame, guarded([&] { return compute(frame); }));
}

}  // namespace
}  // namespace convgrad::jax

extern "C" CONVGRAD_API convgrad::jax::xla::Error* convgrad_jax_conv(convgrad::jax::xla::CallFrame* frame) {
  return convgrad::jax::handle(*frame, convgrad::jax::on_host);
}

extern "C" CONVGRAD_API convgrad::jax::xla::Error* convgrad_jax_conv_cuda(convgrad::jax::xla::CallFrame* frame) {
  return convgrad::jax::handle(*frame, convgrad::jax::on_gpu);
}
