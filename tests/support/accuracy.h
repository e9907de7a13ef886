// A result against 113-bit sums, as a share of the stated error bound.
#pragma once

#include <cmath>
#include <vector>

#include "convgrad/convgrad.h"
#include "support/oracle.h"
#include "support/tolerance.h"

namespace convgrad::test {

#if defined(__SIZEOF_FLOAT128__)
__extension__ using Exact = __float128;
#else
using Exact = long double;
#endif

// Checks every result element; returns the worst share of the bound used. math is the plan's.
inline double worst_share(const Geometry& g, const Tensor& first, const Tensor& second, const Tensor& got,
                          MathMode math = MathMode::standard) {
  std::vector<Exact> sums(static_cast<std::size_t>(got.size()), 0);
  std::vector<double> magnitudes(static_cast<std::size_t>(got.size()), 0);
  for_each_term(g, [&](const Term& t) {
    const std::int64_t at = g.direction == Direction::forward      ? t.out
                            : g.direction == Direction::input_grad ? t.in
                                                                   : t.filter;
    const double a = first.at(g.direction == Direction::input_grad ? t.filter : t.in);
    const double b = second.at(g.direction == Direction::forward ? t.filter : t.out);
    sums[static_cast<std::size_t>(at)] += static_cast<Exact>(a) * static_cast<Exact>(b);
    magnitudes[static_cast<std::size_t>(at)] += std::fabs(a * b);
  });
  double worst = 0;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const Exact exact = sums[static_cast<std::size_t>(i)];
    const double error = std::fabs(static_cast<double>(static_cast<Exact>(got.at(i)) - exact));
    const double bound =
        error_bound(g.dtype, static_cast<double>(exact), magnitudes[static_cast<std::size_t>(i)], math);
    if (error > 0) worst = std::fmax(worst, error / bound);
  }
  return worst;
}

}  // namespace convgrad::test
