// The graph API: TensorFlow's C++ classes, without TensorFlow.
//
//   #include <convgrad/graph.h>
//   #include <iostream>
//
//   int main() {
//     using namespace convgrad::graph;
//     Scope root = Scope::NewRootScope();
//     auto x = ops::Const(root, 1.0f, {1, 4, 4, 1});
//     auto dy = ops::Const(root, 2.0f, {1, 4, 4, 1});
//     auto dw = ops::Conv2DBackpropFilter(root, x, {3, 3, 1, 1}, dy, {1, 1, 1, 1}, "SAME");
//     std::vector<Tensor> outputs;
//     Status status = ClientSession(root).Run({dw}, &outputs);
//     if (status.ok()) std::cout << outputs[0].DebugString(9) << "\n";
//     else std::cout << status << "\n";
//   }
//
// Programs written for TensorFlow itself compile with the headers of compat/ in their include path. docs/graph.md tells
// what differs from TensorFlow on purpose.
#ifndef CONVGRAD_GRAPH_H_
#define CONVGRAD_GRAPH_H_

#include "convgrad/graph/const_op.h"
#include "convgrad/graph/gradients.h"
#include "convgrad/graph/input.h"
#include "convgrad/graph/node.h"
#include "convgrad/graph/op_table.h"
#include "convgrad/graph/ops.h"
#include "convgrad/graph/scope.h"
#include "convgrad/graph/session.h"
#include "convgrad/graph/status.h"
#include "convgrad/graph/tensor.h"
#include "convgrad/graph/tensor_shape.h"
#include "convgrad/graph/types.h"

#endif  // CONVGRAD_GRAPH_H_
