// Where a result goes: fresh memory of the caller's kind where its operands lie, or the array given as `out`.
#pragma once

#include "arrays.h"

namespace convgrad::python {

class Answer {
 public:
  // A new array of the kind that the operands are.
  Answer(const Site& site, Kind kind, DType dtype, const Shape& shape);
  // The caller's own array.
  Answer(const Site& site, nb::handle out) : output_(output_from(out, site)), object_(nb::borrow(out)) {}

  const MutableTensorView& view() const { return output_.view; }
  // The array, after it has been written.
  nb::object take();

 private:
  Output output_;
  nb::object object_;
  Kind kind_ = Kind::numpy;
  Tensor tensor_;  // the memory of what is handed over through DLPack
};

// The tensor's memory as an array of this kind; nothing is copied.
nb::object array_of(const Tensor& tensor, Kind kind);

// Memory as a NumPy array of any dtype, DLPack's or not; `owner` keeps it alive.
struct Block {
  void* data;
  std::size_t item_bytes;
  const Shape& shape;
};
nb::object ndarray_over(const Block& memory, nb::handle dtype, nb::handle owner);

}  // namespace convgrad::python
