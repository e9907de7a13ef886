#include "support/problems.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "support/oracle.h"

namespace convgrad::test {

std::uint64_t Random::bits() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
}

namespace {

ConvProblem draw(Random& r) {
  ConvProblem p;
  p.rank = static_cast<int>(r.between(1, 3));
  p.direction = r.one_of({Direction::forward, Direction::input_grad, Direction::filter_grad});
  p.dtype = r.one_of({DType::f16, DType::bf16, DType::f32, DType::f64});
  p.layout = r.one_of({Layout::channels_last, Layout::channels_first});
  p.n = r.between(0, 12) == 0 ? 0 : r.between(1, 3);
  const std::int64_t groups = r.one_of({1, 1, 2, 3, 5});
  const std::int64_t co_each = r.between(0, 20) == 0 ? 0 : r.between(1, 4);
  p.filter_c = r.one_of({1, 1, 2, 3, 4});
  p.c_in = groups * p.filter_c;
  p.c_out = groups * co_each;
  p.padding = r.one_of({PaddingKind::same, PaddingKind::valid, PaddingKind::explicit_pairs});
  for (std::size_t i = 0; i < 3; ++i) {
    p.in[i] = r.between(0, 25) == 0 ? 0 : r.between(1, p.rank == 3 ? 6 : 11);
    p.filter[i] = r.between(1, p.rank == 3 ? 3 : 5);
    p.stride[i] = r.one_of({1, 1, 2, 3, 5});
    p.dilation[i] = r.one_of({1, 1, 2, 3});
    p.pads[i] = {r.between(0, 4), r.between(0, 7)};
  }
  return p;
}

double terms(const Geometry& g) { return nominal_flops(g) / 2 + static_cast<double>(g.n); }

template <class Function>
void for_each_index(const Shape& shape, const Function& function) {
  const std::int64_t count = *element_count(shape);
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::int64_t flat = 0; flat < count; ++flat) {
    function(flat, index);
    for (std::size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
}

std::int64_t flat_index(const Shape& shape, const std::vector<std::int64_t>& index) {
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + index[d];
  return flat;
}

void copy_element(Tensor& to, std::int64_t to_at, const Tensor& from, std::int64_t from_at) {
  const std::size_t bytes = size_of(to.dtype());
  std::memcpy(static_cast<char*>(to.data()) + static_cast<std::size_t>(to_at) * bytes,
              static_cast<const char*>(from.data()) + static_cast<std::size_t>(from_at) * bytes, bytes);
}

}  // namespace

void set(Tensor& tensor, std::int64_t at, double value) {
  visit(tensor.dtype(), [&]<class T>(T) {
    T& element = tensor.as<T>()[static_cast<std::size_t>(at)];
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      element = T::from(value);
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
      // int32 wraps modulo 2^32
      element = static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(value)));
    } else {
      element = static_cast<T>(value);
    }
  });
}

ConvProblem random_problem(Random& random, double max_terms) {
  while (true) {
    const ConvProblem problem = draw(random);
    const Result<Geometry> geometry = validate(problem);
    if (geometry.ok() && terms(*geometry) <= max_terms) return problem;
  }
}

Tensor random_integers(Random& random, DType dtype, Shape shape, std::int64_t low, std::int64_t high) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape)).value();
  for (std::int64_t i = 0; i < tensor.size(); ++i) set(tensor, i, static_cast<double>(random.between(low, high)));
  return tensor;
}

double rounded(DType dtype, double value) {
  Tensor one = Tensor::zeros(dtype, {1}).value();
  set(one, 0, value);
  return one.at(0);
}

Tensor by_definition(const Geometry& g, const Tensor& first, const Tensor& second) {
  std::vector<double> sums(static_cast<std::size_t>(*element_count(result_shape(g))), 0.0);
  const auto add = [&](std::int64_t at, double term) { sums[static_cast<std::size_t>(at)] += term; };
  if (g.direction == Direction::bias_grad) {
    for (std::int64_t i = 0; i < first.size(); ++i) {
      const std::int64_t inner = g.layout == Layout::channels_last ? 1 : g.out[0] * g.out[1] * g.out[2];
      add(i / inner % g.c_out, first.at(i));
    }
  } else {
    for_each_term(g, [&](const Term& t) {
      if (g.direction == Direction::forward) add(t.out, first.at(t.in) * second.at(t.filter));
      if (g.direction == Direction::input_grad) add(t.in, first.at(t.filter) * second.at(t.out));
      if (g.direction == Direction::filter_grad) add(t.filter, first.at(t.in) * second.at(t.out));
    });
  }
  Tensor result = Tensor::zeros(g.dtype, result_shape(g)).value();
  for (std::int64_t i = 0; i < result.size(); ++i) set(result, i, sums[static_cast<std::size_t>(i)]);
  return result;
}

