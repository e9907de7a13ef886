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
  refuse_elsewhere(object, argument, {});
  const nb::object array = ndarray_from(object, argument);
  const Interface found = interface_of(array);
  const char kind = found.fields.kind;
  if (is_plain_list(object) && (kind == 'f' || kind == 'i'))
    return list_as(object, kind == 'f' ? DType::f32 : DType::i32, argument);
  const graph::DataTypeInfo* row = info_of(array, found.fields);
  if (row == nullptr) raise(wrong_type(argument, "elements of type " + dtype_name(array), "a type that tensors hold"));
  return by_numpy([&] { return NumPy::get().asarray(array, numpy_dtype_of(*row), "C"); }, argument, array);
}

graph::PartialTensorShape shape_from(nb::handle object, std::string_view argument) {
  if (object.is_none()) return {};
  nb::object sizes = nb::borrow(object);
  if (is_list(object)) {
    nb::list known;
    for (nb::handle size : object) known.append(size.is_none() ? nb::int_(-1) : nb::borrow(size));
    sizes = known;
  }
  Integers read = integers_from(sizes, argument);
  if (read.rank != 1) raise(wrong_type(argument, object_text(object), "a list of sizes, or None"));
  return graph::PartialTensorShape(std::move(read.numbers));
}

double number_from(nb::handle object, std::string_view argument) {
  const double number = PyFloat_AsDouble(object.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) {
    clear_exception();
    raise(wrong_type(argument, type_of(object), "a number"));
  }
  return number;
}

bool flag_from(nb::handle object, std::string_view argument) {
  if (!PyBool_Check(object.ptr())) raise(wrong_type(argument, type_of(object), "True or False"));
  return object.ptr() == Py_True;
}

// An attribute's memory is the graph's.
nb::object read_only(nb::object ndarray) {
  ndarray.attr("setflags")(nb::arg("write") = false);
  return ndarray;
}

// Of Python's own types TensorFlow takes float, for float32, and bool; NumPy takes None too.
nb::object data_type_name(nb::handle object, std::string_view argument) {
  if (PyUnicode_Check(object.ptr())) return nb::borrow(object);
  if (nb::hasattr(object, "name")) return object.attr("name");
  const nb::handle builtin_float(reinterpret_cast<PyObject*>(&PyFloat_Type));
  const nb::handle builtin_int(reinterpret_cast<PyObject*>(&PyLong_Type));
  if (object.is(builtin_float)) return nb::str("float32");
  if (object.is_none() || object.is(builtin_int)) raise(wrong_type(argument, text_of(object), "an element type"));
  return by_numpy([&] { return NumPy::get().dtype(object); }, argument, object).attr("name");
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
  const nb::object name = data_type_name(object, argument);
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
  if (const auto* tensor = std::get_if<graph::Tensor>(&value)) return read_only(ndarray_of(*tensor));
  if (const auto* flag = std::get_if<bool>(&value)) return nb::bool_(*flag);
  if (const auto* text = std::get_if<graph::string>(&value)) return string_of(*text);
  if (const auto* shape = std::get_if<graph::PartialTensorShape>(&value)) return object_of(*shape);
  if (const auto* list = std::get_if<std::vector<graph::int64>>(&value)) {
    nb::list numbers;
    for (graph::int64 number : *list) numbers.append(number);
    return numbers;
  }
  return string_of(graph::to_text(value));
}

}  // namespace convgrad::python
