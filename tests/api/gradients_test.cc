// conv_gradients() gives the bits of the three calls it stands for.
#include <gtest/gtest.h>

#include "engines/engine.h"
#include "support/problems.h"

namespace convgrad {
namespace {

struct Layer {
  ConvProblem problem;
  Geometry geometry;
  Tensor x, w, dy;

  Layer(test::Random& random, const ConvProblem& given) : problem(given) {
    problem.direction = Direction::filter_grad;
    geometry = validate(problem).value();
    test::Operands operands = test::real_operands(random, geometry);
    x = std::move(operands.first);
    dy = std::move(operands.second);
    Geometry input = geometry;
    input.direction = Direction::input_grad;
    w = std::move(test::real_operands(random, input).first);
  }

  // Explicit padding throughout, as the geometry has it resolved.
  ConvOptions options(const Policy& policy) const {
    ConvOptions all{.padding = Padding::explicit_pairs({}),
                    .data_format = std::string(data_format(problem.layout, problem.rank)),
                    .policy = policy};
    std::size_t axis = 3 - static_cast<std::size_t>(problem.rank);
    for (const char letter : all.data_format) {
      const bool spatial = letter != 'N' && letter != 'C';
      all.strides.push_back(spatial ? geometry.stride[axis] : 1);
      all.dilations.push_back(spatial ? geometry.dilation[axis] : 1);
      all.padding.pairs.push_back(spatial ? geometry.pad_before[axis] : 0);
      all.padding.pairs.push_back(spatial ? geometry.pad_after[axis] : 0);
      axis += spatial ? 1 : 0;
    }
    return all;
  }

  Tensor alone(Direction direction, const TensorView& first, const TensorView& second) const {
    Geometry g = geometry;
    g.direction = direction;
    return compute(problem_of(g), first, second, {.threads = 1}).value();
  }

  ConvGradients apart() const {
    return {alone(Direction::input_grad, w, dy), alone(Direction::filter_grad, x, dy),
            alone(Direction::bias_grad, dy, {})};
  }

  void expect_bits(const ConvGradients& wanted, const Policy& policy) const {
    const Result<ConvGradients> got = conv_gradients(x, w, dy, options(policy));
    ASSERT_TRUE(got.ok()) << to_text(problem) << ": " << got.status().message();
    EXPECT_EQ(test::difference(got->input, wanted.input), "") << to_text(problem);
    EXPECT_EQ(test::difference(got->filter, wanted.filter), "") << to_text(problem);
    EXPECT_EQ(test::difference(got->bias, wanted.bias), "") << to_text(problem);
  }

  // Whether the cpu engine shares dy between the gradients.
  bool shares_dy(const Policy& policy) const {
    Geometry input = geometry, bias = geometry;
    input.direction = Direction::input_grad;
    bias.direction = Direction::bias_grad;
    const Plan plans[] = {make_plan(input, policy).value(), make_plan(geometry, policy).value(),
                          make_plan(bias, policy).value()};
    for (const Engine& engine : engines()) {
      if (engine.name == plans[0].engine && engine.gains_together != nullptr)
        return engine.gains_together({plans[0], plans[1], plans[2]});
    }
    return false;
  }
};

void backwards(void*, std::int64_t count, ParallelFor::Body body, void* state) {
  for (std::int64_t i = count; i-- > 0;) body(state, i);
}

TEST(Gradients, of_random_layers_have_the_bits_of_separate_calls) {
  test::Random random(71);
  int seen = 0;
  for (int round = 0; round < 600 && !HasFailure(); ++round) {
    const ConvProblem problem = test::random_problem(random, 20000);
    if (problem.rank == 1) continue;
    const Layer layer(random, problem);
    const ConvGradients wanted = layer.apart();
    for (const int threads : {1, 2, 3, 7}) layer.expect_bits(wanted, {.threads = threads});
    layer.expect_bits(wanted, {.threads = 2, .parallel_for = {backwards, nullptr}});
    ++seen;
  }
  EXPECT_GT(seen, 300);
}

// Large enough for dy to be shared: depthwise, 1x1 with several blocks of the filter, volumes, strides.
constexpr const char* kSharing[] = {
    "n8c64h32w32_k64r3s3_same_g64_filter_grad",     "n4c64h40w40_k256r1s1_valid_f64_filter_grad",
    "n4c100h30w30_k56r1s1_valid_filter_grad",       "n2c96d8h18w18_k96t3r3s3_same_g96_filter_grad",
    "n4c12h64w64_k40r3s3_st2_same_f64_filter_grad", "n8c128h31w33_k128r5s5_st2_pad1.3_g128_filter_grad",
    "n3c48h50w50_k48r3s3_di2_same_g12_filter_grad", "n4c128h56w56_k1200r1s1_st2_valid_filter_grad"};

TEST(Gradients, that_share_dy_have_the_bits_of_separate_calls) {
  test::Random random(72);
  for (const char* text : kSharing) {
    const Layer layer(random, parse_problem(text).value());
    EXPECT_TRUE(layer.shares_dy({.threads = 2})) << text;
    const ConvGradients wanted = layer.apart();
    for (const int threads : {1, 2, 3, 7}) layer.expect_bits(wanted, {.threads = threads});
    layer.expect_bits(wanted, {.threads = 3, .parallel_for = {backwards, nullptr}});
  }
}

// Raises the flag half-way through the first loop.
struct Lender {
  std::atomic<bool> cancel{false};
  static void run(void* context, std::int64_t count, ParallelFor::Body body, void* state) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (i == count / 2) static_cast<Lender*>(context)->cancel = true;
      body(state, i);
    }
  }
};

