// What the op classes of convgrad/graph/ops.h are made of.
#ifndef CONVGRAD_GRAPH_OP_CLASS_H_
#define CONVGRAD_GRAPH_OP_CLASS_H_

#include "convgrad/graph/const_op.h"

namespace convgrad::graph::detail {

inline AttrValue attr_of(gtl::ArraySlice<int> numbers) { return std::vector<int64>(numbers.begin(), numbers.end()); }
inline AttrValue attr_of(const std::vector<int>& numbers) { return attr_of(gtl::ArraySlice<int>(numbers)); }
inline AttrValue attr_of(StringPiece text) { return string(text); }
inline AttrValue attr_of(const string& text) { return text; }
inline AttrValue attr_of(bool flag) { return flag; }
inline AttrValue attr_of(float number) { return static_cast<double>(number); }
inline AttrValue attr_of(int64 number) { return number; }
inline AttrValue attr_of(DataType type) { return type; }
inline AttrValue attr_of(const PartialTensorShape& shape) { return shape; }
inline AttrValue attr_of(const Tensor& tensor) { return tensor; }

inline std::vector<int> list(gtl::ArraySlice<int> numbers) { return {numbers.begin(), numbers.end()}; }

}  // namespace convgrad::graph::detail

#endif  // CONVGRAD_GRAPH_OP_CLASS_H_
