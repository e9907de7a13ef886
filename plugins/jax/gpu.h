// What XLA lends to a custom call on a GPU: the GPU's number, a stream, memory for the time of the call.
#pragma once

#include "convgrad/plan.h"
#include "xla_ffi.h"

namespace convgrad::jax {

// Where a call's buffers lie, and the stream that its work goes to. The host has none.
struct Site {
  Place place = {};
  void* stream = nullptr;
};

// Of a frame that XLA made for a GPU.
Result<Site> gpu_of(const xla::CallFrame& frame);

// Memory of the frame's GPU until this ends. XLA gives it to none but later work of the same stream, so that the call
// need not wait for its own.
class Scratch {
 public:
  Scratch(const xla::CallFrame& frame, std::int64_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const Status& status() const { return status_; }
  const Workspace& workspace() const { return workspace_; }  // null for 0 bytes

 private:
  const xla::CallFrame& frame_;
  Status status_;
  Workspace workspace_;
};

}  // namespace convgrad::jax
