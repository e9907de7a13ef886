// Tensors as the page looks at them: slices, numbers about all elements, differences.
#pragma once

#include <string_view>
#include <vector>

#include "convgrad/graph/tensor.h"
#include "studio/server/messages.h"

namespace convgrad::studio {

// The coordinates of a flat index.
std::vector<std::int64_t> coordinates(const graph::TensorShape& shape, std::int64_t index);
// -1 when they are outside, or too many or too few.
std::int64_t flat_index(const graph::TensorShape& shape, const std::vector<std::int64_t>& coordinates);

// {min, max, mean, nan, inf, count, histogram: {from, to, counts}}: of all elements; min, max, mean and histogram of
// those that are finite, null or left out when there are none.
Json stats_json(const graph::Tensor& tensor);
// The first elements, each as page files write it.
Json head_json(const graph::Tensor& tensor, std::int64_t count);

// at: "0,0,:,:,1", one entry an axis, ":" for all of it; empty: all of every axis. Answers {dtype, shape, at, data,
// total}: data in row-major order of the axes that are left, the first `limit` of `total`.
Result<Json> slice_json(const graph::Tensor& tensor, std::string_view at, std::int64_t limit);

// {max, at, mean, equal_bits} of |a - b|: max is "NaN" when only one of two is NaN somewhere. Refuses tensors of
// different type or shape.
Result<Json> difference_json(const graph::Tensor& a, const graph::Tensor& b);

}  // namespace convgrad::studio
