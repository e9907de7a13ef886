#include "arrays.h"

#include <algorithm>
#include <string>

#include "convgrad/geometry.h"
#include "errors.h"
#include "numpy.h"

namespace convgrad::python {
namespace {

std::string known_dtypes() {
  std::string names;
  for (const DTypeInfo& row : all_dtypes()) names += (names.empty() ? "" : ", ") + std::string(row.numpy_name);
  return names;
}

[[noreturn]] void refuse_dtype(std::string_view argument, const std::string& got) {
  raise(wrong_type(argument, "elements of type " + got, "one of " + known_dtypes()));
}

// An array as NumPy describes it, in this machine's byte order.
Array from_ndarray(nb::object ndarray, std::string_view argument) {
  const Interface found = interface_of(ndarray);
  const ArrayStruct& fields = found.fields;
  const std::optional<DType> dtype = dtype_of(ndarray, fields);
  if (!dtype) refuse_dtype(argument, dtype_name(ndarray));
  if (!fields.native()) return from_ndarray(ndarray.attr("astype")(numpy_dtype(*dtype)), argument);
  Array array{{fields.data, *dtype, shape_of(fields), {}}, Kind::numpy, fields.writable(), {}, {}};
  if (!fields.contiguous()) array.view.byte_strides.assign(fields.strides, fields.strides + fields.dimensions);
  array.owner = std::move(ndarray);
  return array;
}

// By the name of the module that a class comes from: nothing is imported to find out.
Kind kind_of(nb::handle object) {
  const nb::object name = object.type().attr("__module__");
  const std::string module = nb::str(name).c_str();
  const std::string top = module.substr(0, module.find('.'));
  if (top == "torch") return Kind::torch;
  if (top == "jax" || top == "jaxlib") return Kind::jax;
  return top == "tensorflow" ? Kind::tensorflow : Kind::other;
}

std::string dlpack_name(const nb::dlpack::dtype& dtype) {
  static constexpr std::string_view names[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
  const std::string name(dtype.code < std::size(names) ? names[dtype.code] : "unknown");
  return name + std::to_string(dtype.bits) + (dtype.lanes == 1 ? "" : "x" + std::to_string(dtype.lanes));
}

// PyTorch would go on as if no gradient had been asked for.
void refuse_lost_gradient(nb::handle tensor, std::string_view argument) {
  if (!nb::cast<bool>(tensor.attr("requires_grad"))) return;
  if (nb::cast<bool>(nb::module_::import_("torch").attr("is_grad_enabled")()))
    raise(wrong_type(argument, "a tensor that requires grad", "tensor.detach(), or a call under torch.no_grad()"));
}

DType dlpack_dtype(const nb::dlpack::dtype& dtype, std::string_view argument) {
  for (const DTypeInfo& row : all_dtypes()) {
    const nb::dlpack::dtype each{static_cast<std::uint8_t>(row.dlpack_code), static_cast<std::uint8_t>(row.dlpack_bits),
                                 1};
    if (dtype == each) return row.dtype;
  }
  refuse_dtype(argument, dlpack_name(dtype));
}

// Without strides where they say no more than the shape.
template <class View>
void drop_plain_strides(View& view) {
  if (std::ranges::find(view.shape, 0) != view.shape.end()) return view.byte_strides.clear();
  auto expected = static_cast<std::int64_t>(size_of(view.dtype));
  for (std::size_t d = view.shape.size(); d-- > 0;) {
    if (view.shape[d] != 1 && view.byte_strides[d] != expected) return;
    expected *= view.shape[d];
  }
  view.byte_strides.clear();
}

// Where the memory of a loan lies, whatever its array said of it.
template <class Lent>
Place place_of(const Lent& lent, std::string_view argument) {
  const int type = lent.device_type();
  if (type == nb::device::cpu::value) return {};
  if (type == nb::device::cuda::value || type == nb::device::cuda_managed::value)
    return {Memory::cuda, static_cast<int>(lent.device_id())};
  raise(wrong_type(argument, "memory of device type " + std::to_string(type), "memory of the CPU or of an NVIDIA GPU"));
}

template <class View, class Lent>
View view_of(const Lent& lent, std::string_view argument) {
  View view{lent.data(), dlpack_dtype(lent.dtype(), argument), {}, {}};
  for (std::size_t d = 0; d < lent.ndim(); ++d) {
    view.shape.push_back(static_cast<std::int64_t>(lent.shape(d)));
    view.byte_strides.push_back(lent.stride(d) * static_cast<std::int64_t>(size_of(view.dtype)));
  }
  drop_plain_strides(view);
  return view;
}

// What DLPack makes a loan of: on the host the array itself, for nanobind knows older ways to ask as well.
nb::object lender(nb::handle object, std::string_view argument, const Site& site) {
  if (site.place.memory == Memory::host) return nb::borrow(object);
  refuse_elsewhere(object, argument, site);
  return lent_to(site, object, Loan::to_read);
}

Array from_dlpack(nb::handle object, std::string_view argument, const Site& site) {
  Array array;
  array.kind = kind_of(object);
  if (array.kind == Kind::torch) refuse_lost_gradient(object, argument);
  if (!nb::try_cast(lender(object, argument, site), array.lent)) {
    object.attr("__dlpack__")();  // says why itself, where it knows
    raise(wrong_type(argument, "an object of type " + std::string(nb::inst_name(object).c_str()),
                     "memory that DLPack can lend"));
  }
  refuse_elsewhere(place_of(array.lent, argument), argument, site);
  array.view = view_of<TensorView>(array.lent, argument);
  return array;
}

Output output_on_gpu(nb::handle object, const Site& site) {
  refuse_elsewhere(object, "out", site);
  const Kind kind = kind_of(object);
  if (kind == Kind::torch) refuse_lost_gradient(object, "out");
  const bool changes = kind != Kind::jax && kind != Kind::tensorflow;
  Output output;
  if (!changes || !nb::try_cast(lent_to(site, object, Loan::to_write), output.lent))
    raise(wrong_type("out", "a read-only array", "an array that may be written"));
  refuse_elsewhere(place_of(output.lent, "out"), "out", site);
  output.view = view_of<MutableTensorView>(output.lent, "out");
  return output;
}

// TensorFlow's types of Python's numbers, unless the other tensor says otherwise.
Array from_list(nb::handle list, std::string_view argument, std::optional<DType> like) {
  nb::object array = NumPy::get().asarray(list);
  const Interface found = interface_of(array);
  const char kind = found.fields.kind;
  const bool empty = found.fields.dimensions > 0 && nb::len(array.attr("ravel")()) == 0;
  if (kind != 'i' && kind != 'f' && !empty) refuse_dtype(argument, dtype_name(array));
  const DType dtype = like ? *like : kind == 'i' ? DType::i32 : DType::f32;
  if (kind == 'f' && dtype == DType::i32) refuse_dtype(argument, dtype_name(array));
  return from_ndarray(list_as(list, dtype, argument), argument);
}

}  // namespace

nb::object list_as(nb::handle list, DType dtype, std::string_view argument) {
  const NumPy& numpy = NumPy::get();
  if (dtype != DType::i32) return numpy.asarray(list, numpy_dtype(dtype));
  const nb::object wide = numpy.asarray(list);
  nb::object narrow = wide.attr("astype")(numpy_dtype(dtype));
  if (nb::cast<bool>(numpy.asarray(narrow.attr("__eq__")(wide)).attr("all")().attr("item")())) return narrow;
  raise(wrong_type(argument, "an integer beyond 32 bits", "elements of type int32"));
}

bool is_plain_list(nb::handle object) {
  return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()) || PyFloat_CheckExact(object.ptr()) ||
         PyLong_CheckExact(object.ptr());
}

Array array_from(nb::handle object, std::string_view argument, const Site& site, std::optional<DType> like) {
  const bool lent = !is_ndarray(object) && !is_plain_list(object) && nb::hasattr(object, "__dlpack__");
  if (lent) return from_dlpack(object, argument, site);
  refuse_elsewhere(Place{}, argument, site);
  if (is_plain_list(object)) return from_list(object, argument, like);
  return from_ndarray(is_ndarray(object) ? nb::borrow(object) : NumPy::get().asarray(object), argument);
}

Output output_from(nb::handle object, const Site& site) {
  if (site.place.memory == Memory::cuda) return output_on_gpu(object, site);
  if (!is_ndarray(object))
    raise(wrong_type("out", "an object of type " + std::string(nb::inst_name(object).c_str()), "a NumPy array"));
  const Interface found = interface_of(object);
  const ArrayStruct& fields = found.fields;
  const std::optional<DType> dtype = dtype_of(object, fields);
  if (!dtype) refuse_dtype("out", dtype_name(object));
  if (!fields.writable()) raise(wrong_type("out", "a read-only array", "an array that may be written"));
  if (!fields.native()) raise(wrong_type("out", "the other byte order", "this machine's byte order"));
  MutableTensorView view{fields.data, *dtype, shape_of(fields), {}};
  if (!fields.contiguous()) view.byte_strides.assign(fields.strides, fields.strides + fields.dimensions);
  return {std::move(view)};
}

}  // namespace convgrad::python
