#include "graph/convert.h"

#include "base/rules.h"

namespace convgrad::graph {
namespace {

template <class To, class From>
void convert_all(const From* from, To* to, int64 count) {
  for (int64 i = 0; i < count; ++i) to[i] = narrow<To>(widen(from[i]));
}

convgrad::Status computes(DataType dtype) {
  const DataTypeInfo* row = data_type_info(dtype);
  if (row != nullptr && row->computes) return {};
  return refuse("Cast", {.rule = Rule::dtype,
                         .argument = "dtype",
                         .reason = "this element type is not converted",
                         .got = DataTypeString(dtype),
                         .wanted = "float, double, half, bfloat16, int32 or int64"});
}

}  // namespace

Result<Tensor> convert(const Tensor& tensor, DataType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  CONVGRAD_RETURN_IF_ERROR(computes(tensor.dtype()));
  CONVGRAD_RETURN_IF_ERROR(computes(dtype));
  Result<Tensor> made = Tensor::make(dtype, tensor.shape().dim_sizes());
  if (!made.ok()) return made;
  visit(tensor.dtype(), [&]<class From>(From) {
    visit(dtype, [&]<class To>(To) {
      convert_all(static_cast<const From*>(tensor.data()), static_cast<To*>(made->data()), tensor.NumElements());
    });
  });
  return made;
}

}  // namespace convgrad::graph
