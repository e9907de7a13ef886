// The full grid, no cell skipped: directions x ranks x dtypes x layouts x stride x dilation x
// padding x groups, each cell computed and compared with the definition.
#include <gtest/gtest.h>

#include "support/grid.h"
#include "support/problems.h"

namespace convgrad {
namespace {

TEST(Grid, every_cell_is_computed_and_right) {
  test::Random random(5);
  int cells = 0;
  test::for_each_cell([&](const ConvProblem& problem) {
    ++cells;
    const Result<Geometry> geometry = validate(problem);
    ASSERT_TRUE(geometry.ok()) << to_text(problem) << ": " << geometry.status().message();
    const test::Operands given = test::random_operands(random, *geometry);
    const Tensor wanted = test::by_definition(*geometry, given.first, given.second);
    for (const EngineInfo& engine : all_engines()) {
      if (!engine.obstacle.empty()) continue;
      const Result<Tensor> got = compute(problem, given.first, given.second, {.engine = engine.name});
      ASSERT_TRUE(got.ok()) << engine.name << ", " << to_text(problem) << ": " << got.status().message();
      ASSERT_EQ(test::difference(*got, wanted), "") << engine.name << ", " << to_text(problem);
    }
    EXPECT_EQ(make_plan(*geometry).value().engine, "cpu") << to_text(problem);
  });
  // 3 directions x 3 ranks x 4 dtypes x 2 layouts x 3 strides x 3 dilations x 3 paddings x 3 groups,
  // and int32 in its 2 directions of rank 1 and 2.
  EXPECT_EQ(cells, 3 * 3 * 4 * 2 * 81 + 2 * 2 * 2 * 81);
}

}  // namespace
}  // namespace convgrad
