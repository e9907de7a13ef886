// Shapes without allocation, for the hot path.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "convgrad/geometry.h"

namespace convgrad {

struct FixedShape {
  std::array<std::int64_t, 5> sizes{};
  std::size_t rank = 0;

  void push(std::int64_t size) { sizes[rank++] = size; }
  std::span<const std::int64_t> span() const { return {sizes.data(), rank}; }
  std::int64_t elements() const {
    std::int64_t count = 1;
    for (std::int64_t size : span()) count *= size;
    return count;
  }
};

struct FixedOperand {
  std::string_view name;
  FixedShape shape;
};
struct FixedOperands {
  int count;
  FixedOperand operand[2];
};

FixedShape fixed_result_shape(const Geometry& geometry);
FixedOperands fixed_operands(const Geometry& geometry);

// Whether any sum of the result has a term. Without one the result is all zeros, and the sizes that are not 0
// bound nothing.
bool has_terms(const Geometry& geometry);

}  // namespace convgrad
