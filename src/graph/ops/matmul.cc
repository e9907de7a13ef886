// A * B is the forward direction of a convolution with one tap: the rows of A are its positions, k its input channels
// and n its output channels. A * B^T is that convolution's input gradient, A^T * B its filter gradient.
#include "convgrad/conv.h"
#include "graph/ops/transpose.h"

namespace convgrad::graph {
namespace {

// a is [m, k] or, transposed, [k, m]; b is [k, n] or [n, k].
struct Operands {
  const Tensor& a;
  const Tensor& b;
  bool transpose_a = false, transpose_b = false;

  int64 m() const { return a.dim_size(transpose_a ? 1 : 0); }
  int64 k() const { return a.dim_size(transpose_a ? 0 : 1); }
  int64 n() const { return b.dim_size(transpose_b ? 0 : 1); }
};

Result<Inferred> infer(const NodeView& node) {
  CONVGRAD_RETURN_IF_ERROR(want_rank(node, 0, 2));
  CONVGRAD_RETURN_IF_ERROR(want_rank(node, 1, 2));
  const bool ta = node.flag("transpose_a"), tb = node.flag("transpose_b");
  const PartialTensorShape &a = node.inputs[0].shape, &b = node.inputs[1].shape;
  const int64 in_a = a.dim_size(ta ? 0 : 1), in_b = b.dim_size(tb ? 1 : 0);
  if (in_a >= 0 && in_b >= 0 && in_a != in_b)
    return node.refuse(
        {.rule = Rule::graph_shape,
         .argument = "b",
         .reason = concat("Matrix size-incompatible: In[0]: ", a.DebugString(), ", In[1]: ", b.DebugString()),
         .got = concat(in_b, tb ? " columns" : " rows"),
         .wanted = concat("as many as the ", in_a, ta ? " rows of a" : " columns of a")});
  return Inferred{{PartialTensorShape({a.dim_size(ta ? 1 : 0), b.dim_size(tb ? 0 : 1)})}};
}

// A matrix as a signal of one sample, or as a filter of one tap.
TensorView with_one(const Tensor& matrix) {
  TensorView view = *matrix.view();
  view.shape.insert(view.shape.begin(), 1);
  return view;
}

ConvProblem one_tap(Direction direction, const Tensor& first) {
  ConvProblem problem;
  problem.direction = direction;
  problem.rank = 1;
  problem.dtype = *eager_dtype(first.dtype());
  return problem;
}

Result<Tensor> convolved(const ConvProblem& problem, const Tensor& first, const Tensor& second, const Policy& policy) {
  Result<convgrad::Tensor> made = compute(problem, with_one(first), with_one(second), policy);
  if (!made.ok()) return made.status();
  const Shape& shape = made->shape();
  Tensor result = Tensor::from(*made);
  if (!result.CopyFrom(Tensor(result), {shape[1], shape[2]}))
    return convgrad::Status::internal("a product has not its shape");
  return result;
}

Result<Tensor> on_engine(const Operands& x, const Policy& policy) {
  if (x.transpose_a && x.transpose_b) {  // (B * A)^T
    Result<Tensor> product = on_engine({x.b, x.a}, policy);
    return product.ok() ? transposed(*product, {1, 0}) : product;
  }
  if (x.transpose_a && x.a.dtype() == DT_INT32) {  // filter gradients take no integers
    const Result<Tensor> a = transposed(x.a, {1, 0});
    return a.ok() ? on_engine({*a, x.b}, policy) : a;
  }
  ConvProblem problem = one_tap(x.transpose_a   ? Direction::filter_grad
                                : x.transpose_b ? Direction::input_grad
                                                : Direction::forward,
                                x.a);
  problem.in[0] = x.transpose_a ? x.k() : x.m();
  problem.c_in = problem.filter_c = x.transpose_a ? x.m() : x.transpose_b ? x.n() : x.k();
  problem.c_out = x.transpose_b ? x.k() : x.n();
  return x.transpose_b ? convolved(problem, x.b, x.a, policy) : convolved(problem, x.a, x.b, policy);
}

// 64-bit integers, which no engine takes; they wrap around.
void multiply_integers(const Operands& x, Tensor& product) {
  const auto *a = static_cast<const std::uint64_t*>(x.a.data()), *b = static_cast<const std::uint64_t*>(x.b.data());
  auto* to = static_cast<std::uint64_t*>(product.data());
  const int64 m = x.m(), k = x.k(), n = x.n();
  for (int64 i = 0; i < m; ++i) {
    for (int64 t = 0; t < k; ++t) {
      const std::uint64_t factor = a[x.transpose_a ? t * m + i : i * k + t];
      for (int64 j = 0; j < n; ++j) to[i * n + j] += factor * b[x.transpose_b ? j * k + t : t * n + j];
    }
  }
}

Result<Tensor> product(const Operands& x, const Shape& shape, const Policy& policy) {
  const bool empty = x.m() == 0 || x.n() == 0 || x.k() == 0;
  if (!empty && x.a.dtype() != DT_INT64) return on_engine(x, policy);
  Result<Tensor> made = Tensor::make(x.a.dtype(), shape);
  if (made.ok() && !empty) multiply_integers(x, *made);
  return made;
}

Result<std::vector<Tensor>> run(const NodeRun& run) {
  Result<Tensor> made =
      product({run.inputs[0], run.inputs[1], run.node.flag("transpose_a"), run.node.flag("transpose_b")}, run.shapes[0],
              run.policy);
  if (!made.ok()) return made.status();
  return std::vector<Tensor>{std::move(*made)};
}

// Of y = A' * B', where ' may transpose: dA' = dy * B'^T, dB' = A'^T * dy.
std::vector<Output> gradient(const NodeGradient& g) {
  const bool ta = std::get<bool>(g.node.attrs().at("transpose_a")),
             tb = std::get<bool>(g.node.attrs().at("transpose_b"));
  const Output a = g.x(0), b = g.x(1), dy = g.dy[0];
  const auto matmul = [&](const Output& left, const Output& right, bool transpose_left, bool transpose_right) {
    return g.op("MatMul", {left, right}, {{"transpose_a", transpose_left}, {"transpose_b", transpose_right}});
  };
  return {ta ? matmul(b, dy, tb, true) : matmul(dy, b, false, !tb),
          tb ? matmul(dy, a, true, ta) : matmul(a, dy, !ta, false)};
}

}  // namespace

OpRow MatMul_row() {
  return {.spec = {.name = "MatMul",
                   .group = "Math",
                   .doc = "The product of two matrices.",
                   .inputs = {{"a", "T", "[m, k], or [k, m] with transpose_a."},
                              {"b", "T", "[k, n], or [n, k] with transpose_b."}},
                   .outputs = {{"product", "T", "[m, n]."}},
                   .attrs = {flag("transpose_a", "Takes a transposed.", false),
                             flag("transpose_b", "Takes b transposed.", false),
                             flag("grad_a", "Taken and not used, as it changes no result.", false),
                             flag("grad_b", "Taken and not used, as it changes no result.", false),
                             type_of_inputs("T", number_types())}},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph
