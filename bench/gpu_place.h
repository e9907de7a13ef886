// A plan's tensors in a GPU's memory, for the programs that check and time the CUDA engine on one.
#pragma once

#include <string>
#include <vector>

#include "convgrad/convgrad.h"
#include "engines/cuda/runtime/device.h"

namespace convgrad::bench {

// Bytes of the device between two rims that nobody may write to.
class Piece {
 public:
  static Result<Piece> make(const cuda::Device& device, std::int64_t bytes, std::size_t shift, cuda::CUstream stream);

  void* data() const { return static_cast<std::byte*>(memory_.get()) + kRim + shift_; }
  Status poison(const cuda::Device& device, cuda::CUstream stream) const;  // every byte 0xFF, a NaN in each float type
  Result<bool> has_whole_rims(const cuda::Device& device, cuda::CUstream stream) const;

 private:
  static constexpr std::size_t kRim = 256;  // as the driver itself aligns
  Piece(cuda::Buffer memory, std::size_t bytes, std::size_t shift)
      : memory_(std::move(memory)), bytes_(bytes), shift_(shift) {}
  std::size_t whole() const { return kRim + shift_ + bytes_ + kRim; }

  cuda::Buffer memory_;
  std::size_t bytes_, shift_;
};

struct HostOperands {
  const Tensor& first;
  const Tensor& second;  // not read where the problem has one operand
};

// Operands, result and workspace of a plan, in the order of one stream, which must outlive them.
class Placed {
 public:
  // Operands and result start `shift` elements off a boundary of 256 bytes.
  static Result<Placed> make(const cuda::Device& device, const Plan& plan, std::size_t shift, cuda::CUstream stream);

  Status put(const HostOperands& operands) const;
  Status poison() const;  // result and workspace
  Status run() const;     // only adds the work to the stream
  Result<Tensor> result() const;
  Status wait() const { return cuda::wait(*device_, stream_); }
  Result<bool> has_whole_rims() const;

 private:
  enum { kFirst, kSecond, kResult, kWorkspace };
  Placed(const cuda::Device& device, const Plan& plan, cuda::CUstream stream)
      : device_(&device), plan_(&plan), stream_(stream) {}

  const cuda::Device* device_;
  const Plan* plan_;
  cuda::CUstream stream_;
  std::vector<Piece> pieces_;
};

// A string of JSON.
std::string quoted(std::string_view text);

}  // namespace convgrad::bench
