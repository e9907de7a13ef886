// i(o, t) = o * stride - pad_before + t * dilation, per spatial dimension; g = group of a channel;
// f is indexed by the channel inside its group, c' - g * (c_in / groups).
//
//   forward      y[n,o,c]   = sum over t, c'       x[n,i(o,t),c'] * f[t,c',c]
//   input_grad   dx[n,i,c'] = sum over t, o, c     f[t,c',c] * dy[n,o,c]     where i(o,t) = i
//   filter_grad  df[t,c',c] = sum over n, o        x[n,i(o,t),c'] * dy[n,o,c]
//   bias_grad    db[c]      = sum over n, o        dy[n,o,c]
//
// A term whose i falls outside the input does not exist: padding is never multiplied, so an
// infinity beside it makes no NaN. A sum without terms is +0. Sums are kept in Wide<T> and rounded
// once, at the store.
#include "reference/reference.h"

#include <algorithm>
#include <cfloat>
#include <type_traits>

#include "geometry/shapes.h"

namespace convgrad::reference {
namespace {

// double holds any product of two 24-bit significands exactly; f64 needs 113 bits; integers wrap
// modulo 2^32 by unsigned arithmetic.
#if defined(__SIZEOF_FLOAT128__)
__extension__ using Quad = __float128;
#else
using Quad = long double;
static_assert(LDBL_MANT_DIG >= 106, "f64 sums need twice 53 bits");
#endif
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, Quad,
                                std::conditional_t<std::is_same_v<T, std::int32_t>, std::uint32_t, double>>;

template <class T>
Wide<T> widen(T value) {
  return static_cast<Wide<T>>(value);
}

template <class T>
T narrow(Wide<T> value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T::from(value);
  } else {
    return static_cast<T>(value);
  }
}

struct Image {
  std::int64_t n, c, d, h, w;
};

// Where an element of an image tensor lies, in elements.
struct ImageStrides {
  std::int64_t n, c, d, h, w;

  ImageStrides(Layout layout, std::int64_t channels, const Extents& e) {
    const bool last = layout == Layout::channels_last;
    c = last ? 1 : e[0] * e[1] * e[2];
    w = last ? channels : 1;
    h = w * e[2];
    d = h * e[1];
    n = channels * e[0] * e[1] * e[2];
  }
  std::int64_t at(const Image& i) const { return i.n * n + i.c * c + i.d * d + i.h * h + i.w * w; }
};

// The coordinates of flat index `at`, walking an image tensor in its memory order.
Image coordinates(Layout layout, std::int64_t channels, const Extents& e, std::int64_t at) {
  const auto take = [&at](std::int64_t size) {
    const std::int64_t digit = at % size;
    at /= size;
    return digit;
  };
  Image i{};
  if (layout == Layout::channels_last) i.c = take(channels);
  i.w = take(e[2]);
  i.h = take(e[1]);
  i.d = take(e[0]);
  if (layout == Layout::channels_first) i.c = take(channels);
  i.n = at;
  return i;
}

template <class T>
class Sums {
 public:
  Sums(const Geometry& geometry, const Args& args)
      : g(geometry),
        in(g.layout, g.c_in, g.in),
        out(g.layout, g.c_out, g.out),
        first(static_cast<const T*>(args.first)),
        second(static_cast<const T*>(args.second)) {}

  T element(std::int64_t at) const {
    switch (g.direction) {
      case Direction::forward: return narrow<T>(forward(coordinates(g.layout, g.c_out, g.out, at)));
      case Direction::input_grad: return narrow<T>(input_grad(coordinates(g.layout, g.c_in, g.in, at)));
      case Direction::filter_grad: return narrow<T>(filter_grad(at));
      case Direction::bias_grad: return narrow<T>(bias_grad(at));
    }
    return T{};
  }

 private:
  Wide<T> forward(const Image& o) const {
    const std::int64_t in_base = o.c / g.group_c_out() * g.group_c_in();
    Wide<T> sum{};
    for (std::int64_t td = 0; td < g.filter[0]; ++td) {
      for (std::int64_t th = 0; th < g.filter[1]; ++th) {
        for (std::int64_t tw = 0; tw < g.filter[2]; ++tw) {
          Image i{o.n, 0, source(0, o.d, td), source(1, o.h, th), source(2, o.w, tw)};
          if (!inside(i)) continue;
          for (std::int64_t c = 0; c < g.group_c_in(); ++c) {
            i.c = in_base + c;
            sum += widen(first[in.at(i)]) * widen(second[filter_at(td, th, tw, c, o.c)]);
          }
        }
      }
    }
    return sum;
  }

