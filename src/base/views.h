// What lies behind a tensor view: its extent in memory, and copies into and out of it.
#pragma once

#include <cstdint>
#include <span>

#include "convgrad/tensor.h"

namespace convgrad {

// First byte and one past the last that a view touches, relative to its data pointer.
struct ByteRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// A view's place in memory without its pointer; the shape is non-negative and its element count fits.
struct Footprint {
  std::span<const std::int64_t> shape;
  std::span<const std::int64_t> byte_strides;  // empty: contiguous
  std::int64_t element_bytes;
};

// Fails (nullopt) when the offsets leave +-2^62.
std::optional<ByteRange> byte_range(const Footprint& footprint);

// Whether two index tuples may meet in the same byte.
bool overlaps_itself(const Footprint& footprint);

// Row-major elements to and from a strided place.
void gather(const Footprint& footprint, const void* strided, void* contiguous);
void scatter(const Footprint& footprint, const void* contiguous, void* strided);

}  // namespace convgrad
