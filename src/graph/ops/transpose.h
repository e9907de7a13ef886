// Permutations of dimensions.
#pragma once

#include "graph/ops/shapes.h"

namespace convgrad::graph {

// That input `input`, as far as it is known, is no permutation of 0 to n - 1; with rank >= 0, n must be the rank.
convgrad::Status want_permutation(const NodeView& node, std::size_t input, int rank);

// y[index] = x[index of x] with dimension d of y being dimension perm[d] of x.
Result<Tensor> transposed(const Tensor& x, const std::vector<int64>& perm);

}  // namespace convgrad::graph
