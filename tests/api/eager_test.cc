// The eager calls, their aliases, strided views, and the gradients in one call.
#include <gtest/gtest.h>

#include <cstring>

#include "support/problems.h"

namespace convgrad {
namespace {

Tensor integers(std::uint64_t seed, Shape shape, DType dtype = DType::f32) {
  test::Random random(seed);
  return test::random_integers(random, dtype, std::move(shape));
}

const ConvOptions kSame2{.strides = {1, 2, 1, 1}, .padding = Padding::same()};

TEST(Eager, two_dimensional_calls_agree_with_the_definition) {
  const Tensor x = integers(1, {2, 7, 6, 3}), f = integers(2, {3, 2, 3, 5}), dy = integers(3, {2, 4, 6, 5});
  Geometry g = validate(parse_problem("n2c3h7w6_k5r3s2_st2x1_same_f32_forward").value()).value();
  EXPECT_EQ(test::difference(conv2d(x, f, kSame2).value(), test::by_definition(g, x, f)), "");
  g.direction = Direction::filter_grad;
  EXPECT_EQ(test::difference(conv2d_backprop_filter(x, f.shape(), dy, kSame2).value(), test::by_definition(g, x, dy)),
            "");
  g.direction = Direction::input_grad;
  const Tensor dx = conv2d_backprop_input(x.shape(), f, dy, kSame2).value();
  EXPECT_EQ(test::difference(dx, test::by_definition(g, f, dy)), "");
  EXPECT_EQ(test::difference(conv2d_transpose(dy, f, x.shape(), kSame2).value(), dx), "");
  EXPECT_EQ(test::difference(conv2d_backprop_input(Shape{7, 6}, f, dy, kSame2).value(), dx), "");
}

TEST(Eager, three_dimensional_calls_agree_with_the_definition) {
  const ConvOptions options{.padding = Padding::explicit_pairs({0, 0, 0, 0, 1, 0, 0, 2, 0, 3}),
                            .dilations = {1, 1, 2, 1, 1},
                            .data_format = "NCDHW"};
  const Tensor x = integers(1, {2, 4, 3, 4, 5}), f = integers(2, {2, 2, 3, 2, 6});
  Geometry g =
      validate(parse_problem("n2c4d3h4w5_k6t2r2s3_di2x1x1_pad1.0x0.2x0.3_g2_chfirst_f32_forward").value()).value();
  const Tensor dy = integers(3, out_shape(g));
  EXPECT_EQ(test::difference(conv3d(x, f, options).value(), test::by_definition(g, x, f)), "");
  g.direction = Direction::filter_grad;
  EXPECT_EQ(
      test::difference(conv3d_backprop_filter_v2(x, f.shape(), dy, options).value(), test::by_definition(g, x, dy)),
      "");
  g.direction = Direction::input_grad;
  const Tensor dx = conv3d_backprop_input_v2(x.shape(), f, dy, options).value();
  EXPECT_EQ(test::difference(dx, test::by_definition(g, f, dy)), "");
  EXPECT_EQ(test::difference(conv3d_transpose(dy, f, x.shape(), options).value(), dx), "");
}

TEST(Eager, all_gradients_come_from_one_call) {
  for (const char* layout : {"NHWC", "NCHW"}) {
    const bool first = layout[1] == 'C';
    const ConvOptions options{
        .strides = first ? Shape{1, 1, 2, 1} : Shape{1, 2, 1, 1}, .padding = Padding::same(), .data_format = layout};
    const Tensor x = integers(1, first ? Shape{2, 3, 7, 6} : Shape{2, 7, 6, 3}), f = integers(2, {3, 2, 3, 5});
    const Tensor dy = integers(3, first ? Shape{2, 5, 4, 6} : Shape{2, 4, 6, 5});
    const ConvGradients gradients = conv_gradients(x, f, dy, options).value();
    EXPECT_EQ(test::difference(gradients.input, conv2d_backprop_input(x.shape(), f, dy, options).value()), "");
    EXPECT_EQ(test::difference(gradients.filter, conv2d_backprop_filter(x, f.shape(), dy, options).value()), "");
    ASSERT_EQ(gradients.bias.shape(), Shape{5});
    for (std::int64_t c = 0; c < 5; ++c) {
      double sum = 0;
      for (std::int64_t i = 0; i < dy.size(); ++i) {
        if ((first ? i / 24 % 5 : i % 5) == c) sum += dy.at(i);
      }
      EXPECT_EQ(gradients.bias.at(c), sum);
    }
  }
}

TEST(Eager, volumes_get_all_gradients_too) {
  const Tensor x = integers(1, {1, 3, 4, 5, 2}), f = integers(2, {2, 2, 2, 2, 3}), dy = integers(3, {1, 3, 4, 5, 3});
  const ConvOptions options{.padding = Padding::same()};
  const ConvGradients gradients = conv_gradients(x, f, dy, options).value();
  EXPECT_EQ(test::difference(gradients.filter, conv3d_backprop_filter_v2(x, f.shape(), dy, options).value()), "");
  EXPECT_EQ(test::difference(gradients.input, conv3d_backprop_input_v2(x.shape(), f, dy, options).value()), "");
}

TEST(Eager, signals_get_all_gradients_too) {
  const Tensor x = integers(1, {2, 9, 4}), f = integers(2, {3, 2, 6}), dy = integers(3, {2, 5, 6});
  const ConvOptions options{.strides = {1, 2, 1}, .padding = Padding::same()};
  const ConvGradients gradients = conv_gradients(x, f, dy, options).value();
  Geometry g = validate(parse_problem("n2c4w9_k6s3_st2_same_g2_f32_forward").value()).value();
  g.direction = Direction::filter_grad;
  EXPECT_EQ(test::difference(gradients.filter, test::by_definition(g, x, dy)), "");
  g.direction = Direction::input_grad;
  EXPECT_EQ(test::difference(gradients.input, test::by_definition(g, f, dy)), "");
  EXPECT_EQ(gradients.bias.shape(), Shape{6});
}

TEST(Eager, strided_views_give_the_same_bits) {
  test::Random random(8);
  for (int round = 0; round < 300; ++round) {
    const ConvProblem problem = test::random_problem(random, 2000);
    const Geometry g = validate(problem).value();
    const test::Operands given = test::random_operands(random, g);
    const Tensor wanted = compute(problem, given.first, given.second).value();
    // Each operand lies transposed in memory, with a byte in front that spoils the alignment.
    const auto odd = [&](const Tensor& t, std::vector<char>& memory) {
      const std::size_t rank = t.shape().size(), bytes = size_of(t.dtype());
      std::vector<int> backwards(rank);
      for (std::size_t d = 0; d < rank; ++d) backwards[d] = static_cast<int>(rank - 1 - d);
      const Tensor turned = test::permuted(t, backwards);
      memory.resize(static_cast<std::size_t>(t.bytes()) + 1);
      std::copy_n(static_cast<const char*>(turned.data()), t.bytes(), memory.begin() + 1);
      TensorView view{memory.data() + 1, t.dtype(), t.shape(), std::vector<std::int64_t>(rank)};
      std::int64_t stride = static_cast<std::int64_t>(bytes);
      for (std::size_t d = 0; d < rank; ++d) {
        view.byte_strides[d] = stride;
        stride *= t.shape()[d];
      }
      return view;
    };
    std::vector<char> a, b;
    const Result<Tensor> got = compute(problem, odd(given.first, a), odd(given.second, b));
    ASSERT_TRUE(got.ok()) << got.status().message();
    ASSERT_EQ(test::difference(*got, wanted), "") << to_text(problem);
  }
}

TEST(Run, writes_strided_and_misaligned_results) {
  const ConvProblem problem = parse_problem("n2c3h5w4_k2r2s2_same_f32_filter_grad").value();
  const Geometry g = validate(problem).value();
  const Plan plan = make_plan(problem).value();
  test::Random random(2);
  const test::Operands given = test::random_operands(random, g);
  const Tensor wanted = compute(problem, given.first, given.second).value();
  const Shape shape = result_shape(g);  // [2,2,3,2]
  std::vector<char> memory(1 + 24 * 8, 'x');
  MutableTensorView view{memory.data() + 1, DType::f32, shape, {8 * 12, 8 * 6, 8 * 2, 8}};  // every second float
  ASSERT_TRUE(run(plan, {given.first, given.second, view}).ok());
  for (std::int64_t i = 0; i < 24; ++i) {
    float value = 0;
    std::memcpy(&value, memory.data() + 1 + i * 8, 4);
    EXPECT_EQ(value, wanted.at(i));
    if (i < 23) {
      EXPECT_EQ(memory[static_cast<std::size_t>(1 + i * 8 + 4)], 'x');  // the gaps stay
    }
  }
}

TEST(Run, can_be_cancelled) {
  const ConvProblem problem = parse_problem("n2c3h5w4_k2r2s2_same_f32_filter_grad").value();
  test::Random random(2);
  const test::Operands given = test::random_operands(random, validate(problem).value());
  std::atomic<bool> cancel{true};
  Policy policy;
  policy.cancel = &cancel;
  EXPECT_EQ(compute(problem, given.first, given.second, policy).status().code(), StatusCode::cancelled);
}

TEST(System, says_what_the_machine_is) {
  const SystemInfo system = system_info();
  EXPECT_NE(system.cpu, "");
  EXPECT_GE(system.cores, 1);
  EXPECT_EQ(system.version, CONVGRAD_VERSION_STRING);
}

}  // namespace
}  // namespace convgrad
