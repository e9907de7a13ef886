// Tensors and attributes of graphs as Python writes them.
#pragma once

#include <nanobind/nanobind.h>

#include "convgrad/graph/op_table.h"

namespace convgrad::python {

namespace nb = nanobind;

// Copies an array or a list; Python's own numbers take TensorFlow's types, float32 and int32.
graph::Tensor graph_tensor_from(nb::handle object, std::string_view argument);
// The tensor's memory as a NumPy array; nothing is copied.
nb::object ndarray_of(const graph::Tensor& tensor);

// By TensorFlow's or NumPy's name, NumPy's dtype, or a class that NumPy has a dtype for.
graph::DataType data_type_from(nb::handle object, std::string_view argument);
graph::AttrValue attr_from(nb::handle object, const graph::AttrSpec& spec);
nb::object object_of(const graph::AttrValue& value);

// None for what is not known: (None, 4), or None alone when not even the rank is.
nb::object object_of(const graph::PartialTensorShape& shape);

}  // namespace convgrad::python