  Wide<T> input_grad(const Image& i) const {
    const std::int64_t c_in = i.c % g.group_c_in();
    const std::int64_t out_base = i.c / g.group_c_in() * g.group_c_out();
    Wide<T> sum{};
    Image o{i.n, 0, 0, 0, 0};
    for (std::int64_t td = 0; td < g.filter[0]; ++td) {
      if (!reached_from(0, i.d, td, o.d)) continue;
      for (std::int64_t th = 0; th < g.filter[1]; ++th) {
        if (!reached_from(1, i.h, th, o.h)) continue;
        for (std::int64_t tw = 0; tw < g.filter[2]; ++tw) {
          if (!reached_from(2, i.w, tw, o.w)) continue;
          for (std::int64_t c = 0; c < g.group_c_out(); ++c) {
            o.c = out_base + c;
            sum += widen(first[filter_at(td, th, tw, c_in, o.c)]) * widen(second[out.at(o)]);
          }
        }
      }
    }
    return sum;
  }

  Wide<T> filter_grad(std::int64_t at) const {
    const std::int64_t c_out = at % g.c_out;
    const std::int64_t c_in = at / g.c_out % g.group_c_in();
    const std::int64_t tap = at / g.c_out / g.group_c_in();
    const std::int64_t tw = tap % g.filter[2], th = tap / g.filter[2] % g.filter[1],
                       td = tap / g.filter[2] / g.filter[1];
    const std::int64_t channel = c_out / g.group_c_out() * g.group_c_in() + c_in;
    return over_outputs(c_out, [&](const Image& o) -> Wide<T> {
      const Image i{o.n, channel, source(0, o.d, td), source(1, o.h, th), source(2, o.w, tw)};
      return inside(i) ? widen(first[in.at(i)]) * widen(second[out.at(o)]) : Wide<T>{};
    });
  }

  Wide<T> bias_grad(std::int64_t c_out) const {
    return over_outputs(c_out, [&](const Image& o) { return widen(first[out.at(o)]); });
  }

  template <class Term>
  Wide<T> over_outputs(std::int64_t c_out, const Term& term) const {
    Wide<T> sum{};
    for (std::int64_t n = 0; n < g.n; ++n) {
      for (std::int64_t d = 0; d < g.out[0]; ++d) {
        for (std::int64_t h = 0; h < g.out[1]; ++h) {
          for (std::int64_t w = 0; w < g.out[2]; ++w) sum += term(Image{n, c_out, d, h, w});
        }
      }
    }
    return sum;
  }

  // The input cell that output o reads through tap t; may lie outside.
  std::int64_t source(std::size_t dim, std::int64_t o, std::int64_t t) const {
    return o * g.stride[dim] - g.pad_before[dim] + t * g.dilation[dim];
  }

  bool inside(const Image& i) const {
    return i.d >= 0 && i.d < g.in[0] && i.h >= 0 && i.h < g.in[1] && i.w >= 0 && i.w < g.in[2];
  }

  // The one output that reads input cell i through tap t, if there is one.
  bool reached_from(std::size_t dim, std::int64_t i, std::int64_t t, std::int64_t& o) const {
    const std::int64_t shifted = i + g.pad_before[dim] - t * g.dilation[dim];
    o = shifted / g.stride[dim];
    return shifted >= 0 && shifted % g.stride[dim] == 0 && o < g.out[dim];
  }

  std::int64_t filter_at(std::int64_t td, std::int64_t th, std::int64_t tw, std::int64_t c_in,
                         std::int64_t c_out) const {
    return (((td * g.filter[1] + th) * g.filter[2] + tw) * g.group_c_in() + c_in) * g.c_out + c_out;
  }

  const Geometry& g;
  const ImageStrides in, out;
  const T* first;
  const T* second;
};

}  // namespace

void compute(const Geometry& geometry, const Args& args, std::int64_t begin, std::int64_t end) {
  visit(geometry.dtype, [&]<class T>(T) {
    T* result = static_cast<T*>(args.result);
    if (!has_terms(geometry)) {
      std::fill(result + begin, result + end, T{});
      return;
    }
    const Sums<T> sums(geometry, args);
    for (std::int64_t at = begin; at < end; ++at) result[at] = sums.element(at);
  });
}

}  // namespace convgrad::reference
