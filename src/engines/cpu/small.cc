#include "engines/cpu/small.h"

#include <numeric>
#include <type_traits>

#include "engines/cpu/layer.h"
#include "geometry/shapes.h"

namespace convgrad::cpu {
namespace {

constexpr double kMostTerms = 600;
constexpr std::int64_t kMostResults = 1024;

// A sum that errs by about its last bit, whatever its length.
struct DoubleSum {
  double hi = 0, lo = 0;
  void add(double term) {
    const double sum = hi + term, taken = sum - hi;
    lo += (hi - (sum - taken)) + (term - taken);
    hi = sum;
  }
  double value() const { return hi - hi == 0 ? hi + lo : hi; }  // not for infinities
};

struct WideSum {
  double sum = 0;
  void add(double term) { sum += term; }
  double value() const { return sum; }
};

struct WrappingSum {
  std::uint32_t sum = 0;
  void add(std::uint32_t term) { sum += term; }
  std::uint32_t value() const { return sum; }
};

template <class S>
using SumOf = std::conditional_t<std::is_same_v<S, double>, DoubleSum,
                                 std::conditional_t<std::is_same_v<S, std::int32_t>, WrappingSum, WideSum>>;
template <class S>
using TermOf = std::conditional_t<std::is_same_v<S, std::int32_t>, std::uint32_t, double>;

template <class S>
S rounded(TermOf<S> value) {
  if constexpr (requires { S::from(value); }) {
    return S::from(value);
  } else {
    return static_cast<S>(value);
  }
}

// Every multiply-add of a layer as visit(x, filter, y), elements of the three tensors; y = x * filter.
template <class Visit>
class Walk {
 public:
  Walk(const Layer& layer, const Visit& visit) : layer_(layer), visit_(visit) { axis<0>(layer.in_origin, 0, 0); }

 private:
  // Outputs and taps of axis kAxis whose input exists.
  template <int kAxis>
  void axis(std::int64_t in, std::int64_t out, std::int64_t tap) const {
    if constexpr (kAxis == kAxes) {
      channels(in, out, tap * layer_.c_in * layer_.all_out());
    } else {
      const Axis& a = layer_.axes[kAxis];
      for (std::int64_t o = 0; o < a.out; ++o, out += a.out_step) {
        std::int64_t i = o * a.stride - a.pad;
        for (std::int64_t t = 0; t < a.taps; ++t, i += a.dilation) {
          if (i >= 0 && i < a.in) axis<kAxis + 1>(in + i * a.in_step, out, tap + t * a.tap_step);
        }
      }
    }
  }

  void channels(std::int64_t x, std::int64_t y, std::int64_t filter) const {
    for (std::int64_t group = 0; group < layer_.groups; ++group) {
      for (std::int64_t ci = 0; ci < layer_.c_in; ++ci) {
        const std::int64_t at =
            x + channel_offset(group * layer_.c_in + ci, layer_.in_channel_step, layer_.patch_planes);
        for (std::int64_t co = 0; co < layer_.c_out; ++co)
          visit_(at, filter + ci * layer_.all_out() + co, y + co * layer_.out_channel_step);
      }
      filter += layer_.c_out;
      y += layer_.c_out * layer_.out_channel_step;
    }
  }

  const Layer& layer_;
  const Visit& visit_;
};

// A multiply-add and the result it belongs to.
struct Found {
  std::int64_t result;
  SmallProgram::Term term;
};

std::vector<Found> found_terms(const Geometry& g) {
  std::vector<Found> found;
  found.reserve(static_cast<std::size_t>(nominal_flops(g) / 2));
  Walk(layer_of(g), [&](std::int64_t x, std::int64_t filter, std::int64_t y) {
    switch (g.direction) {
      case Direction::forward: found.push_back({y, {x, filter}}); break;
      case Direction::input_grad: found.push_back({x, {filter, y}}); break;
      case Direction::filter_grad: found.push_back({filter, {x, y}}); break;
      case Direction::bias_grad: break;  // never small
    }
  });
  return found;
}

// Only the sums of different results overlap in time, so each is kept in a register to its end.
template <class S>
void add_up(const SmallProgram& program, const EngineArgs& args) {
  const S* const first = static_cast<const S*>(args.first);
  const S* const second = static_cast<const S*>(args.second);
  S* result = static_cast<S*>(args.result);
  const SmallProgram::Term* term = program.terms.data();
  for (const std::int32_t count : program.counts) {
    SumOf<S> sum;
    for (const auto* const end = term + count; term != end; ++term)
      sum.add(static_cast<TermOf<S>>(first[term->first]) * static_cast<TermOf<S>>(second[term->second]));
    *result++ = rounded<S>(sum.value());
  }
}

}  // namespace

bool is_small(const Geometry& g) {
  return g.direction != Direction::bias_grad && nominal_flops(g) <= 2 * kMostTerms &&
         fixed_result_shape(g).elements() <= kMostResults;
}

SmallProgram small_program(const Geometry& g) {
  const std::vector<Found> found = found_terms(g);
  const auto results = static_cast<std::size_t>(fixed_result_shape(g).elements());
  SmallProgram program{std::vector<SmallProgram::Term>(found.size()), std::vector<std::int32_t>(results)};
  for (const Found& f : found) ++program.counts[static_cast<std::size_t>(f.result)];
  std::vector<std::int32_t> next(results);
  std::exclusive_scan(program.counts.begin(), program.counts.end(), next.begin(), 0);
  for (const Found& f : found)
    program.terms[static_cast<std::size_t>(next[static_cast<std::size_t>(f.result)]++)] = f.term;
  return program;
}

void run_small(const SmallProgram& program, DType dtype, const EngineArgs& args) {
  visit(dtype, [&]<class S>(S) { add_up<S>(program, args); });
}

}  // namespace convgrad::cpu
