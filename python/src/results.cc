#include "results.h"

#include "convgrad/geometry.h"
#include "errors.h"
#include "numpy.h"

namespace convgrad::python {
namespace {

// Linux promises more memory than it has and ends the process that uses it; the library's tensors look it up first.
constexpr std::int64_t kWorthAsking = std::int64_t{64} << 20;

struct Kept {
  Tensor* tensor;
  nb::capsule owner;
  explicit Kept(const Tensor& from)
      : tensor(new Tensor(from)), owner(tensor, [](void* memory) noexcept { delete static_cast<Tensor*>(memory); }) {}
};

template <class Framework>
nb::object exported(const Tensor& tensor) {
  const Kept kept(tensor);
  const std::vector<std::size_t> shape(tensor.shape().begin(), tensor.shape().end());
  const DTypeInfo& row = info(tensor.dtype());
  const nb::dlpack::dtype dtype{static_cast<std::uint8_t>(row.dlpack_code), static_cast<std::uint8_t>(row.dlpack_bits),
                                1};
  return nb::cast(nb::ndarray<Framework>(kept.tensor->data(), shape.size(), shape.data(), kept.owner, nullptr, dtype));
}

nb::object as_ndarray(const Tensor& tensor) {
  const Kept kept(tensor);
  return ndarray_over({kept.tensor->data(), size_of(tensor.dtype()), tensor.shape()}, numpy_dtype(tensor.dtype()),
                      kept.owner);
}

bool is_large(DType dtype, const Shape& shape) {
  const Result<std::int64_t> count = element_count(shape);
  return !count.ok() || *count > kWorthAsking / static_cast<std::int64_t>(size_of(dtype));
}

}  // namespace

nb::object ndarray_over(const Block& memory, nb::handle dtype, nb::handle owner) {
  const auto count = static_cast<std::size_t>(value_or_raise(element_count(memory.shape)));
  const nb::dlpack::dtype raw{static_cast<std::uint8_t>(nb::dlpack::dtype_code::UInt),
                              static_cast<std::uint8_t>(memory.item_bytes * 8), 1};
  const nb::ndarray<nb::numpy> bits(memory.data, 1, &count, owner, nullptr, raw);
  nb::list sizes;
  for (std::int64_t size : memory.shape) sizes.append(size);
  try {
    return nb::cast(bits).attr("view")(dtype).attr("reshape")(nb::tuple(sizes));
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_ValueError)) throw;
    raise(wrong_type("result", std::to_string(sizes.size()) + " dimensions", "as many as NumPy's arrays can have"));
  }
}

nb::object array_of(const Tensor& tensor, Kind kind) {
  switch (kind) {
    case Kind::torch: return exported<nb::pytorch>(tensor);
    case Kind::jax: return exported<nb::jax>(tensor);
    case Kind::tensorflow: return exported<nb::tensorflow>(tensor);
    default: return as_ndarray(tensor);
  }
}

Answer::Answer(const Site& site, Kind kind, DType dtype, const Shape& shape) : kind_(kind) {
  const bool on_gpu = site.place.memory == Memory::cuda;
  const bool through_numpy = kind == Kind::numpy || kind == Kind::other;
  if (on_gpu || (through_numpy && !is_large(dtype, shape))) {
    object_ = on_gpu ? new_array(site, shape) : new_ndarray(dtype, shape);
    output_ = output_from(object_, site);
    return;
  }
  tensor_ = value_or_raise(Tensor::zeros(dtype, shape));
  output_.view = tensor_.mutable_view();
}

nb::object Answer::take() { return object_.is_valid() ? std::move(object_) : array_of(tensor_, kind_); }

}  // namespace convgrad::python
