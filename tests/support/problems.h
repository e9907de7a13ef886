// Random problems and integer tensors for the property tests, from a seed that a failure prints.
#pragma once

#include <cstdint>
#include <string>

#include "convgrad/convgrad.h"

namespace convgrad::test {

// splitmix64: the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits();
  std::int64_t between(std::int64_t low, std::int64_t high);  // both included
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  template <class T, std::size_t N>
  T one_of(const T (&values)[N]) {
    return values[between(0, static_cast<std::int64_t>(N) - 1)];
  }

 private:
  std::uint64_t state_;
};

// Legal problems with at most `max_terms` multiply-adds, every feature at random: rank, layout,
// strides, dilations, padding of all kinds (more than the filter too), groups, empty tensors.
ConvProblem random_problem(Random& random, double max_terms = 20000);

// Integers in [low, high], so that sums are exact and any order gives the same bits.
Tensor random_integers(Random& random, DType dtype, Shape shape, std::int64_t low = -4, std::int64_t high = 4);

// One element, rounded once to the tensor's type; int32 wraps modulo 2^32.
void set(Tensor& tensor, std::int64_t at, double value);

// value rounded once to dtype, as a double.
double rounded(DType dtype, double value);

// What the definition gives, from the oracle's list of terms: exact integer sums, rounded once.
Tensor by_definition(const Geometry& geometry, const Tensor& first, const Tensor& second);

// The operands of a direction, random integers.
struct Operands {
  Tensor first, second;
};
Operands random_operands(Random& random, const Geometry& geometry);
// The same in [-1, 1): not integers, so any other order of summation shows. bias_grad reads the first alone.
Operands real_operands(Random& random, const Geometry& geometry);

// Bit equality with the first difference in words; empty when equal.
std::string difference(const Tensor& got, const Tensor& wanted);

// Rearranged copies.
Tensor permuted(const Tensor& tensor, const std::vector<int>& axes);
Tensor reshaped(const Tensor& tensor, Shape shape);
Tensor sliced(const Tensor& tensor, std::size_t axis, std::int64_t begin, std::int64_t end);
Tensor joined(const std::vector<Tensor>& parts, std::size_t axis);
Tensor added(const Tensor& a, const Tensor& b);  // element by element, exact for the integers used

// Images between layouts: [n, spatial..., c] <-> [n, c, spatial...].
Tensor to_channels_first(const Tensor& tensor);
Tensor to_channels_last(const Tensor& tensor);

// How many problems the property tests draw: CONVGRAD_TEST_PROBLEMS, else 20,000.
std::int64_t problem_count();

}  // namespace convgrad::test
