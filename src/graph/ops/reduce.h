// Sums over dimensions, and their opposite: values repeated over them.
#pragma once

#include "graph/ops/shapes.h"

namespace convgrad::graph {

// x summed down to `kept`, x's shape with 1 for every dimension that is summed over (leading ones may be left out),
// each sum divided by `count`. The result has as many elements and the shape `result`.
struct Reduction {
  Shape kept;
  Shape result;
  int64 count = 1;
};
Result<std::vector<Tensor>> reduced(const Tensor& x, const Reduction& reduction);

// Which of the two: Sum or Mean.
enum class Reduce { sum, mean };

// The rows of Sum and Mean, and those of SumGrad and MeanGrad, which give every element of a reduction's input its part
// of the gradient. Each pair is closed under differentiation.
OpRow reduction_row(Reduce reduce);
OpRow reduction_grad_row(Reduce reduce);

}  // namespace convgrad::graph
