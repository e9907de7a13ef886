#include "graph_values.h"

#include <cstring>

#include "arguments.h"
#include "arrays.h"
#include "convgrad/geometry.h"
#include "errors.h"
#include "numpy.h"
#include "results.h"

namespace convgrad::python {
namespace {

using graph::AttrKind;
using graph::DataType;

// "f4", as NumPy writes a dtype after its byte order; bfloat16 is one of NumPy's unknown "V2".
const graph::DataTypeInfo* info_of(nb::handle ndarray, const ArrayStruct& fields) {
  const std::string letters = fields.kind + std::to_string(fields.item_bytes);
  for (const graph::DataTypeInfo& row : graph::all_data_types()) {
    const bool opaque = row.letters.front() == 'V';
    if (row.letters == letters && (!opaque || dtype_name(ndarray) == row.name)) return &row;
  }
  return nullptr;
}

nb::object numpy_dtype_of(const graph::DataTypeInfo& row) {
  if (row.dtype == graph::DT_BFLOAT16) return nb::borrow(numpy_dtype(DType::bf16));
  return NumPy::get().dtype(nb::str(row.letters.data(), row.letters.size()));
}

// An array in this machine's byte order, row by row.
nb::object plain_array(nb::handle object, std::string_view argument) {
  const NumPy& numpy = NumPy::get();
  refuse_elsewhere(object, argument, {});
  nb::object array = numpy.asarray(object);
  const Interface found = interface_of(array);
  const char kind = found.fields.kind;
  if (is_plain_list(object) && (kind == 'f' || kind == 'i'))
    return list_as(object, kind == 'f' ? DType::f32 : DType::i32, argument);
  const graph::DataTypeInfo* row = info_of(array, found.fields);
  if (row == nullptr) raise(wrong_type(argument, "elements of type " + dtype_name(array), "a type that tensors hold"));
  return numpy.asarray(array, numpy_dtype_of(*row), "C");
}

graph::PartialTensorShape shape_from(nb::handle object, std::string_view argument) {
  if (object.is_none()) return {};
  nb::list sizes;
  for (nb::handle size : nb::borrow<nb::iterable>(object)) {
    sizes.append(size.is_none() ? nb::int_(-1) : nb::borrow(size));
  }
  return graph::PartialTensorShape(integers_from(sizes, argument).numbers);
}

double number_from(nb::handle object, std::string_view argument) {
  const double number = PyFloat_AsDouble(object.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    raise(wrong_type(argument, nb::inst_name(object).c_str(), "a number"));
  }
  return number;
}

bool flag_from(nb::handle object, std::string_view argument) {
  if (!PyBool_Check(object.ptr())) raise(wrong_type(argument, nb::inst_name(object).c_str(), "True or False"));
  return object.ptr() == Py_True;
}

}  // namespace

graph::Tensor graph_tensor_from(nb::handle object, std::string_view argument) {
  const nb::object array = plain_array(object, argument);
  const Interface found = interface_of(array);
  const graph::DataTypeInfo* row = info_of(array, found.fields);
  graph::Tensor tensor = value_or_raise(graph::Tensor::make(row->dtype, shape_of(found.fields)));
  if (tensor.TotalBytes() > 0)
    std::memcpy(tensor.data(), found.fields.data, static_cast<std::size_t>(tensor.TotalBytes()));
  return tensor;
}

nb::object ndarray_of(const graph::Tensor& tensor) {
  const graph::DataTypeInfo& row = *graph::data_type_info(tensor.dtype());
  auto* kept = new graph::Tensor(tensor);
  const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<graph::Tensor*>(memory); });
  return ndarray_over({kept->data(), row.bytes, kept->shape().dim_sizes()}, numpy_dtype_of(row), owner);
}

DataType data_type_from(nb::handle object, std::string_view argument) {
  nb::object name = nb::borrow(object);
  if (!PyUnicode_Check(object.ptr())) {
    if (!nb::hasattr(object, "name")) name = NumPy::get().dtype(object);
    name = name.attr("name");
  }
  const std::string_view text = text_from(name, argument);
  const std::optional<DataType> dtype = graph::data_type_from_name(text);
  if (!dtype) raise(wrong_type(argument, text, "the name of an element type"));
  return *dtype;
}

graph::AttrValue attr_from(nb::handle object, const graph::AttrSpec& spec) {
  switch (spec.kind) {
    case AttrKind::boolean: return flag_from(object, spec.name);
    case AttrKind::integer: return integer_from(object, spec.name);
    case AttrKind::number: return number_from(object, spec.name);
    case AttrKind::text: return std::string(text_from(object, spec.name));
    case AttrKind::type: return data_type_from(object, spec.name);
    case AttrKind::shape: return shape_from(object, spec.name);
    case AttrKind::tensor: return graph_tensor_from(object, spec.name);
    case AttrKind::integers: return flat_integers_from(object, spec.name);
  }
  __builtin_unreachable();
}

nb::object object_of(const graph::PartialTensorShape& shape) {
  if (shape.unknown_rank()) return nb::none();
  nb::list sizes;
  for (std::int64_t size : shape.sizes()) sizes.append(size < 0 ? nb::object(nb::none()) : nb::int_(size));
  return nb::tuple(sizes);
}

nb::object object_of(const graph::AttrValue& value) {
  if (const auto* tensor = std::get_if<graph::Tensor>(&value)) return ndarray_of(*tensor);
  if (const auto* flag = std::get_if<bool>(&value)) return nb::bool_(*flag);
  if (const auto* text = std::get_if<graph::string>(&value)) return nb::str(text->c_str(), text->size());
  if (const auto* shape = std::get_if<graph::PartialTensorShape>(&value)) return object_of(*shape);
  if (const auto* list = std::get_if<std::vector<graph::int64>>(&value)) {
    nb::list numbers;
    for (graph::int64 number : *list) numbers.append(number);
    return numbers;
  }
  return nb::str(graph::to_text(value).c_str());
}

}  // namespace convgrad::python
