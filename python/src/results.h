// Where a result goes: fresh memory of the caller's kind, or the array given as `out`.
#pragma once

#include "arrays.h"

namespace convgrad::python {

class Answer {
 public:
  // A new array of the kind that the operands are.
  Answer(Kind kind, DType dtype, const Shape& shape);
  // The caller's own array.
  explicit Answer(nb::handle out) : view_(output_from(out)), object_(nb::borrow(out)) {}

  const MutableTensorView& view() const { return view_; }
  // The array, after it has been written.
  nb::object take();

 private:
  MutableTensorView view_;
  nb::object object_;
  Kind kind_ = Kind::numpy;
  Tensor tensor_;  // the memory of what is handed over through DLPack
};

// The tensor's memory as an array of this kind; nothing is copied.
nb::object array_of(const Tensor& tensor, Kind kind);

// Memory as a NumPy array of any dtype, DLPack's or not; `owner` keeps it alive.
struct Memory {
  void* data;
  std::size_t item_bytes;
  const Shape& shape;
};
nb::object ndarray_over(const Memory& memory, nb::handle dtype, nb::handle owner);

}  // namespace convgrad::python
