#include "results.h"

#include "errors.h"
#include "numpy.h"

namespace convgrad::python {
namespace {

template <class Framework>
nb::object exported(const Tensor& tensor) {
  auto* kept = new Tensor(tensor);
  const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<Tensor*>(memory); });
  const std::vector<std::size_t> shape(tensor.shape().begin(), tensor.shape().end());
  const DTypeInfo& row = info(tensor.dtype());
  const nb::dlpack::dtype dtype{static_cast<std::uint8_t>(row.dlpack_code), static_cast<std::uint8_t>(row.dlpack_bits),
                                1};
  return nb::cast(nb::ndarray<Framework>(kept->data(), shape.size(), shape.data(), owner, nullptr, dtype));
}

}  // namespace

nb::object array_of(const Tensor& tensor, Kind kind) {
  switch (kind) {
    case Kind::torch: return exported<nb::pytorch>(tensor);
    case Kind::jax: return exported<nb::jax>(tensor);
    case Kind::tensorflow: return exported<nb::tensorflow>(tensor);
    default: return exported<nb::numpy>(tensor);
  }
}

Answer::Answer(Kind kind, DType dtype, const Shape& shape) : kind_(kind) {
  const bool through_numpy = kind == Kind::numpy || kind == Kind::other;
  if (through_numpy) {
    object_ = new_ndarray(dtype, shape);
    view_ = output_from(object_);
    return;
  }
  tensor_ = value_or_raise(Tensor::zeros(dtype, shape));
  view_ = tensor_.mutable_view();
}

nb::object Answer::take() { return object_.is_valid() ? std::move(object_) : array_of(tensor_, kind_); }

}  // namespace convgrad::python
