#include "engines/cpu/small.h"

#include <type_traits>

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

// The direction is a template argument: at ten cycles a term, a branch a term would show.
template <class S, Direction kDirection>
class Loops {
 public:
  Loops(const SmallProgram& program, const EngineArgs& args)
      : layer_(program.layer),
        all_out_(program.layer.all_out()),
        first_(static_cast<const S*>(args.first)),
        second_(static_cast<const S*>(args.second)),
        sums_(static_cast<SumOf<S>*>(args.workspace)) {
    for (std::int64_t i = 0; i < program.results; ++i) sums_[i] = {};
    walk<0>(layer_.in_origin, 0, 0);
    S* result = static_cast<S*>(args.result);
    for (std::int64_t i = 0; i < program.results; ++i) result[i] = rounded(sums_[i].value());
  }

 private:
  static S rounded(TermOf<S> value) {
    if constexpr (requires { S::from(value); }) {
      return S::from(value);
    } else {
      return static_cast<S>(value);
    }
  }
  static TermOf<S> wide(S value) { return static_cast<TermOf<S>>(value); }

  // Outputs and taps of axis kAxis whose input exists.
  template <int kAxis>
  [[gnu::always_inline]] void walk(std::int64_t in, std::int64_t out, std::int64_t tap) {
    if constexpr (kAxis == kAxes) {
      add_channels(in, out, tap * layer_.c_in * all_out_);
    } else {
      const Axis& a = layer_.axes[kAxis];
      for (std::int64_t o = 0; o < a.out; ++o, out += a.out_step) {
        std::int64_t i = o * a.stride - a.pad;
        for (std::int64_t t = 0; t < a.taps; ++t, i += a.dilation) {
          if (i >= 0 && i < a.in) walk<kAxis + 1>(in + i * a.in_step, out, tap + t * a.tap_step);
        }
      }
    }
  }

  [[gnu::always_inline]] void add_channels(std::int64_t x, std::int64_t y, std::int64_t filter) {
    for (std::int64_t group = 0; group < layer_.groups; ++group) {
      for (std::int64_t ci = 0; ci < layer_.c_in; ++ci, x += layer_.in_channel_step) {
        for (std::int64_t co = 0; co < layer_.c_out; ++co)
          add(x, filter + ci * all_out_ + co, y + co * layer_.out_channel_step);
      }
      filter += layer_.c_out;
      y += layer_.c_out * layer_.out_channel_step;
    }
  }

  [[gnu::always_inline]] void add(std::int64_t x, std::int64_t filter, std::int64_t y) {
    if constexpr (kDirection == Direction::forward) {
      sums_[y].add(wide(first_[x]) * wide(second_[filter]));
    } else if constexpr (kDirection == Direction::input_grad) {
      sums_[x].add(wide(first_[filter]) * wide(second_[y]));
    } else {
      sums_[filter].add(wide(first_[x]) * wide(second_[y]));
    }
  }

  const Layer& layer_;
  const std::int64_t all_out_;
  const S* const first_;
  const S* const second_;
  SumOf<S>* const sums_;
};

}  // namespace

bool is_small(const Geometry& g) {
  return g.direction != Direction::bias_grad && nominal_flops(g) <= 2 * kMostTerms &&
         fixed_result_shape(g).elements() <= kMostResults;
}

SmallProgram small_program(const Geometry& g) { return {layer_of(g), fixed_result_shape(g).elements()}; }

std::int64_t workspace_bytes(const SmallProgram& program) {
  return program.results * static_cast<std::int64_t>(sizeof(DoubleSum));
}

void run_small(const SmallProgram& program, const Geometry& g, const EngineArgs& args) {
  visit(g.dtype, [&]<class S>(S) {
    switch (g.direction) {
      case Direction::forward: Loops<S, Direction::forward>(program, args); break;
      case Direction::input_grad: Loops<S, Direction::input_grad>(program, args); break;
      case Direction::filter_grad: Loops<S, Direction::filter_grad>(program, args); break;
      case Direction::bias_grad: break;  // never small
    }
  });
}

}  // namespace convgrad::cpu
