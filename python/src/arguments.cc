#include "arguments.h"

#include <algorithm>
#include <cstring>

#include "convgrad/geometry.h"
#include "errors.h"
#include "numpy.h"
#include "site.h"

namespace convgrad::python {
namespace {

[[noreturn]] void refuse_type(nb::handle object, std::string_view argument, std::string_view wanted) {
  raise(wrong_type(argument, object_text(object), wanted));
}

template <class T>
void append(const ArrayStruct& fields, Shape& numbers) {
  for (Py_ssize_t i = 0; i < fields.shape[0]; ++i) {
    T number;  // which may lie at any address
    std::memcpy(&number, static_cast<const char*>(fields.data) + i * fields.strides[0], sizeof number);
    numbers.push_back(number);
  }
}

// The two element types of size vectors, without a Python object for each number.
bool read_vector(const ArrayStruct& fields, Shape& numbers) {
  if (fields.kind != 'i' || fields.dimensions != 1 || !fields.native()) return false;
  if (fields.item_bytes == 4) append<std::int32_t>(fields, numbers);
  if (fields.item_bytes == 8) append<std::int64_t>(fields, numbers);
  return fields.item_bytes == 4 || fields.item_bytes == 8;
}

// A list or a tuple.
class Sequence {
 public:
  explicit Sequence(nb::handle object) : object_(object.ptr()), is_list_(PyList_Check(object_) != 0) {}
  Py_ssize_t size() const { return is_list_ ? PyList_Size(object_) : PyTuple_Size(object_); }
  nb::object operator[](Py_ssize_t i) const {
    return nb::borrow(is_list_ ? PyList_GetItem(object_, i) : PyTuple_GetItem(object_, i));
  }

 private:
  PyObject* object_;
  bool is_list_;
};

Integers from_sequence(const Sequence& sequence, std::string_view argument) {
  Integers list;
  const Py_ssize_t count = sequence.size();
  list.numbers.reserve(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < std::min(count, sequence.size()); ++i) {  // __index__ of an element may change the list
    list.numbers.push_back(integer_from(sequence[i], argument));
  }
  return list;
}

// Whatever NumPy makes integers of.
Integers from_array(nb::handle object, std::string_view argument) {
  refuse_elsewhere(object, argument, {});
  const nb::object array = ndarray_from(object, argument);
  const Interface found = interface_of(array);
  Integers list;
  if (read_vector(found.fields, list.numbers)) return list;
  list.rank = found.fields.dimensions;
  const char kind = found.fields.kind;
  const nb::object flat = array.attr("ravel")();
  if (kind != 'i' && kind != 'u' && nb::len(flat) > 0)
    refuse_type(object, argument, "integers, not elements of type " + dtype_name(array));
  const nb::object numbers = flat.attr("tolist")();
  list.numbers = from_sequence(Sequence(numbers), argument).numbers;
  return list;
}

// An array's rows; a list as it is.
nb::object list_of_pairs(nb::handle padding) {
  if (is_list(padding)) return nb::borrow(padding);
  refuse_elsewhere(padding, "padding", {});
  return ndarray_from(padding, "padding").attr("tolist")();
}

bool is_flat(const Sequence& sequence) { return sequence.size() == 0 || !PySequence_Check(sequence[0].ptr()); }

}  // namespace

std::int64_t integer_from(nb::handle object, std::string_view argument) {
  const nb::object index =
      PyLong_CheckExact(object.ptr()) ? nb::borrow(object) : nb::steal(PyNumber_Index(object.ptr()));
  if (!index.is_valid()) {
    clear_exception();
    refuse_type(object, argument, "an integer");
  }
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow == 0) return number;
  raise(wrong_type(argument, "an integer of " + text_of(index.attr("bit_length")()) + " bits",
                   "one of less than 64 bits and a sign"));
}

Integers integers_from(nb::handle object, std::string_view argument) {
  if (PyLong_CheckExact(object.ptr())) return {{integer_from(object, argument)}, 0};
  if (is_list(object) && is_flat(Sequence(object))) return from_sequence(Sequence(object), argument);
  if (object.is_none() || PyUnicode_Check(object.ptr())) refuse_type(object, argument, "a list of integers");
  return from_array(object, argument);
}

Shape flat_integers_from(nb::handle object, std::string_view argument) {
  Integers list = integers_from(object, argument);
  if (list.rank > 1) refuse_type(object, argument, "integers, not a list of lists");
  return std::move(list.numbers);
}

std::string_view text_from(nb::handle object, std::string_view argument) {
  if (!PyUnicode_Check(object.ptr())) refuse_type(object, argument, "a name");
  Py_ssize_t bytes = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object.ptr(), &bytes);
  if (text == nullptr) {
    clear_exception();
    raise(wrong_type(argument, text_of(object), "a name of whole characters"));
  }
  return {text, static_cast<std::size_t>(bytes)};
}

PaddingArgument padding_from(nb::handle object) {
  if (PyUnicode_Check(object.ptr())) return {text_from(object, "padding"), {}};
  const nb::object list = list_of_pairs(object);
  if (!is_list(list)) refuse_type(object, "padding", "a name, or a list of pairs of integers");
  PaddingArgument padding{"EXPLICIT", {}};
  const Sequence pairs(list);
  const Py_ssize_t count = pairs.size();
  for (Py_ssize_t i = 0; i < std::min(count, pairs.size()); ++i) {
    const nb::object pair = pairs[i];
    const Integers numbers = integers_from(pair, "padding");
    if (numbers.rank != 1 || numbers.numbers.size() != 2) refuse_type(pair, "padding", "pairs of integers");
    padding.pairs.insert(padding.pairs.end(), numbers.numbers.begin(), numbers.numbers.end());
  }
  return padding;
}

}  // namespace convgrad::python
