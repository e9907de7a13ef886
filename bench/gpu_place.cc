#include "gpu_place.h"

#include <algorithm>
#include <array>

namespace convgrad::bench {
namespace {

std::int64_t bytes_of(const Geometry& g, const Shape& shape) {
  return *element_count(shape) * static_cast<std::int64_t>(size_of(g.dtype));
}

Status put_tensor(const cuda::Device& device, const Piece& piece, const Tensor& tensor, cuda::CUstream stream) {
  const auto* const data = static_cast<const std::byte*>(tensor.data());
  return copy_in(device, piece.data(), {data, static_cast<std::size_t>(tensor.bytes())}, stream);
}

}  // namespace

Result<Piece> Piece::make(const cuda::Device& device, std::int64_t bytes, std::size_t shift, cuda::CUstream stream) {
  Result<cuda::Buffer> memory = allocate(device, 2 * kRim + shift + static_cast<std::size_t>(bytes), stream);
  if (!memory.ok()) return memory.status();
  Piece made(std::move(*memory), static_cast<std::size_t>(bytes), shift);
  CONVGRAD_RETURN_IF_ERROR(made.poison(device, stream));
  return made;
}

Status Piece::poison(const cuda::Device& device, cuda::CUstream stream) const {
  return fill(device, memory_.get(), whole(), 0xFF, stream);
}

Result<bool> Piece::has_whole_rims(const cuda::Device& device, cuda::CUstream stream) const {
  std::array<std::byte, 2 * kRim> rims{};
  const std::span<std::byte> both(rims);
  const auto* const end = static_cast<const std::byte*>(data()) + bytes_;
  CONVGRAD_RETURN_IF_ERROR(copy_out(device, both.first(kRim), memory_.get(), stream));
  CONVGRAD_RETURN_IF_ERROR(copy_out(device, both.last(kRim), end, stream));
  CONVGRAD_RETURN_IF_ERROR(wait(device, stream));
  return std::all_of(rims.begin(), rims.end(), [](std::byte b) { return b == std::byte{0xFF}; });
}

Result<Placed> Placed::make(const cuda::Device& device, const Plan& plan, std::size_t shift, cuda::CUstream stream) {
  const std::vector<Operand> read = operands(plan.geometry);
  const std::int64_t sizes[] = {bytes_of(plan.geometry, read[0].shape),
                                read.size() > 1 ? bytes_of(plan.geometry, read[1].shape) : 0,
                                bytes_of(plan.geometry, result_shape(plan.geometry)), plan.workspace_bytes};
  Placed placed(device, plan, stream);
  for (const std::int64_t& bytes : sizes) {
    const bool is_workspace = &bytes == &sizes[kWorkspace];
    Result<Piece> piece = Piece::make(device, bytes, is_workspace ? 0 : shift * size_of(plan.geometry.dtype), stream);
    if (!piece.ok()) return piece.status();
    placed.pieces_.push_back(std::move(*piece));
  }
  return placed;
}

Status Placed::put(const HostOperands& given) const {
  CONVGRAD_RETURN_IF_ERROR(put_tensor(*device_, pieces_[kFirst], given.first, stream_));
  if (operands(plan_->geometry).size() == 1) return {};
  return put_tensor(*device_, pieces_[kSecond], given.second, stream_);
}

Status Placed::poison() const {
  CONVGRAD_RETURN_IF_ERROR(pieces_[kResult].poison(*device_, stream_));
  return pieces_[kWorkspace].poison(*device_, stream_);
}

Status Placed::run() const {
  const Geometry& g = plan_->geometry;
  const std::vector<Operand> read = operands(g);
  RunArgs args;
  args.first = {pieces_[kFirst].data(), g.dtype, read[0].shape, {}};
  if (read.size() > 1) args.second = {pieces_[kSecond].data(), g.dtype, read[1].shape, {}};
  args.result = {pieces_[kResult].data(), g.dtype, result_shape(g), {}};
  args.workspace = {pieces_[kWorkspace].data(), static_cast<std::size_t>(plan_->workspace_bytes)};
  args.stream = stream_;
  return convgrad::run(*plan_, args);
}

Result<Tensor> Placed::result() const {
  Result<Tensor> got = Tensor::zeros(plan_->geometry.dtype, result_shape(plan_->geometry));
  if (!got.ok()) return got;
  auto* const data = static_cast<std::byte*>(got->data());
  CONVGRAD_RETURN_IF_ERROR(
      copy_out(*device_, {data, static_cast<std::size_t>(got->bytes())}, pieces_[kResult].data(), stream_));
  CONVGRAD_RETURN_IF_ERROR(wait());
  return got;
}

Result<bool> Placed::has_whole_rims() const {
  for (const Piece& piece : pieces_) {
    const Result<bool> whole = piece.has_whole_rims(*device_, stream_);
    if (!whole.ok() || !*whole) return whole;
  }
  return true;
}

std::string quoted(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return made + "\"";
}

}  // namespace convgrad::bench
