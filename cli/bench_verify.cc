// For one result element, the sum over all (in, out, tap) with in = out * stride - before + tap *
// dilation inside the input; which of the three is given is what tells the directions apart.
#include "cli/bench_verify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "cli/operands.h"

namespace convgrad::cli {
namespace {

constexpr double kMostSamples = 200, kLeastSamples = 32;
constexpr double kMostTerms = 0x1p24;  // half a second, as each term is two cache misses
constexpr std::uint64_t kSeed = 1;

struct Range {
  std::int64_t begin, end;
};

struct Meeting {
  std::int64_t in, out, tap;
};

// The terms of one result element.
struct Terms {
  Range n, c_in, c_out;
  std::array<std::vector<Meeting>, 3> meetings;
};

// Kahan's sum: its error does not grow with the number of terms.
struct Sum {
  long double total = 0, carry = 0, magnitude = 0;
  void add(long double term) {
    const long double corrected = term - carry;
    const long double next = total + corrected;
    carry = (next - total) - corrected;
    total = next;
    magnitude += std::fabs(term);
  }
};

std::vector<Meeting> meetings(const Geometry& g, std::size_t dimension, std::int64_t given) {
  std::vector<Meeting> found;
  for (std::int64_t out = 0; out < g.out[dimension]; ++out) {
    for (std::int64_t tap = 0; tap < g.filter[dimension]; ++tap) {
      const std::int64_t in = out * g.stride[dimension] - g.pad_before[dimension] + tap * g.dilation[dimension];
      const std::int64_t own = g.direction == Direction::forward      ? out
                               : g.direction == Direction::input_grad ? in
                                                                      : tap;
      if (own == given && in >= 0 && in < g.in[dimension]) found.push_back({in, out, tap});
    }
  }
  return found;
}

Range group_range(std::int64_t group, std::int64_t size) { return {group * size, (group + 1) * size}; }

// Takes digits off a flat index, the fastest first.
struct Digits {
  std::int64_t rest;
  std::int64_t take(std::int64_t size) {
    const std::int64_t digit = rest % size;
    rest /= size;
    return digit;
  }
  Extents take(const Extents& sizes) {
    Extents digits{};
    for (std::size_t i = 3; i-- > 0;) digits[i] = take(sizes[i]);
    return digits;
  }
};

Terms with_meetings(const Geometry& g, Terms terms, const Extents& given) {
  for (std::size_t i = 0; i < 3; ++i) terms.meetings[i] = meetings(g, i, given[i]);
  return terms;
}

Terms filter_terms(const Geometry& g, std::int64_t index) {
  Digits digits{index};
  const std::int64_t c_out = digits.take(g.c_out);
  const std::int64_t c_in = digits.take(g.group_c_in()) + c_out / g.group_c_out() * g.group_c_in();
  return with_meetings(g, {{0, g.n}, {c_in, c_in + 1}, {c_out, c_out + 1}, {}}, digits.take(g.filter));
}

Terms image_terms(const Geometry& g, std::int64_t index) {
  const bool forward = g.direction == Direction::forward;
  const bool last = g.layout == Layout::channels_last;
  Digits digits{index};
  const std::int64_t channels = forward ? g.c_out : g.c_in;
  std::int64_t c = last ? digits.take(channels) : 0;
  const Extents place = digits.take(forward ? g.out : g.in);
  if (!last) c = digits.take(channels);
  const Range one = {c, c + 1}, n = {digits.rest, digits.rest + 1};
  return forward ? with_meetings(g, {n, group_range(c / g.group_c_out(), g.group_c_in()), one, {}}, place)
                 : with_meetings(g, {n, one, group_range(c / g.group_c_in(), g.group_c_out()), {}}, place);
}

std::int64_t image_at(const Geometry& g, const Extents& e, std::int64_t channels, std::int64_t n, std::int64_t c,
                      const Extents& p) {
  const bool last = g.layout == Layout::channels_last;
  const std::int64_t plane = last ? n : n * channels + c;
  const std::int64_t cell = ((plane * e[0] + p[0]) * e[1] + p[1]) * e[2] + p[2];
  return last ? cell * channels + c : cell;
}

// Where the two factors of a term lie.
struct Factors {
  std::int64_t first, second;
};

inline Factors factors(const Geometry& g, std::int64_t n, std::int64_t c_in, std::int64_t c_out, const Meeting& z,
                       const Meeting& y, const Meeting& x) {
  const auto in = [&] { return image_at(g, g.in, g.c_in, n, c_in, {z.in, y.in, x.in}); };
  const auto out = [&] { return image_at(g, g.out, g.c_out, n, c_out, {z.out, y.out, x.out}); };
  const auto filter = [&] {
    const std::int64_t tap = (z.tap * g.filter[1] + y.tap) * g.filter[2] + x.tap;
    return (tap * g.group_c_in() + c_in % g.group_c_in()) * g.c_out + c_out;
  };
  if (g.direction == Direction::forward) return {in(), filter()};
  return g.direction == Direction::input_grad ? Factors{filter(), out()} : Factors{in(), out()};
}

// Calls visit(factors) for each term.
template <class Visit>
void for_terms(const Geometry& g, const Terms& terms, const Visit& visit) {
  for (std::int64_t n = terms.n.begin; n < terms.n.end; ++n)
    for (const Meeting& z : terms.meetings[0])
      for (const Meeting& y : terms.meetings[1])
        for (const Meeting& x : terms.meetings[2])
          for (std::int64_t c_in = terms.c_in.begin; c_in < terms.c_in.end; ++c_in)
            for (std::int64_t c_out = terms.c_out.begin; c_out < terms.c_out.end; ++c_out)
              visit(factors(g, n, c_in, c_out, z, y, x));
}

template <class T>
Sum exact_sum(const Computation& c, std::int64_t index) {
  const Geometry& g = c.geometry;
  const std::span<const T> first = c.first.as<T>(), second = c.second.as<T>();
  Sum sum;
  for_terms(g, g.direction == Direction::filter_grad ? filter_terms(g, index) : image_terms(g, index),
            [&](const Factors& at) {
              const auto a = static_cast<double>(first[static_cast<std::size_t>(at.first)]);
              const auto b = static_cast<double>(second[static_cast<std::size_t>(at.second)]);
              sum.add(static_cast<long double>(a) * b);
            });
  return sum;
}

// The value before the store is at most |exact| + the error of the sum; half of f16's last place
// never falls below 2^-25.
long double bound(DType dtype, MathMode math, const Sum& sum) {
  const long double u = dtype == DType::f64 ? 0x1p-53L : 0x1p-24L;
  const long double summing = (8 * u + info(math).product_error) * sum.magnitude;
  const long double store = info(dtype).unit_roundoff * (std::fabs(sum.total) + summing);
  return summing + (dtype == DType::f16 ? std::max(store, 0x1p-25L) : store);
}

double error_of(const Computation& c, std::int64_t index) {
  const Sum sum = visit(c.geometry.dtype, [&]<class T>(T) { return exact_sum<T>(c, index); });
  const long double error = std::fabs(c.result.at(index) - sum.total);
  if (error == 0) return 0;
  const auto ratio = static_cast<double>(error / bound(c.geometry.dtype, c.math, sum));
  return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
}

std::int64_t sample_count(const Computation& c) {
  const auto size = static_cast<double>(c.result.size());
  const double terms_of_one = nominal_flops(c.geometry) / 2 / size;
  return static_cast<std::int64_t>(std::min(size, std::clamp(kMostTerms / terms_of_one, kLeastSamples, kMostSamples)));
}

}  // namespace

Verdict verify(const Computation& computation) {
  const std::int64_t size = computation.result.size();
  if (size == 0) return {};
  const std::int64_t samples = sample_count(computation);
  SplitMix64 draw{kSeed};
  Verdict verdict;
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t index =
        size == samples ? i : static_cast<std::int64_t>(draw.next() % static_cast<std::uint64_t>(size));
    const double error = error_of(computation, index);
    if (error > verdict.worst) verdict = {error <= 1, error, index};
  }
  return verdict;
}

}  // namespace convgrad::cli
