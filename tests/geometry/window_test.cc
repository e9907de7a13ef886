#include "geometry/window.h"

#include <gtest/gtest.h>

namespace convgrad {
namespace {

Window valid(std::int64_t in, std::int64_t filter, std::int64_t stride, std::int64_t dilation = 1) {
  return window({in, filter, stride, dilation, PaddingKind::valid, {}});
}
Window same(std::int64_t in, std::int64_t filter, std::int64_t stride, std::int64_t dilation = 1) {
  return window({in, filter, stride, dilation, PaddingKind::same, {}});
}

TEST(Window, valid_counts_whole_windows) {
  EXPECT_EQ(valid(10, 3, 1).out, 8);
  EXPECT_EQ(valid(10, 3, 2).out, 4);
  EXPECT_EQ(valid(10, 3, 2, 3).out, 2);  // reach 7
  EXPECT_EQ(valid(3, 3, 5).out, 1);
}

TEST(Window, division_truncates_toward_zero) {
  EXPECT_EQ(valid(1, 4, 2).out, 0);   // -1 / 2
  EXPECT_EQ(valid(1, 5, 2).out, -1);  // -2 / 2
  EXPECT_EQ(valid(2, 3, 1).out, 0);
  EXPECT_EQ(valid(2, 4, 1).out, -1);
}

TEST(Window, same_puts_the_odd_zero_after) {
  const Window even = same(5, 2, 1);
  EXPECT_EQ(even.out, 5);
  EXPECT_EQ(even.before, 0);
  EXPECT_EQ(even.after, 1);
  const Window odd = same(7, 3, 2);
  EXPECT_EQ(odd.out, 4);
  EXPECT_EQ(odd.before, 1);
  EXPECT_EQ(odd.after, 1);
}

TEST(Window, same_pads_with_the_dilated_reach) {
  const Window dilated = same(9, 3, 1, 4);
  EXPECT_EQ(dilated.out, 9);
  EXPECT_EQ(dilated.before + dilated.after, 8);
}

TEST(Window, same_needs_no_zeros_when_the_stride_exceeds_the_filter) {
  const Window sparse = same(8, 2, 4);
  EXPECT_EQ(sparse.out, 2);
  EXPECT_EQ(sparse.before, 0);
  EXPECT_EQ(sparse.after, 0);
}

TEST(Window, explicit_adds_both_sides) {
  const Window w = window({4, 3, 2, 1, PaddingKind::explicit_pairs, {2, 5}});
  EXPECT_EQ(w.out, 5);
  EXPECT_EQ(w.before, 2);
  EXPECT_EQ(w.after, 5);
}

TEST(Window, does_not_overflow_at_the_largest_numbers) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(window({kMax, 1, 1, 1, PaddingKind::explicit_pairs, {kMax, kMax}}).out, Wide{3} * kMax);
  EXPECT_LT(valid(1, kMax, 1, 2147483647).out, 0);
  EXPECT_EQ(same(kMax, 3, 2147483647).out, kMax / 2147483647 + 1);
}

}  // namespace
}  // namespace convgrad