TEST(Gradients, stop_when_cancelled) {
  test::Random random(73);
  for (const char* text : {kSharing[0], "n2c16h20w20_k24r3s3_same_filter_grad"}) {
    const Layer layer(random, parse_problem(text).value());
    for (const int threads : {1, 2, 7}) {
      const std::atomic<bool> raised{true};
      const Policy before{.threads = threads, .cancel = &raised};
      EXPECT_EQ(conv_gradients(layer.x, layer.w, layer.dy, layer.options(before)).status().code(),
                StatusCode::cancelled);
    }
  }
}

TEST(Gradients, stop_when_cancelled_half_way) {
  test::Random random(75);
  const Layer layer(random, parse_problem(kSharing[0]).value());
  Lender lender;
  const Policy policy{.threads = 2, .parallel_for = {Lender::run, &lender}, .cancel = &lender.cancel};
  EXPECT_EQ(conv_gradients(layer.x, layer.w, layer.dy, layer.options(policy)).status().code(), StatusCode::cancelled);
}

TEST(Gradients, read_a_strided_out_backprop) {
  test::Random random(74);
  const Layer layer(random, parse_problem(kSharing[0]).value());
  const Tensor turned = test::permuted(layer.dy, {0, 2, 1, 3});  // [8,32,32,64]: rows and columns exchanged
  const TensorView view{turned.data(), DType::f32, layer.dy.shape(), {262144, 256, 8192, 4}};
  const ConvGradients got = conv_gradients(layer.x, layer.w, view, layer.options({})).value(), wanted = layer.apart();
  EXPECT_EQ(test::difference(got.input, wanted.input), "");
  EXPECT_EQ(test::difference(got.filter, wanted.filter), "");
  EXPECT_EQ(test::difference(got.bias, wanted.bias), "");
}

TEST(Gradients, can_be_planned_and_run_one_by_one) {
  test::Random random(76);
  const Layer layer(random, parse_problem("n2c16h20w20_k24r3s3_same_filter_grad").value());
  const ConvGradientPlans plans = plan_gradients(layer.x, layer.w, layer.dy, layer.options({})).value();
  const ConvGradients wanted = layer.apart();
  const auto expect = [](const Plan& plan, const TensorView& first, const TensorView& second, const Tensor& bits) {
    Tensor got = Tensor::zeros(DType::f32, bits.shape()).value();
    const Status done = run(plan, {first, second, got.mutable_view()});
    ASSERT_TRUE(done.ok()) << done.message();
    EXPECT_EQ(test::difference(got, bits), "");
  };
  expect(plans.input, layer.w, layer.dy, wanted.input);
  expect(plans.filter, layer.x, layer.dy, wanted.filter);
  expect(plans.bias, layer.dy, {}, wanted.bias);
  ConvOptions nonsense = layer.options({});
  nonsense.strides = {1};
  EXPECT_EQ(plan_gradients(layer.x, layer.w, layer.dy, nonsense).status().message(),
            conv_gradients(layer.x, layer.w, layer.dy, nonsense).status().message());
}

}  // namespace
}  // namespace convgrad
