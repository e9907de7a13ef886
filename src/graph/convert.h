// Elements from one type to another: the arithmetic of Cast and of typed constants.
#pragma once

#include <cmath>
#include <limits>

#include "convgrad/graph/tensor.h"

namespace convgrad::graph {

// The type that elements of T are computed in: float for 16-bit types, itself for the others.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <class T>
Wide<T> widen(T value) {
  return static_cast<Wide<T>>(value);
}

// To the nearest T, ties to even; integers towards zero, out of their range to its nearest end, NaN to 0.
template <class T, class From>
T narrow(From value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    if constexpr (std::is_same_v<From, float>)
      return T::from(value);
    else
      return T::from(static_cast<double>(value));
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    constexpr From above = -static_cast<From>(std::numeric_limits<T>::min());  // 2^31 or 2^63, exactly
    if (value >= above) return std::numeric_limits<T>::max();
    if (value < -above) return std::numeric_limits<T>::min();
    return static_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

// A tensor of the same elements in another type that ops compute with. Shares the buffer when the type is the same.
Result<Tensor> convert(const Tensor& tensor, DataType dtype);

}  // namespace convgrad::graph
