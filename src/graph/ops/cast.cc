#include <algorithm>
#include <bit>

#include "graph/convert.h"
#include "graph/ops/shapes.h"

namespace convgrad::graph {
namespace {

bool is_integer(DataType dtype) { return dtype == DT_INT32 || dtype == DT_INT64; }

// A value that is known stays known: sizes are cast from one integer type to the other.
Result<Inferred> infer(const NodeView& node) {
  Inferred inferred{{node.inputs[0].shape}};
  if (!node.inputs[0].value || !is_integer(node.type("SrcT")) || !is_integer(node.type("DstT"))) return inferred;
  Result<Tensor> value = convert(*node.inputs[0].value, node.type("DstT"));
  if (!value.ok()) return value.status();
  inferred.value = std::move(*value);
  return inferred;
}

// How many low bits of the significand Truncate drops: all that the other type has no room for. TensorFlow rounds half
// and double to bfloat16 all the same, and so do we.
int dropped_bits(DataType from, DataType to) {
  if (from == DT_FLOAT) return to == DT_HALF ? 13 : to == DT_BFLOAT16 ? 16 : 0;
  if (from == DT_DOUBLE) return to == DT_HALF ? 42 : to == DT_FLOAT ? 29 : 0;
  return 0;
}

// NaN stays as it is: without its low bits it might be an infinity.
template <class T>
T without_low_bits(T value, int count) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::isnan(value) ? value : std::bit_cast<T>(std::bit_cast<Bits>(value) >> count << count);
}

// What Truncate leaves to be converted as always. Below the normal range of `to`, where it has fewer bits still, that
// rounds to nearest, as in TensorFlow.
Result<Tensor> truncated(const Tensor& x, DataType to) {
  const int count = dropped_bits(x.dtype(), to);
  if (count == 0) return x;
  Result<Tensor> made = Tensor::make(x.dtype(), x.shape().dim_sizes());
  if (!made.ok()) return made;
  visit(x.dtype(), [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      const T* from = static_cast<const T*>(x.data());
      std::transform(from, from + x.NumElements(), static_cast<T*>(made->data()),
                     [&](T value) { return without_low_bits(value, count); });
    }
  });
  return made;
}

Result<std::vector<Tensor>> run(const NodeRun& run) {
  const DataType to = run.node.type("DstT");
  const Result<Tensor> x = run.node.flag("Truncate") ? truncated(run.inputs[0], to) : run.inputs[0];
  if (!x.ok()) return x.status();
  Result<Tensor> y = convert(*x, to);
  if (!y.ok()) return y.status();
  return std::vector<Tensor>{std::move(*y)};
}

// Rounding to integers is flat.
std::vector<Output> gradient(const NodeGradient& g) {
  const DataType from = g.node.input_type(0);
  if (is_integer(from) || is_integer(g.node.output_type(0))) return {NoGradient()};
  return {g.op("Cast", {g.dy[0]}, {{"DstT", from}})};
}

}  // namespace

OpRow Cast_row() {
  return {.spec = {.name = "Cast",
                   .group = "Core",
                   .doc = "The elements in another type: rounded to nearest, to integers towards zero.",
                   .inputs = {{"x", "SrcT", "Any tensor."}},
                   .outputs = {{"y", "DstT", "The same shape."}},
                   .attrs = {type("DstT", "The type wanted.", number_types()),
                             flag("Truncate", "Floating values towards zero; half and double to bfloat16 to nearest.",
                                  false),
                             type_of_inputs("SrcT", number_types())}},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph
