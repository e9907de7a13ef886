// Sums whose bits depend on the order of their terms alone, and hardly on that.
#pragma once

#include "graph/convert.h"

namespace convgrad::graph {

// A sum of elements of T: in double for float and 16-bit types, with Neumaier's compensation for double; integers wrap
// around. Rounded once, when it is read.
template <class T>
class Total {
 public:
  using Term = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
  static Term term(T element) { return static_cast<Term>(widen(element)); }

  void add(Term term) {
    if constexpr (std::is_same_v<T, double>) {
      const double sum = sum_ + term;
      lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
      sum_ = sum;
    } else {
      sum_ += term;
    }
  }

  Term value() const {
    if constexpr (std::is_same_v<T, double>) {
      return std::isfinite(sum_) ? sum_ + lost_ : sum_;
    } else {
      return sum_;
    }
  }

  // The sum divided by a count. Of integers: towards zero, and 0 of none.
  T over(int64 count) const {
    if constexpr (std::is_integral_v<T>) {
      return count == 0 ? T{0} : static_cast<T>(static_cast<int64>(value()) / count);
    } else {
      return narrow<T>(value() / static_cast<double>(count));
    }
  }

 private:
  struct None {};
  Term sum_{};
  [[no_unique_address]] std::conditional_t<std::is_same_v<T, double>, double, None> lost_{};
};

}  // namespace convgrad::graph
