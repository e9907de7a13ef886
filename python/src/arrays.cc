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
  if (!fields.native()) {
    const auto swapped = [&] { return ndarray.attr("astype")(numpy_dtype(*dtype)); };
    return from_ndarray(by_numpy(swapped, argument, ndarray), argument);
  }
  Array array{{fields.data, *dtype, shape_of(fields), {}}, Kind::numpy, fields.writable(), {}, {}};
  if (!fields.contiguous()) array.view.byte_strides.assign(fields.strides, fields.strides + fields.dimensions);
  array.owner = std::move(ndarray);
  return array;
}

// By the name of the module that a class comes from: nothing is imported to find out.
Kind kind_of(nb::handle object) {
  const std::string module = text_of(object.type().attr("__module__"));
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

bool is_true(nb::handle object) {
  const int truth = PyObject_IsTrue(object.ptr());
  if (truth < 0) throw nb::python_error();
  return truth == 1;
}

// Whether PyTorch keeps the negative of the elements, which DLPack does not tell.
bool is_negated(nb::handle tensor) { return nb::hasattr(tensor, "is_neg") && is_true(tensor.attr("is_neg")()); }

// PyTorch would go on as if no gradient had been asked for.
void refuse_lost_gradient(nb::handle tensor, std::string_view argument) {
  if (!is_true(tensor.attr("requires_grad"))) return;
  if (is_true(nb::module_::import_("torch").attr("is_grad_enabled")()))
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
  const bool negated = array.kind == Kind::torch && is_negated(object);
  const nb::object tensor = negated ? object.attr("resolve_neg")() : nb::borrow(object);
  if (!nb::try_cast(lender(tensor, argument, site), array.lent)) {
    object.attr("__dlpack__")();  // says why itself, where it knows
    raise(wrong_type(argument, object_text(object), "memory that DLPack can lend"));
  }
  refuse_elsewhere(place_of(array.lent, argument), argument, site);
  array.view = view_of<TensorView>(array.lent, argument);
  return array;
}

Output output_on_gpu(nb::handle object, const Site& site) {
  refuse_elsewhere(object, "out", site);
  const Kind kind = kind_of(object);
  if (kind == Kind::torch) refuse_lost_gradient(object, "out");
  if (kind == Kind::torch && is_negated(object))
    raise(wrong_type("out", "a tensor that is read as its negative", "tensor.resolve_neg()"));
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
  const nb::object array = ndarray_from(list, argument);
  const Interface found = interface_of(array);
  const char kind = found.fields.kind;
  const bool empty = found.fields.dimensions > 0 && nb::len(array.attr("ravel")()) == 0;
  if (kind != 'i' && kind != 'f' && !empty) refuse_dtype(argument, dtype_name(array));
  const DType dtype = like ? *like : kind == 'i' ? DType::i32 : DType::f32;
  if (kind == 'f' && dtype == DType::i32) refuse_dtype(argument, dtype_name(array));
  return from_ndarray(list_as(list, dtype, argument), argument);
}

bool is_python_number(nb::handle object) { return PyFloat_CheckExact(object.ptr()) || PyLong_CheckExact(object.ptr()); }

// Whether a list element has a type of its own, as NumPy's floats have. TensorFlow takes its integers for Python's.
bool has_own_type(nb::handle element) {
  if (is_python_number(element) || !nb::hasattr(element, "dtype")) return false;
  const nb::object dtype = element.attr("dtype");
  const std::string kind = nb::hasattr(dtype, "kind") ? text_of(dtype.attr("kind")) : "f";
  return kind != "i" && kind != "u" && kind != "b";
}

// An infinity that no infinity was.
bool has_overflowed(nb::handle narrow, nb::handle wide) {
  const nb::object is_infinite = nb::module_::import_("numpy").attr("isinf");
  return !is_infinite(narrow).attr("sum")().equal(is_infinite(wide).attr("sum")());
}

}  // namespace

nb::object list_as(nb::handle list, DType dtype, std::string_view argument) {
  const nb::object wide = ndarray_from(list, argument);
  nb::object narrow = wide.attr("astype")(numpy_dtype(dtype));
  const bool whole = dtype == DType::i32;
  const bool same =
      whole ? nb::cast<bool>(nb::bool_(narrow.attr("__eq__")(wide).attr("all")())) : !has_overflowed(narrow, wide);
  if (same) return narrow;
  const std::string got = whole ? "an integer beyond 32 bits" : "a number beyond the largest";
  raise(wrong_type(argument, got, "elements of type " + std::string(info(dtype).numpy_name)));
}

bool is_plain_list(nb::handle object) {
  return is_python_number(object) || (is_list(object) && !has_own_type(first_element(object)));
}

Array array_from(nb::handle object, std::string_view argument, const Site& site, std::optional<DType> like) {
  const bool lent = !is_ndarray(object) && !is_plain_list(object) && nb::hasattr(object, "__dlpack__");
  if (lent) return from_dlpack(object, argument, site);
  refuse_elsewhere(Place{}, argument, site);
  if (is_plain_list(object)) return from_list(object, argument, like);
  return from_ndarray(ndarray_from(object, argument), argument);
}

Output output_from(nb::handle object, const Site& site) {
  if (site.place.memory == Memory::cuda) return output_on_gpu(object, site);
  if (!is_ndarray(object)) raise(wrong_type("out", object_text(object), "a NumPy array"));
  const nb::object ndarray = ndarray_from(object, "out");
  const Interface found = interface_of(ndarray);
  const ArrayStruct& fields = found.fields;
  const std::optional<DType> dtype = dtype_of(ndarray, fields);
  if (!dtype) refuse_dtype("out", dtype_name(ndarray));
  if (!fields.writable()) raise(wrong_type("out", "a read-only array", "an array that may be written"));
  if (!fields.native()) raise(wrong_type("out", "the other byte order", "this machine's byte order"));
  MutableTensorView view{fields.data, *dtype, shape_of(fields), {}};
  if (!fields.contiguous()) view.byte_strides.assign(fields.strides, fields.strides + fields.dimensions);
  return {std::move(view)};
}

}  // namespace convgrad::python
