// The given cases with values: computed in every dtype and layout they list, and compared.
#include <gtest/gtest.h>

#include <cmath>

#include "support/cases.h"
#include "support/oracle.h"
#include "support/problems.h"

namespace convgrad {
namespace {

using nlohmann::json;

// Operands by the case's rules, in the case's own layout.
test::Operands operands_of(const json& c, const OwnedCall& call, const Geometry& geometry) {
  const auto made = [&](const char* argument, const Shape& shape) {
    const json rules = c.value("construct", json::object());
    return test::constructed(rules.value(argument, json{{"rule", "random_uniform_pm1"}}), call.dtype, shape);
  };
  switch (geometry.direction) {
    case Direction::forward: return {made("input", in_shape(geometry)), made("filter", filter_shape(geometry))};
    case Direction::input_grad:
      return {made("filter", filter_shape(geometry)), made("out_backprop", out_shape(geometry))};
    default: return {made("input", in_shape(geometry)), made("out_backprop", out_shape(geometry))};
  }
}

std::vector<std::string> layouts_of(const json& c) {
  return c.value("layouts_tested", std::vector<std::string>{c["data_format"].get<std::string>()});
}

ConvOptions options_of(const OwnedCall& call) {
  return {.strides = call.strides,
          .padding = {call.padding, call.explicit_paddings},
          .dilations = call.dilations,
          .data_format = call.data_format};
}

// Computes the case in another layout and brings the result back to the case's own.
Tensor computed(const OwnedCall& call, const std::string& layout, const test::Operands& given) {
  const OwnedCall moved = test::in_layout(call, layout);
  const Direction direction = info(call.op).direction;
  test::Operands there = given;
  if (moved.data_format != call.data_format) {
    const auto move = [&](const Tensor& t) {
      return layout[1] == 'C' ? test::to_channels_first(t) : test::to_channels_last(t);
    };
    if (direction != Direction::input_grad) there.first = move(there.first);
    if (direction != Direction::forward) there.second = move(there.second);
  }
  const Result<Tensor> result = compute(call.op, {there.first, there.second, moved.sizes}, options_of(moved));
  EXPECT_TRUE(result.ok()) << result.status().message();
  if (!result.ok()) return {};
  if (moved.data_format == call.data_format || direction == Direction::filter_grad) return *result;
  return layout[1] == 'C' ? test::to_channels_last(*result) : test::to_channels_first(*result);
}

// The listed values: a flat list, or scale * product of one factor a spatial dimension.
std::vector<double> expected_of(const json& c, const Tensor& like) {
  if (c.contains("expected")) return c["expected"].get<std::vector<double>>();
  const json& separable = c["expected_separable"];
  const auto factors = separable["per_dim"].get<std::vector<std::vector<double>>>();
  const Shape& shape = like.shape();
  const std::size_t first_spatial = c["data_format"].get<std::string>()[1] == 'C' ? 2 : 1;
  std::vector<double> values;
  for (std::int64_t flat = 0; flat < like.size(); ++flat) {
    double value = separable["scale"].get<double>();
    std::int64_t rest = flat;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
      if (d >= first_spatial && d < first_spatial + factors.size())
        value *= factors[d - first_spatial][static_cast<std::size_t>(rest % shape[d])];
    }
    values.push_back(value);
  }
  return values;
}

// TensorFlow's own bound for the case, absolute plus relative.
double tolerance_of(const json& c, DType dtype, double value) {
  const json& t = c["tolerance"];
  if (t.contains("absolute")) return t["absolute"].get<double>();
  if (t.contains("rtol")) return t.value("atol", 0.0) + t["rtol"].get<double>() * std::fabs(value);
  const double bound = t[std::string(info(dtype).numpy_name)].get<double>();
  return bound * (1 + std::fabs(value));
}

TEST(Cases, listed_values_come_out_in_every_dtype_and_layout) {
  int seen = 0;
  for (const json& c : test::cases_of("ops.json")) {
    if (c["kind"] != "value") continue;
    for (const json& dtype : c["dtypes"]) {
      OwnedCall call = test::call_of_case(c);
      call.dtype = dtype_from_name(dtype.get<std::string>()).value();
      const Geometry geometry = validate(call.view()).value();
      const test::Operands given = operands_of(c, call, geometry);
      for (const std::string& layout : layouts_of(c)) {
        ++seen;
        const Tensor got = computed(call, layout, given);
        const std::vector<double> wanted = expected_of(c, got);
        ASSERT_EQ(static_cast<std::size_t>(got.size()), wanted.size()) << c["id"];
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          ASSERT_LE(std::fabs(got.at(static_cast<std::int64_t>(i)) - wanted[i]), tolerance_of(c, call.dtype, wanted[i]))
              << c["id"] << " " << dtype << " " << layout << " element " << i;
        }
      }
    }
  }
  EXPECT_GT(seen, 150);
}

