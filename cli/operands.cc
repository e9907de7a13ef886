// splitmix64, and its numbers as elements.
#include "cli/operands.h"

#include <type_traits>

namespace convgrad::cli {
namespace {

constexpr std::uint64_t kGoldenGamma = 0x9E3779B97F4A7C15;

template <class T>
T element_from(std::uint64_t bits) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<int>(bits % 17) - 8);
  } else {
    const double unit = static_cast<double>(bits >> 11) * 0x1p-53;  // [0, 1)
    const double value = unit * 2 - 1;
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(value);
    } else {
      return T::from(value);
    }
  }
}

}  // namespace

std::uint64_t SplitMix64::next() {
  std::uint64_t z = (state += kGoldenGamma);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

Result<Tensor> random_operand(DType dtype, Shape shape, std::uint64_t seed, int index) {
  Result<Tensor> tensor = Tensor::zeros(dtype, std::move(shape));
  if (!tensor.ok()) return tensor;
  // The seed's own stream gives each operand its start: no two seeds share an operand.
  SplitMix64 starts{seed};
  for (int i = 0; i < index; ++i) starts.next();
  SplitMix64 stream{starts.next()};
  visit(dtype, [&]<class T>(T) {
    for (T& element : tensor->as<T>()) element = element_from<T>(stream.next());
  });
  return tensor;
}

}  // namespace convgrad::cli
