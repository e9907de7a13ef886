// A convolution op as Python calls it, and what the library makes of it.
#pragma once

#include "arguments.h"
#include "arrays.h"
#include "convgrad/geometry.h"

namespace convgrad::python {

// The arguments as they came. `explicit_paddings` of None: `padding` is a name or a list of pairs.
struct Given {
  nb::handle first, second;  // as in OpOperands
  nb::handle sizes;          // None for the forward ops
  nb::handle strides, padding, explicit_paddings, data_format, dilations;
};

// The same, read.
class CallArguments {
 public:
  CallArguments(NamedOp op, const Given& given, nb::handle out);

  // Valid as long as this object.
  ConvCall call() const;
  const Site& site() const { return site_; }
  Array& first() { return first_; }
  Array& second() { return second_; }
  Kind kind() const { return first_.kind == Kind::numpy ? second_.kind : first_.kind; }
  // Of the result, as the caller reads it.
  Shape result_shape(const Geometry& geometry) const;
  // The filter among the operands as the geometry reads it; where it cannot be read so, a copy that can.
  void regroup_filter(const Geometry& geometry);

 private:
  void read_tensors(const Given& given);
  NamedOp op_;
  Site site_;
  Array first_, second_;
  Integers sizes_;
  Shape strides_, dilations_;
  PaddingArgument padding_;
  Tensor filter_copy_;
  std::string_view data_format_;
};

Op op_from(nb::handle name);
NamedOp named_op_from(nb::handle name);

void bind_buffers(nb::module_& module);
void bind_conv(nb::module_& module);
void bind_gradients(nb::module_& module);
void bind_plan(nb::module_& module);

}  // namespace convgrad::python
