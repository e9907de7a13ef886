// All gradients in one go have the bits of the programs run one after another, however work is cut and shared.
#include "engines/cpu/together.h"

#include <gtest/gtest.h>

#include "base/buffer.h"
#include "engines/cpu/isa.h"
#include "geometry/shapes.h"
#include "support/problems.h"

namespace convgrad::cpu {
namespace {

// A layer's tensors and the programs of its gradients, cut so small that even little problems have many units.
struct Scene {
  Geometry input, filter, bias;
  Tensor x, w, dy;
  GatherProgram input_program;
  FilterProgram filter_program, bias_program;

  Scene(test::Random& random, const Geometry& g, int threads) : input(g), filter(g), bias(g) {
    input.direction = Direction::input_grad;
    filter.direction = Direction::filter_grad;
    bias.direction = Direction::bias_grad;
    test::Operands operands = test::real_operands(random, filter);
    x = std::move(operands.first);
    dy = std::move(operands.second);
    w = std::move(test::real_operands(random, input).first);
    const Policy policy{.threads = threads, .knobs = Knobs{.most_region = random.between(1, 30)}};
    input_program = gather_program(input, *chosen_kernels(), policy);
    filter_program = cpu::filter_program(filter, policy);
    bias_program = cpu::filter_program(bias, policy);
    cut(filter_program, random);
    cut(bias_program, random);
    input_program.workers = filter_program.workers = bias_program.workers = threads;
  }

  static void cut(FilterProgram& p, test::Random& random) {
    Position outs{};
    for (std::size_t a = 0; a < kAxes; ++a) outs[a] = p.layer.axes[a].out;
    p.region = p.strip = part_of_at_most(outs, random.between(1, 12));
    for (std::size_t a = 0; a < kAxes; ++a) p.regions[a] = ceil_div(outs[a], p.region[a]);
    p.slices = std::min<std::int64_t>(p.region_count(), random.between(1, 4));
  }

  // As choose_pieces() does for larger bias gradients.
  void cut_bias_into_pieces() {
    FilterProgram& p = bias_program;
    for (std::int64_t slice = 0; slice < p.slices; ++slice) {
      const std::int64_t end = p.slice_begin(slice + 1);
      for (std::int64_t r = p.slice_begin(slice); r < end; r = p.piece_end(r, end)) p.pieces.push_back(r);
    }
    p.pieces.push_back(p.region_count());
  }
};

// A result and a workspace of exactly the stated size.
struct Place {
  Tensor result;
  std::shared_ptr<void> memory;
  EngineArgs args;

  Place(const Geometry& g, std::int64_t bytes, const Tensor& first, const Tensor* second)
      : result(Tensor::zeros(g.dtype, result_shape(g)).value()),
        memory(aligned_buffer(static_cast<std::size_t>(std::max<std::int64_t>(64, bytes)))),
        args{first.data(), second == nullptr ? nullptr : second->data(), result.mutable_view().data, memory.get()} {}
};

struct Places {
  Place input, filter, bias;

  explicit Places(const Scene& s)
      : input(s.input, workspace_bytes(s.input_program, s.input.dtype), s.w, &s.dy),
        filter(s.filter, workspace_bytes(s.filter_program, s.filter.dtype), s.x, &s.dy),
        bias(s.bias, workspace_bytes(s.bias_program, s.bias.dtype), s.dy, nullptr) {}
};

Places one_after_another(const Scene& s) {
  Places at(s);
  const Policy policy{.threads = 1};
  EXPECT_TRUE(run_gather(s.input_program, *chosen_kernels(), s.input, at.input.args, policy).ok());
  EXPECT_TRUE(run_filter(s.filter_program, *chosen_kernels(), s.filter, at.filter.args, policy).ok());
  EXPECT_TRUE(run_filter(s.bias_program, *chosen_kernels(), s.bias, at.bias.args, policy).ok());
  return at;
}

Status together(const Scene& s, const Places& at, const Policy& policy) {
  return run_gradients({*chosen_kernels(),
                        {s.input_program, s.input, at.input.args},
                        {s.filter_program, s.filter, at.filter.args},
                        {s.bias_program, s.bias, at.bias.args}},
                       policy);
}

void expect_equal(const Places& got, const Places& wanted, const std::string& what) {
  EXPECT_EQ(test::difference(got.input.result, wanted.input.result), "") << "input gradient: " << what;
  EXPECT_EQ(test::difference(got.filter.result, wanted.filter.result), "") << "filter gradient: " << what;
  EXPECT_EQ(test::difference(got.bias.result, wanted.bias.result), "") << "bias gradient: " << what;
}

void backwards(void*, std::int64_t count, ParallelFor::Body body, void* state) {
  for (std::int64_t i = count; i-- > 0;) body(state, i);
}

// Calls visit(scene, problem text) for random layers, all dtypes and forms.
template <class Visit>
void each_scene(std::uint64_t seed, int rounds, int threads, const Visit& visit) {
  test::Random random(seed);
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    Geometry g = validate(test::random_problem(random, 20000)).value();
    g.direction = Direction::filter_grad;
    if (!has_terms(g)) continue;
    Scene scene(random, g, threads);
    if (scene.filter_program.unit_count() > 32) continue;
    visit(scene, to_text(problem_of(g)));
  }
}

TEST(Together, has_the_bits_of_one_after_another) {
  for (const int threads : {1, 2, 3, 7}) {
    int seen = 0, sliced = 0;
    each_scene(91, 400, threads, [&](Scene& scene, const std::string& problem) {
      const Places wanted = one_after_another(scene);
      scene.cut_bias_into_pieces();
      const Places got(scene);
      ASSERT_TRUE(together(scene, got, {.threads = threads}).ok()) << problem;
      expect_equal(got, wanted, problem);
      ++seen;
      sliced += scene.filter_program.slices > 1 ? 1 : 0;
    });
    EXPECT_GT(seen, 200);
    EXPECT_GT(sliced, 100);
  }
}

TEST(Together, takes_threads_that_are_lent) {
  each_scene(92, 200, 3, [&](Scene& scene, const std::string& problem) {
    const Places wanted = one_after_another(scene);
    const Places got(scene);
    ASSERT_TRUE(together(scene, got, {.threads = 3, .parallel_for = {backwards, nullptr}}).ok()) << problem;
    expect_equal(got, wanted, problem);
  });
}

TEST(Together, stops_when_cancelled) {
  const std::atomic<bool> cancel{true};
  for (const int threads : {1, 2}) {
    each_scene(93, 50, threads, [&](Scene& scene, const std::string& problem) {
      const Places at(scene);
      EXPECT_EQ(together(scene, at, {.threads = threads, .cancel = &cancel}).code(), StatusCode::cancelled) << problem;
    });
  }
}

TEST(Together, pieces_of_a_bias_gradient_keep_its_bits) {
  each_scene(94, 300, 2, [&](Scene& scene, const std::string& problem) {
    const Places wanted = one_after_another(scene);
    scene.cut_bias_into_pieces();
    EXPECT_EQ(test::difference(one_after_another(scene).bias.result, wanted.bias.result), "") << problem;
  });
}

TEST(Together, is_for_layers_that_wait_for_memory) {
  const auto fit = [](const char* text) {
    Geometry g = validate(parse_problem(text).value()).value();
    const FilterProgram filter = filter_program(g, {.threads = 2});
    g.direction = Direction::input_grad;
    return fit_together(gather_program(g, *chosen_kernels(), {.threads = 2}), filter);
  };
  EXPECT_TRUE(fit("n16c64h56w56_k256r1s1_valid_filter_grad"));
  EXPECT_TRUE(fit("n16c128h56w56_k128r3s3_same_g128_filter_grad"));
  EXPECT_FALSE(fit("n16c64h56w56_k64r3s3_same_filter_grad"));            // arithmetic
  EXPECT_FALSE(fit("n16c64h56w56_k256r1s1_valid_chfirst_filter_grad"));  // transposes
  EXPECT_FALSE(fit("n16c64h56w56_k256r1s1_valid_bf16_filter_grad"));     // conversions
  EXPECT_FALSE(fit("n1c8h12w12_k8r3s3_same_filter_grad"));               // one slice
}

}  // namespace
}  // namespace convgrad::cpu
