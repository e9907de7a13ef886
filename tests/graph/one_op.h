// One op on its own: as it is refused or shaped when a graph is built, and as it runs.
#pragma once

#include <gtest/gtest.h>

#include "convgrad/graph/session.h"
#include "graph/convert.h"
#include "support/tolerance.h"

namespace convgrad::graph::test {

inline Tensor tensor(const Shape& shape, const std::vector<double>& values, DataType dtype = DT_DOUBLE) {
  Tensor made(DT_DOUBLE, TensorShape(shape));
  EXPECT_EQ(made.NumElements(), static_cast<int64>(values.size()));
  std::copy(values.begin(), values.end(), static_cast<double*>(made.data()));
  return convert(made, dtype).value();
}
inline Tensor numbers(const std::vector<int64>& values, DataType dtype = DT_INT32) {
  return tensor({static_cast<int64>(values.size())}, {values.begin(), values.end()}, dtype);
}

inline std::vector<double> values(const Tensor& tensor) {
  std::vector<double> found;
  for (int64 i = 0; i < tensor.NumElements(); ++i) found.push_back(tensor.at(i));
  return found;
}

// |got - wanted| <= that many half steps of the type between neighbours; NaN equals NaN.
inline void expect_near(const Tensor& got, const std::vector<double>& wanted, double half_steps = 1) {
  ASSERT_EQ(got.NumElements(), static_cast<int64>(wanted.size()));
  const std::optional<DType> dtype = eager_dtype(got.dtype());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double value = got.at(static_cast<int64>(i));
    if (std::isnan(wanted[i]) || std::isinf(wanted[i])) {
      EXPECT_TRUE(std::isnan(wanted[i]) ? std::isnan(value) : value == wanted[i]) << "element " << i << " is " << value;
      continue;
    }
    const double allowed = dtype ? half_steps * convgrad::test::half_ulp(*dtype, wanted[i]) : 0;
    EXPECT_LE(std::abs(value - wanted[i]), allowed)
        << "element " << i << " of " << DataTypeString(got.dtype()) << " is " << value << ", wanted " << wanted[i];
  }
}

struct Ran {
  Status status;
  std::vector<Tensor> outputs = {};
};

inline std::vector<Output> outputs_of(Node* node) {
  std::vector<Output> outputs;
  for (int i = 0; node != nullptr && i < node->num_outputs(); ++i) outputs.emplace_back(node, i);
  return outputs;
}

// With inputs that are constants: everything is known while the graph is built.
inline Ran run_known(const string& op, const std::vector<Tensor>& inputs, const AttrMap& attrs,
                     std::vector<PartialTensorShape>* inferred = nullptr) {
  const Scope scope = Scope::NewRootScope();
  Node* node = scope.WithOpName("it").add(op, {inputs.begin(), inputs.end()}, attrs);
  if (!scope.ok()) return {scope.status()};
  for (int i = 0; inferred != nullptr && i < node->num_outputs(); ++i)
    inferred->push_back(node->outputs()[static_cast<std::size_t>(i)].shape);
  Ran ran;
  ran.status = ClientSession(scope).Run(outputs_of(node), &ran.outputs);
  return ran;
}

// With inputs of which not even the rank is known until they are fed.
inline Ran run_unknown(const string& op, const std::vector<Tensor>& inputs, const AttrMap& attrs) {
  const Scope scope = Scope::NewRootScope();
  std::vector<Input> pins;
  ClientSession::FeedType feeds;
  for (const Tensor& input : inputs) {
    const Output fed(scope.add("Placeholder", {}, {{"dtype", input.dtype()}}), 0);
    pins.emplace_back(fed);
    feeds.emplace(fed, input);
  }
  Node* node = scope.WithOpName("it").add(op, pins, attrs);
  if (!scope.ok()) return {scope.status()};
  Ran ran;
  ran.status = ClientSession(scope).Run(feeds, outputs_of(node), &ran.outputs);
  return ran;
}

// Both ways: the same bits, the shapes that were foretold, or the same sentence.
inline Ran run_op(const string& op, const std::vector<Tensor>& inputs, const AttrMap& attrs = {}) {
  std::vector<PartialTensorShape> inferred;
  Ran known = run_known(op, inputs, attrs, &inferred), unknown = run_unknown(op, inputs, attrs);
  EXPECT_EQ(known.status.message(), unknown.status.message()) << op;
  EXPECT_EQ(known.outputs.size(), unknown.outputs.size()) << op;
  for (std::size_t i = 0; i < std::min(known.outputs.size(), unknown.outputs.size()); ++i) {
    EXPECT_EQ(inferred[i], PartialTensorShape(known.outputs[i].shape())) << op << " output " << i;
    EXPECT_TRUE(same_value(known.outputs[i], unknown.outputs[i])) << op << " output " << i;
  }
  return known;
}

}  // namespace convgrad::graph::test
