// What the tests of the face share: one run of a scope, and its elements.
#pragma once

#include <convgrad/graph.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace convgrad::graph::test {

inline std::vector<double> elements(const Tensor& tensor) {
  std::vector<double> values;
  for (int64 i = 0; i < tensor.NumElements(); ++i) values.push_back(tensor.at(i));
  return values;
}

// What a session of its own gives for one output; an empty tensor and a failed test when it refuses.
inline Tensor run(const Scope& scope, const Output& output, const ClientSession::FeedType& feed = {}) {
  std::vector<Tensor> outputs;
  const Status status = ClientSession(scope).Run(feed, {output}, &outputs);
  EXPECT_TRUE(status.ok()) << status;
  return outputs.size() == 1 ? outputs[0] : Tensor();
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && a.tensor_data() == b.tensor_data();
}

inline testing::AssertionResult has(const Status& status, const std::string& text) {
  if (status.message().find(text) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << status.message() << "' lacks '" << text << "'";
}

// 1, 2, 3, ...
inline Tensor counted(DataType dtype, const TensorShape& shape) {
  Tensor tensor(dtype, shape);
  visit(dtype, [&]<class T>(T) {
    T* to = static_cast<T*>(tensor.data());
    for (int64 i = 0; i < tensor.NumElements(); ++i) {
      if constexpr (std::is_arithmetic_v<T>)
        to[i] = static_cast<T>(i + 1);
      else
        to[i] = T::from(static_cast<float>(i + 1));
    }
  });
  return tensor;
}

}  // namespace convgrad::graph::test
