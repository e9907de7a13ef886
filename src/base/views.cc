#include "base/views.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/text.h"

namespace convgrad {
namespace {

std::int64_t elements(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (std::int64_t size : shape) count *= size;
  return count;
}

// Calls visit(flat index, byte offset) for every element in row-major order.
template <class Visit>
void walk(const Footprint& f, const Visit& visit) {
  std::vector<std::int64_t> index(f.shape.size(), 0);
  std::int64_t offset = 0;
  const std::int64_t count = elements(f.shape);
  for (std::int64_t i = 0; i < count; ++i) {
    visit(i, offset);
    for (std::size_t d = f.shape.size(); d-- > 0;) {
      offset += f.byte_strides[d];
      if (++index[d] < f.shape[d]) break;
      offset -= f.byte_strides[d] * f.shape[d];
      index[d] = 0;
    }
  }
}

}  // namespace

std::optional<ByteRange> byte_range(const Footprint& f) {
  const std::int64_t count = elements(f.shape);
  if (count == 0) return ByteRange{0, 0};
  if (f.byte_strides.empty()) return ByteRange{0, count * f.element_bytes};
  Wide low = 0, high = f.element_bytes;
  for (std::size_t d = 0; d < f.shape.size(); ++d) {
    const Wide step = Wide{f.byte_strides[d]} * (f.shape[d] - 1);
    (step < 0 ? low : high) += step;
  }
  constexpr Wide kFar = Wide{1} << 62;
  if (low < -kFar || high > kFar) return std::nullopt;
  return ByteRange{static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

bool overlaps_itself(const Footprint& f) {
  if (f.byte_strides.empty() || elements(f.shape) == 0) return false;
  std::vector<std::pair<Wide, std::int64_t>> dims;  // |stride|, size
  for (std::size_t d = 0; d < f.shape.size(); ++d) {
    const Wide stride = f.byte_strides[d];
    if (f.shape[d] > 1) dims.emplace_back(stride < 0 ? -stride : stride, f.shape[d]);
  }
  std::sort(dims.begin(), dims.end());
  Wide inner = f.element_bytes;  // bytes spanned by the dimensions with smaller strides
  for (const auto& [stride, size] : dims) {
    if (stride < inner) return true;
    inner += stride * (size - 1);
  }
  return false;
}

void gather(const Footprint& f, const void* strided, void* contiguous) {
  const auto bytes = static_cast<std::size_t>(f.element_bytes);
  if (f.byte_strides.empty()) {
    std::memcpy(contiguous, strided, static_cast<std::size_t>(elements(f.shape)) * bytes);
    return;
  }
  walk(f, [&](std::int64_t i, std::int64_t offset) {
    std::memcpy(static_cast<std::byte*>(contiguous) + i * f.element_bytes,
                static_cast<const std::byte*>(strided) + offset, bytes);
  });
}

void scatter(const Footprint& f, const void* contiguous, void* strided) {
  const auto bytes = static_cast<std::size_t>(f.element_bytes);
  if (f.byte_strides.empty()) {
    std::memcpy(strided, contiguous, static_cast<std::size_t>(elements(f.shape)) * bytes);
    return;
  }
  walk(f, [&](std::int64_t i, std::int64_t offset) {
    std::memcpy(static_cast<std::byte*>(strided) + offset,
                static_cast<const std::byte*>(contiguous) + i * f.element_bytes, bytes);
  });
}

}  // namespace convgrad