Operands real_operands(Random& random, const Geometry& geometry) {
  const auto reals = [&](const Shape& shape) {
    Tensor tensor = Tensor::zeros(geometry.dtype, shape).value();
    for (std::int64_t i = 0; i < tensor.size(); ++i) set(tensor, i, 2 * random.unit() - 1);
    return tensor;
  };
  const std::vector<Operand> wanted = operands(geometry);
  Tensor first = reals(wanted[0].shape);
  return {first, wanted.size() > 1 ? reals(wanted[1].shape) : first};
}

Operands random_operands(Random& random, const Geometry& g) {
  const std::vector<Operand> wanted = operands(g);
  Operands made;
  made.first = random_integers(random, g.dtype, wanted[0].shape);
  if (wanted.size() > 1) made.second = random_integers(random, g.dtype, wanted[1].shape);
  return made;
}

std::string difference(const Tensor& got, const Tensor& wanted) {
  if (got.dtype() != wanted.dtype()) return "dtypes differ";
  if (got.shape() != wanted.shape()) return "shapes differ: got " + got.to_text(0) + ", wanted " + wanted.to_text(0);
  const std::size_t bytes = size_of(got.dtype());
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const auto offset = static_cast<std::size_t>(i) * bytes;
    if (std::memcmp(static_cast<const char*>(got.data()) + offset, static_cast<const char*>(wanted.data()) + offset,
                    bytes) != 0) {
      char text[120];
      std::snprintf(text, sizeof(text), "element %lld: got %.17g, wanted %.17g", static_cast<long long>(i), got.at(i),
                    wanted.at(i));
      return text;
    }
  }
  return "";
}

Tensor permuted(const Tensor& tensor, const std::vector<int>& axes) {
  Shape shape;
  for (int axis : axes) shape.push_back(tensor.shape()[static_cast<std::size_t>(axis)]);
  Tensor result = Tensor::zeros(tensor.dtype(), shape).value();
  std::vector<std::int64_t> source(axes.size());
  for_each_index(shape, [&](std::int64_t flat, const std::vector<std::int64_t>& index) {
    for (std::size_t d = 0; d < axes.size(); ++d) source[static_cast<std::size_t>(axes[d])] = index[d];
    copy_element(result, flat, tensor, flat_index(tensor.shape(), source));
  });
  return result;
}

Tensor reshaped(const Tensor& tensor, Shape shape) {
  Tensor result = Tensor::zeros(tensor.dtype(), std::move(shape)).value();
  std::memcpy(result.data(), tensor.data(), static_cast<std::size_t>(tensor.bytes()));
  return result;
}

Tensor sliced(const Tensor& tensor, std::size_t axis, std::int64_t begin, std::int64_t end) {
  Shape shape = tensor.shape();
  shape[axis] = end - begin;
  Tensor result = Tensor::zeros(tensor.dtype(), shape).value();
  for_each_index(shape, [&](std::int64_t flat, std::vector<std::int64_t> index) {
    index[axis] += begin;
    copy_element(result, flat, tensor, flat_index(tensor.shape(), index));
  });
  return result;
}

Tensor joined(const std::vector<Tensor>& parts, std::size_t axis) {
  Shape shape = parts[0].shape();
  shape[axis] = 0;
  for (const Tensor& part : parts) shape[axis] += part.shape()[axis];
  Tensor result = Tensor::zeros(parts[0].dtype(), shape).value();
  std::int64_t offset = 0;
  for (const Tensor& part : parts) {
    for_each_index(part.shape(), [&](std::int64_t flat, std::vector<std::int64_t> index) {
      index[axis] += offset;
      copy_element(result, flat_index(shape, index), part, flat);
    });
    offset += part.shape()[axis];
  }
  return result;
}

Tensor added(const Tensor& a, const Tensor& b) {
  Tensor result = Tensor::zeros(a.dtype(), a.shape()).value();
  for (std::int64_t i = 0; i < a.size(); ++i) set(result, i, a.at(i) + b.at(i));
  return result;
}

Tensor to_channels_first(const Tensor& tensor) {
  std::vector<int> axes(tensor.shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
  return permuted(tensor, axes);
}

Tensor to_channels_last(const Tensor& tensor) {
  std::vector<int> axes(tensor.shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  return permuted(tensor, axes);
}

std::int64_t problem_count() {
  const char* text = std::getenv("CONVGRAD_TEST_PROBLEMS");
  return text != nullptr ? std::atoll(text) : 20000;
}

}  // namespace convgrad::test
