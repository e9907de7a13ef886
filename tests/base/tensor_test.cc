#include "convgrad/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/views.h"

namespace convgrad {
namespace {

TEST(Tensor, is_aligned_zeroed_and_shared_between_copies) {
  Tensor a = Tensor::zeros(DType::f32, {3, 5}).value();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
  for (float value : a.as<float>()) EXPECT_EQ(value, 0.0f);
  Tensor b = a;
  b.as<float>()[7] = 4;
  EXPECT_EQ(a.at(7), 4);
  Tensor c = a.clone().value();
  c.as<float>()[7] = 9;
  EXPECT_EQ(a.at(7), 4);
}

TEST(Tensor, gives_no_view_of_another_type) {
  Tensor a = Tensor::zeros(DType::f32, {4}).value();
  EXPECT_EQ(a.as<double>().size(), 0u);
  EXPECT_EQ(a.as<float>().size(), 4u);
}

TEST(Tensor, refuses_impossible_shapes) {
  EXPECT_EQ(Tensor::zeros(DType::f32, {2, -1}).status().rule(), "negative-dim");
  EXPECT_EQ(Tensor::zeros(DType::f32, {1LL << 40, 1LL << 40}).status().rule(), "overflow");
  EXPECT_EQ(Tensor::zeros(DType::f64, {1LL << 62}).status().rule(), "resource");
  EXPECT_EQ(Tensor::zeros(DType::f64, {1LL << 55}).status().code(), StatusCode::resource_exhausted);
  EXPECT_EQ(Tensor::zeros(static_cast<DType>(9), {2}).status().rule(), "dtype");
  EXPECT_EQ(Tensor::from<float>({3}, std::vector<float>{1, 2}).status().rule(), "element-count");
}

TEST(Tensor, a_zero_does_not_hide_an_overflow) {
  EXPECT_EQ(element_count(std::vector<std::int64_t>{0, 1LL << 40, 1LL << 40}).status().rule(), "overflow");
  EXPECT_EQ(element_count(std::vector<std::int64_t>{0, 7}).value(), 0);
  EXPECT_EQ(element_count(std::vector<std::int64_t>{}).value(), 1);
}

TEST(Tensor, reads_outside_as_nan) {
  const Tensor a = Tensor::zeros(DType::i32, {2}).value();
  EXPECT_TRUE(std::isnan(a.at(2)));
  EXPECT_TRUE(std::isnan(a.at(-1)));
}

TEST(Tensor, prints_its_shape_and_values) {
  const Tensor a = Tensor::from<float>({2, 2}, std::vector<float>{1, 2.5, -3, 4}).value();
  EXPECT_EQ(a.to_text(), "f32[2,2]: 1 2.5 -3 4");
  EXPECT_EQ(a.to_text(2), "f32[2,2]: 1 2.5 ...");
}

TEST(View, copies_transposed_and_reversed_memory) {
  const std::vector<float> memory{1, 2, 3, 4, 5, 6};  // 2 x 3
  const TensorView transposed{memory.data(), DType::f32, {3, 2}, {4, 12}};
  EXPECT_EQ(contiguous_copy(transposed).value().to_text(), "f32[3,2]: 1 4 2 5 3 6");
  const TensorView reversed{memory.data() + 5, DType::f32, {6}, {-4}};
  EXPECT_EQ(contiguous_copy(reversed).value().to_text(), "f32[6]: 6 5 4 3 2 1");
  const TensorView repeated{memory.data(), DType::f32, {2, 2}, {0, 4}};
  EXPECT_EQ(contiguous_copy(repeated).value().to_text(), "f32[2,2]: 1 2 1 2");
}

TEST(View, without_memory_or_with_odd_strides_is_refused) {
  EXPECT_EQ(contiguous_copy({nullptr, DType::f32, {2}, {}}).status().rule(), "operand-data");
  const float one = 1;
  EXPECT_EQ(contiguous_copy({&one, DType::f32, {1}, {4, 4}}).status().argument(), "byte_strides");
  EXPECT_TRUE(contiguous_copy({nullptr, DType::f32, {0}, {}}).ok());
}

TEST(Footprint, knows_its_byte_range) {
  const std::vector<std::int64_t> shape{2, 3}, strides{-100, 8};
  const ByteRange range = byte_range({shape, strides, 4}).value();
  EXPECT_EQ(range.begin, -100);
  EXPECT_EQ(range.end, 20);
  const std::vector<std::int64_t> wild{1LL << 62, 8};
  EXPECT_FALSE(byte_range({shape, wild, 4}).has_value());
}

TEST(Footprint, sees_elements_that_share_memory) {
  const std::vector<std::int64_t> shape{2, 3};
  EXPECT_FALSE(overlaps_itself({shape, {}, 4}));
  EXPECT_FALSE(overlaps_itself({shape, std::vector<std::int64_t>{12, 4}, 4}));
  EXPECT_FALSE(overlaps_itself({shape, std::vector<std::int64_t>{4, -8}, 4}));
  EXPECT_TRUE(overlaps_itself({shape, std::vector<std::int64_t>{0, 4}, 4}));
  EXPECT_TRUE(overlaps_itself({shape, std::vector<std::int64_t>{8, 4}, 4}));
  EXPECT_TRUE(overlaps_itself({shape, std::vector<std::int64_t>{12, 2}, 4}));
}

}  // namespace
}  // namespace convgrad
