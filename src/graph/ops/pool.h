// Pooling windows over images and volumes. Output sizes and padding are geometry's: those of a convolution of every
// channel on its own with a filter of ksize.
#pragma once

#include "convgrad/geometry.h"
#include "graph/ops/shapes.h"

namespace convgrad::graph {

// A pooled shape as far as it is known, and the windows when all of it is.
struct Pooled {
  PartialTensorShape input;
  PartialTensorShape output;
  Geometry geometry;  // sizes that are not known stand at ones that fit
};
// Of spatial rank 2 or 3, for an input of this shape and the node's ksize, strides, padding and data_format. `input` is
// the argument that a refusal of the shape names.
Result<Pooled> pooled(const NodeView& node, int rank, const PartialTensorShape& shape, std::string_view input);

// A tensor as pooling walks over it: `samples` blocks of positions * lanes elements. Lanes are the channels where they
// come last; a channel that comes first is a sample of its own.
struct Lanes {
  int64 samples;
  int64 lanes;
};
Lanes lanes_of(const Geometry& geometry);
int64 positions(const Extents& extents);

// Calls f(output position, input positions) for every window of a sample; cells of the padding are left out, and at
// least one is in the input.
template <class F>
void each_window(const Geometry& g, F f) {
  std::vector<int64> cells;
  const auto range = [&](std::size_t d, int64 at) {
    const int64 start = at * g.stride[d] - g.pad_before[d];
    return std::pair{std::max<int64>(start, 0), std::min(start + g.filter[d], g.in[d])};
  };
  int64 position = 0;
  for (int64 i = 0; i < g.out[0]; ++i) {
    for (int64 j = 0; j < g.out[1]; ++j) {
      for (int64 k = 0; k < g.out[2]; ++k) {
        const auto [i0, i1] = range(0, i);
        const auto [j0, j1] = range(1, j);
        const auto [k0, k1] = range(2, k);
        cells.clear();
        for (int64 a = i0; a < i1; ++a)
          for (int64 b = j0; b < j1; ++b)
            for (int64 c = k0; c < k1; ++c) cells.push_back((a * g.in[1] + b) * g.in[2] + c);
        f(position++, cells);
      }
    }
  }
}

// Of a pooling op itself: one output of the pooled shape.
template <int rank>
Result<Inferred> infer_pool(const NodeView& node) {
  const Result<Pooled> pool = pooled(node, rank, node.inputs[0].shape, node.op.inputs[0].name);
  if (!pool.ok()) return pool.status();
  return Inferred{{pool->output}};
}

struct PoolWords {
  string name;
  string input;  // how TensorFlow calls it
  string doc;
};
OpSpec pool_spec(int rank, const PoolWords& words, const std::vector<DataType>& types);
string pool_group(int rank);  // of the palette
std::vector<AttrSpec> pool_attrs(int rank, std::vector<DataType> types);
// The attributes that a pooling op and its gradients share, to hand on.
AttrMap pool_attrs(const NodeGradient& gradient);

}  // namespace convgrad::graph
