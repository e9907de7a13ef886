// 3. Plan once, run often, in your own memory: what a training loop does.
#include <convgrad/convgrad.h>

#include <cstdio>
#include <vector>

using namespace convgrad;

int main() {
  // One line says the whole problem; the command line and the tests use the same text.
  const ConvProblem problem = parse_problem("n4c8h12w12_k16r3s3_st2_same_f32_filter_grad").value();
  const Plan plan = make_plan(problem).value();
  std::printf("%s\n", explain(problem).value().c_str());

  // Your memory, your shapes: operands() says what is read, result_shape() what is written.
  const std::vector<Operand> reads = operands(plan.geometry);
  std::vector<float> x(static_cast<std::size_t>(element_count(reads[0].shape).value()));
  std::vector<float> dy(static_cast<std::size_t>(element_count(reads[1].shape).value()));
  const Shape dw_shape = result_shape(plan.geometry);
  std::vector<float> dw(static_cast<std::size_t>(element_count(dw_shape).value()));
  // Enough workspace from the start: then no run allocates anything.
  Tensor scratch = Tensor::zeros(DType::f64, {plan.workspace_bytes / 8 + 1}).value();

  for (int step = 1; step <= 3; ++step) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(int(i) * step % 7 - 3);
    for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = float(int(i) * step % 5 - 2);
    const RunArgs args{.first = {x.data(), DType::f32, reads[0].shape, {}},
                       .second = {dy.data(), DType::f32, reads[1].shape, {}},
                       .result = {dw.data(), DType::f32, dw_shape, {}},
                       .workspace = {scratch.data(), static_cast<std::size_t>(plan.workspace_bytes)}};
    if (const Status done = run(plan, args); !done.ok()) {
      std::printf("%s\n", done.message().c_str());
      return 1;
    }
    std::printf("step %d: dw[0] = %g\n", step, double(dw[0]));
  }

  // The same gradient through the eager call must have the same bits.
  const TensorView x_view{x.data(), DType::f32, reads[0].shape, {}}, dy_view{dy.data(), DType::f32, reads[1].shape, {}};
  const Tensor again =
      conv2d_backprop_filter(x_view, dw_shape, dy_view, {.strides = {1, 2, 2, 1}, .padding = Padding::same()}).value();
  for (std::size_t i = 0; i < dw.size(); ++i) {
    if (again.as<float>()[i] != dw[i]) return 1;
  }
  std::printf("the eager call gives the same bits\n");
  return 0;
}
