// The terms of one element of a result: which elements of the operands are multiplied and added, tap by tap.
#ifndef CONVGRAD_TERMS_H_
#define CONVGRAD_TERMS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "convgrad/geometry.h"

namespace convgrad {

// The sum that terms_of lists, as text: "dw[t,c,k] = sum over n, o of ...".
CONVGRAD_API std::string_view formula(Direction direction);

// Flat indices into operands(geometry), in their order. bias_grad has one operand, and second is -1.
struct Term {
  Extents tap{};  // of the filter, in rank-3 form; zero for bias_grad
  std::int64_t first = 0;
  std::int64_t second = 0;
};

struct Terms {
  std::vector<Term> list;
  std::int64_t total = 0;    // of the element, listed or not
  std::int64_t skipped = 0;  // that the sum would have if no tap fell outside: into padding or between strides
};

// The element is the sum of first * second over all its terms. result is a flat index into the result; terms are listed
// from number `from` on, at most `limit` of them: for forward and input_grad in the order of taps, then channels, for
// filter_grad and bias_grad in the order of images, then positions. Refuses a result that is outside.
CONVGRAD_API Result<Terms> terms_of(const Geometry& geometry, std::int64_t result, std::int64_t from = 0,
                                    std::int64_t limit = 4096);

}  // namespace convgrad

#endif  // CONVGRAD_TERMS_H_
