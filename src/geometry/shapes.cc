// Geometry read back as shapes in the caller's rank and layout.
#include "geometry/shapes.h"

namespace convgrad {
namespace {

FixedShape image_shape(const Geometry& g, std::int64_t channels, const Extents& sizes) {
  FixedShape shape;
  shape.push(g.n);
  if (g.layout == Layout::channels_first) shape.push(channels);
  for (int i = 3 - g.rank; i < 3; ++i) shape.push(sizes[static_cast<std::size_t>(i)]);
  if (g.layout == Layout::channels_last) shape.push(channels);
  return shape;
}

FixedShape in_fixed(const Geometry& g) { return image_shape(g, g.c_in, g.in); }
FixedShape out_fixed(const Geometry& g) { return image_shape(g, g.c_out, g.out); }

FixedShape filter_fixed(const Geometry& g) {
  FixedShape shape;
  for (int i = 3 - g.rank; i < 3; ++i) shape.push(g.filter[static_cast<std::size_t>(i)]);
  shape.push(g.group_c_in());
  shape.push(g.c_out);
  return shape;
}

Shape to_shape(const FixedShape& fixed) { return {fixed.span().begin(), fixed.span().end()}; }

double product(const Extents& e) {
  return static_cast<double>(e[0]) * static_cast<double>(e[1]) * static_cast<double>(e[2]);
}

}  // namespace

FixedShape fixed_result_shape(const Geometry& g) {
  switch (g.direction) {
    case Direction::forward: return out_fixed(g);
    case Direction::input_grad: return in_fixed(g);
    case Direction::filter_grad: return filter_fixed(g);
    case Direction::bias_grad: break;
  }
  FixedShape shape;
  shape.push(g.c_out);
  return shape;
}

FixedOperands fixed_operands(const Geometry& g) {
  switch (g.direction) {
    case Direction::forward: return {2, {{"input", in_fixed(g)}, {"filter", filter_fixed(g)}}};
    case Direction::input_grad: return {2, {{"filter", filter_fixed(g)}, {"out_backprop", out_fixed(g)}}};
    case Direction::filter_grad: return {2, {{"input", in_fixed(g)}, {"out_backprop", out_fixed(g)}}};
    case Direction::bias_grad: break;
  }
  return {1, {{"out_backprop", out_fixed(g)}, {}}};
}

Shape in_shape(const Geometry& g) { return to_shape(in_fixed(g)); }
Shape filter_shape(const Geometry& g) { return to_shape(filter_fixed(g)); }
Shape out_shape(const Geometry& g) { return to_shape(out_fixed(g)); }
Shape result_shape(const Geometry& g) { return to_shape(fixed_result_shape(g)); }

std::vector<Operand> operands(const Geometry& g) {
  const FixedOperands fixed = fixed_operands(g);
  std::vector<Operand> all;
  for (int i = 0; i < fixed.count; ++i) all.push_back({fixed.operand[i].name, to_shape(fixed.operand[i].shape)});
  return all;
}

ConvProblem problem_of(const Geometry& g) {
  ConvProblem p;
  p.direction = g.direction;
  p.rank = g.rank;
  p.dtype = g.dtype;
  p.layout = g.layout;
  p.n = g.n;
  p.c_in = g.c_in;
  p.filter_c = g.group_c_in();
  p.c_out = g.c_out;
  p.padding = PaddingKind::explicit_pairs;
  for (int i = 0; i < g.rank; ++i) {
    const auto to = static_cast<std::size_t>(i);
    const auto from = static_cast<std::size_t>(3 - g.rank + i);
    p.in[to] = g.in[from];
    p.filter[to] = g.filter[from];
    p.stride[to] = g.stride[from];
    p.dilation[to] = g.dilation[from];
    p.pads[to] = {g.pad_before[from], g.pad_after[from]};
  }
  return p;
}

double nominal_flops(const Geometry& g) {
  const double out_cells = static_cast<double>(g.n) * product(g.out) * static_cast<double>(g.c_out);
  if (g.direction == Direction::bias_grad) return out_cells;
  return 2.0 * out_cells * product(g.filter) * static_cast<double>(g.group_c_in());
}

bool has_terms(const Geometry& g) {
  const auto any_zero = [](const Extents& e) { return e[0] == 0 || e[1] == 0 || e[2] == 0; };
  if (g.n == 0 || g.c_out == 0 || any_zero(g.out)) return false;
  return g.direction == Direction::bias_grad || !(g.c_in == 0 || any_zero(g.in) || any_zero(g.filter));
}

}  // namespace convgrad
