// Tensors as a person reads them: every element of a small one, a summary of a large one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/answer.h"
#include "convgrad/graph/tensor.h"

namespace convgrad::cli {

// More elements than these are summed up; page files keep larger tensors apart at the same number.
inline constexpr std::int64_t kSmallTensor = 64;

// Of all elements that are numbers; NaN where there is none.
struct TensorSummary {
  double min, max, mean;
  std::int64_t nan_count;
};
TensorSummary summary_of(const graph::Tensor& tensor);

// "121040.000000", "7", "true".
std::string element_text(const graph::Tensor& tensor, std::int64_t index);
// "name[0][1]" of a flat index; the name alone for a scalar.
std::string element_name(std::string_view name, const graph::TensorShape& shape, std::int64_t index);

// Lines, each ended: the caption `name[2][2] float`, then one line an element, or the summary.
std::string tensor_text(std::string_view node, std::string_view name, const graph::Tensor& tensor);

// dtype, shape, elements, min, max, mean, nan_count, and the first kSmallTensor values.
Json tensor_json(const graph::Tensor& tensor);

}  // namespace convgrad::cli
