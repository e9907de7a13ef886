// A second, independent definition of all four directions: every multiply-add of the problem is
// listed once by brute force and handed to the caller, who adds it where he likes. Scatter, where
// the reference gathers; no shared code with it but Geometry.
#pragma once

#include <cstdint>

#include "convgrad/geometry.h"

namespace convgrad::test {

// Flat indices, in the caller's layout, of one multiply-add y[out] += x[in] * f[filter].
struct Term {
  std::int64_t in, filter, out, out_channel;
};

inline std::int64_t image_at(const Geometry& g, std::int64_t channels, const Extents& e, const std::int64_t (&i)[5]) {
  const auto [n, c, d, h, w] = i;
  return g.layout == Layout::channels_last ? (((n * e[0] + d) * e[1] + h) * e[2] + w) * channels + c
                                           : (((n * channels + c) * e[0] + d) * e[1] + h) * e[2] + w;
}

template <class Visit>
void for_each_term(const Geometry& g, const Visit& visit) {
  const std::int64_t ci_each = g.c_in / g.groups, co_each = g.c_out / g.groups;
  for (std::int64_t n = 0; n < g.n; ++n)
    for (std::int64_t od = 0; od < g.out[0]; ++od)
      for (std::int64_t oh = 0; oh < g.out[1]; ++oh)
        for (std::int64_t ow = 0; ow < g.out[2]; ++ow)
          for (std::int64_t td = 0; td < g.filter[0]; ++td)
            for (std::int64_t th = 0; th < g.filter[1]; ++th)
              for (std::int64_t tw = 0; tw < g.filter[2]; ++tw) {
                const std::int64_t id = od * g.stride[0] + td * g.dilation[0] - g.pad_before[0];
                const std::int64_t ih = oh * g.stride[1] + th * g.dilation[1] - g.pad_before[1];
                const std::int64_t iw = ow * g.stride[2] + tw * g.dilation[2] - g.pad_before[2];
                if (id < 0 || id >= g.in[0] || ih < 0 || ih >= g.in[1] || iw < 0 || iw >= g.in[2]) continue;
                for (std::int64_t group = 0; group < g.groups; ++group)
                  for (std::int64_t ci = 0; ci < ci_each; ++ci)
                    for (std::int64_t co = 0; co < co_each; ++co) {
                      const std::int64_t c_out = group * co_each + co;
                      visit(Term{image_at(g, g.c_in, g.in, {n, group * ci_each + ci, id, ih, iw}),
                                 (((td * g.filter[1] + th) * g.filter[2] + tw) * ci_each + ci) * g.c_out + c_out,
                                 image_at(g, g.c_out, g.out, {n, c_out, od, oh, ow}), c_out});
                    }
              }
}

}  // namespace convgrad::test