// All the other legal cases: integers, so the definition gives the bits, in every dtype and layout.
TEST(Cases, shapes_without_values_match_the_definition) {
  test::Random random(9);
  int seen = 0;
  for (const json& c : test::cases_of("ops.json")) {
    if (c["kind"] != "shape" && c["kind"] != "gradcheck") continue;
    OwnedCall call = test::call_of_case(c);
    for (const json& dtype : c["dtypes"]) {
      call.dtype = dtype_from_name(dtype.get<std::string>()).value();
      const Geometry geometry = validate(call.view()).value();
      const test::Operands given = test::random_operands(random, geometry);
      const Tensor wanted = test::by_definition(geometry, given.first, given.second);
      for (const std::string& layout : layouts_of(c)) {
        ++seen;
        ASSERT_EQ(test::difference(computed(call, layout, given), wanted), "")
            << c["id"] << " " << dtype << " " << layout;
      }
    }
  }
  EXPECT_GT(seen, 200);
}

// The enuSpace pages: a Conv block, then a gradient block fed by it, exact numbers.
TEST(Scenes, give_the_numbers_of_the_pictures) {
  const json file = test::load("scenes.json");
  int values = 0;
  for (const json& scene : file["scenes"]) {
    std::map<std::string, Tensor> outputs;
    std::map<std::string, Shape> sizes;
    const auto wired = [&](const std::string& block, const std::string& pin) -> std::string {
      for (const json& link : scene["links"]) {
        if (link["to"] == block && link["to_pin"] == pin) return link["from"];
      }
      return "";
    };
    for (const json& block : scene["blocks"]) {
      const std::string id = block["id"], type = block["type"];
      if (type == "Const" && block["dtype"] == "int") {
        sizes[id] = block["val"].get<Shape>();
      } else if (type == "Const") {
        outputs[id] = test::constructed({{"rule", "iota1"}}, DType::f32, block["shape"].get<Shape>());
      } else if (const std::optional<Op> op = op_from_name(type)) {
        const json& attrs = block["attrs"];
        const ConvOptions options{.strides = attrs["strides"].get<Shape>(),
                                  .padding = {attrs["padding"].get<std::string>(), {}},
                                  .data_format = attrs["data_format"].get<std::string>()};
        OpOperands given;
        std::vector<TensorView> tensors;
        for (std::string_view pin : tensor_arguments(info(*op).direction)) {
          const std::string from = wired(id, std::string(pin));
          if (sizes.contains(from)) {
            given.sizes = sizes[from];
          } else {
            tensors.push_back(outputs.at(from));
          }
        }
        given.first = tensors.at(0);
        given.second = tensors.at(1);
        outputs[id] = compute(*op, given, options).value();
      }
    }
    for (const json& expected : scene["expected"]) {
      const Tensor& got = outputs.at(expected["block"]);
      ASSERT_EQ(got.shape(), expected["shape"].get<Shape>()) << scene["id"];
      for (std::int64_t i = 0; i < got.size(); ++i, ++values) {
        ASSERT_EQ(got.at(i), expected["values"][static_cast<std::size_t>(i)].get<double>())
            << scene["id"] << " element " << i;
      }
    }
  }
  EXPECT_EQ(values, 6 * 4 + 2 * 16 + 2 * 32);
}

TEST(Hostile, legal_ones_compute_their_fill) {
  for (const json& c : test::cases_of("hostile.json")) {
    const OwnedCall call = test::call_of_hostile(c);
    const Result<Geometry> geometry = validate(call.view());
    if (!geometry.ok()) continue;
    const std::vector<Operand> wanted = operands(*geometry);
    test::Random random(4);
    const Tensor first = test::random_integers(random, call.dtype, wanted[0].shape);
    const Tensor second = test::random_integers(random, call.dtype, wanted[1].shape);
    const Result<Tensor> got = compute(call.op, {first, second, call.sizes}, options_of(call));
    ASSERT_TRUE(got.ok()) << c["id"] << got.status().message();
    EXPECT_EQ(got->shape(), c["expect_shape"].get<Shape>());
    for (std::int64_t i = 0; i < got->size(); ++i) ASSERT_EQ(got->at(i), c["expect_fill"].get<double>()) << c["id"];
  }
}

}  // namespace
}  // namespace convgrad
