// 16-bit conversions over all 2^16 patterns, and the rounding of everything between them.
#include "convgrad/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace convgrad {
namespace {

// The value of a pattern straight from the format's definition, without the code under test.
double defined_value(std::uint16_t bits, int fraction_bits, int bias) {
  const int exponent = (bits & 0x7fff) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int top = (1 << (15 - fraction_bits)) - 1;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == top) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

template <class T>
struct Format;
template <>
struct Format<Half> {
  static constexpr int fraction_bits = 10, bias = 15;
};
template <>
struct Format<BFloat16> {
  static constexpr int fraction_bits = 7, bias = 127;
};

template <class T>
double defined(std::uint16_t bits) {
  return defined_value(bits, Format<T>::fraction_bits, Format<T>::bias);
}

template <class T>
class SixteenBit : public testing::Test {};
using Types = testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(SixteenBit, Types);

TYPED_TEST(SixteenBit, every_pattern_widens_to_its_value) {
  for (int i = 0; i < 1 << 16; ++i) {
    const TypeParam value{static_cast<std::uint16_t>(i)};
    const double wanted = defined<TypeParam>(value.bits);
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(value))) << i;
    } else {
      ASSERT_EQ(static_cast<double>(static_cast<float>(value)), wanted) << i;
      ASSERT_EQ(std::signbit(static_cast<float>(value)), std::signbit(wanted)) << i;
    }
  }
}

TYPED_TEST(SixteenBit, every_pattern_survives_the_round_trip) {
  for (int i = 0; i < 1 << 16; ++i) {
    const TypeParam value{static_cast<std::uint16_t>(i)};
    const double wide = defined<TypeParam>(value.bits);
    if (std::isnan(wide)) {
      ASSERT_TRUE(std::isnan(defined<TypeParam>(TypeParam::from(static_cast<float>(value)).bits))) << i;
    } else {
      ASSERT_EQ(TypeParam::from(wide).bits, value.bits) << i;
      ASSERT_EQ(TypeParam::from(static_cast<float>(wide)).bits, value.bits) << i;
    }
  }
}

// Between neighbours a < b: below the middle goes to a, above it to b, the middle to the even one.
TYPED_TEST(SixteenBit, rounds_to_nearest_ties_to_even_between_all_neighbours) {
  constexpr int kInfinity = (1 << 15) - (1 << Format<TypeParam>::fraction_bits);
  for (int i = 0; i < kInfinity; ++i) {
    const auto a = static_cast<std::uint16_t>(i), b = static_cast<std::uint16_t>(i + 1);
    const double low = defined<TypeParam>(a);
    // The last number's neighbour for rounding is where the next would be, not infinity.
    const double high = i + 1 < kInfinity ? defined<TypeParam>(b) : low + (low - defined<TypeParam>(a - 1));
    const double middle = low + (high - low) / 2;  // exact: one bit more than the format
    const double just_below = std::nextafter(middle, 0.0), just_above = std::nextafter(middle, HUGE_VAL);
    ASSERT_EQ(TypeParam::from(just_below).bits, a) << i;
    ASSERT_EQ(TypeParam::from(middle).bits, i % 2 == 0 ? a : b) << i;
    ASSERT_EQ(TypeParam::from(just_above).bits, b) << i;
    ASSERT_EQ(TypeParam::from(-just_above).bits, b | 0x8000) << i;
    const auto middle32 = static_cast<float>(middle);
    if (static_cast<double>(middle32) != middle) continue;  // under f32's own last place
    ASSERT_EQ(TypeParam::from(middle32).bits, i % 2 == 0 ? a : b) << i;
    ASSERT_EQ(TypeParam::from(std::nextafter(middle32, HUGE_VALF)).bits, b) << i;
    ASSERT_EQ(TypeParam::from(std::nextafter(middle32, 0.0f)).bits, a) << i;
  }
}

TEST(Half, is_not_rounded_twice_from_f64) {
  // 1 + 2^-11 + 2^-40 lies above the middle of 1 and 1 + 2^-10. Through f32 it would fall on the
  // middle and then go down to the even 1.
  EXPECT_EQ(Half::from(1.0 + 0x1p-11 + 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(BFloat16::from(1.0 + 0x1p-8 + 0x1p-40).bits, 0x3f81);
}

TEST(Half, overflows_to_infinity_at_65520) {
  EXPECT_EQ(Half::from(65519.999).bits, 0x7bff);
  EXPECT_EQ(Half::from(65520.0).bits, 0x7c00);
  EXPECT_EQ(Half::from(-1e300).bits, 0xfc00);
  EXPECT_EQ(Half::from(HUGE_VAL).bits, 0x7c00);
}

TEST(Half, underflows_through_subnormals_to_signed_zero) {
  EXPECT_EQ(Half::from(0x1p-24).bits, 1);
  EXPECT_EQ(Half::from(0x1p-25).bits, 0);  // the tie goes to even zero
  EXPECT_EQ(Half::from(0x1.0000000000001p-25).bits, 1);
  EXPECT_EQ(Half::from(-0x1p-30).bits, 0x8000);
  EXPECT_EQ(Half::from(std::numeric_limits<double>::denorm_min()).bits, 0);
}

TEST(DType, every_row_answers_to_its_three_names) {
  for (const DTypeInfo& row : all_dtypes()) {
    EXPECT_EQ(dtype_from_name(row.id), row.dtype);
    EXPECT_EQ(dtype_from_name(row.tf_name), row.dtype);
    EXPECT_EQ(dtype_from_name(row.numpy_name), row.dtype);
    EXPECT_EQ(row.bytes * 8, static_cast<std::size_t>(row.dlpack_bits));
    EXPECT_EQ(visit(row.dtype, []<class T>(T) { return sizeof(T); }), row.bytes);
  }
  EXPECT_EQ(dtype_from_name("float128"), std::nullopt);
  EXPECT_EQ(info(static_cast<DType>(99)).id, "unknown");
}

}  // namespace
}  // namespace convgrad
