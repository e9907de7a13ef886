// BufferPlan: a plan run over memory that the caller names by address and size, for plug-ins whose frameworks hand out
// neither NumPy arrays nor, in a microsecond, DLPack.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "conv.h"
#include "convgrad/plan.h"
#include "errors.h"
#include "running.h"
#include "settings.h"

namespace convgrad::python {
namespace {

// Address and bytes of a contiguous tensor.
using Buffer = std::pair<std::uintptr_t, std::int64_t>;

// Another number of bytes is a tensor of another shape; that the memory is there is the caller's word.
void* data_of(const Buffer& buffer, const Operand& wanted, DType dtype) {
  const std::int64_t bytes = value_or_raise(element_count(wanted.shape)) * static_cast<std::int64_t>(size_of(dtype));
  if (buffer.second != bytes)
    raise(wrong_type(wanted.name, std::to_string(buffer.second) + " bytes", std::to_string(bytes) + " bytes"));
  return reinterpret_cast<void*>(buffer.first);
}

class BufferPlan {
 public:
  BufferPlan(const std::string& problem, std::optional<int> gpu)
      : plan_(value_or_raise(make_plan(value_or_raise(parse_problem(problem)), policy_for(gpu)))),
        operands_(operands(plan_.geometry)),
        result_{"result", convgrad::result_shape(plan_.geometry)} {}

  // The second buffer is not looked at where the direction reads one tensor.
  void run(const Buffer& first, const Buffer& second, const Buffer& result, int threads) const {
    Policy policy;
    policy.threads = threads;
    raise_if_error(run_released(plan_, args_of(first, second, result), policy));
  }

  // Adds the work to a stream of the plan's GPU, where all of the memory lies.
  void enqueue(const Buffer& first, const Buffer& second, const Buffer& result, const Buffer& workspace,
               std::uintptr_t stream) const {
    RunArgs args = args_of(first, second, result);
    args.workspace = {reinterpret_cast<void*>(workspace.first), static_cast<std::size_t>(workspace.second)};
    args.stream = reinterpret_cast<void*>(stream);
    raise_if_error(run_released(plan_, args, {}));
  }

  std::int64_t workspace_bytes() const { return plan_.workspace_bytes; }
  const Shape& result_shape() const { return result_.shape; }

 private:
  static Policy policy_for(std::optional<int> gpu) { return current_policy(gpu ? Place{Memory::cuda, *gpu} : Place{}); }

  RunArgs args_of(const Buffer& first, const Buffer& second, const Buffer& result) const {
    const DType dtype = plan_.geometry.dtype;
    RunArgs args;
    args.first = {data_of(first, operands_[0], dtype), dtype, operands_[0].shape, {}};
    if (operands_.size() > 1) args.second = {data_of(second, operands_[1], dtype), dtype, operands_[1].shape, {}};
    args.result = {data_of(result, result_, dtype), dtype, result_.shape, {}};
    return args;
  }

  Plan plan_;
  std::vector<Operand> operands_;
  Operand result_;
};

}  // namespace

void bind_buffers(nb::module_& module) {
  nb::class_<BufferPlan>(module, "BufferPlan", "A problem string's plan over buffers, each (address, bytes).")
      .def(nb::init<const std::string&, std::optional<int>>(), nb::arg("problem"), nb::arg("gpu") = nb::none(),
           nb::sig("def __init__(self, problem: str, gpu: int | None = None) -> None"))
      .def_prop_ro(
          "result_shape",
          [](const BufferPlan& plan) {
            nb::list sizes;
            for (std::int64_t size : plan.result_shape()) sizes.append(size);
            return sizes;
          },
          nb::for_getter(nb::sig("def result_shape(self) -> list[int]")))
      .def_prop_ro("workspace_bytes", &BufferPlan::workspace_bytes)
      .def("run", &BufferPlan::run, nb::arg("first"), nb::arg("second"), nb::arg("result"), nb::arg("threads"))
      .def("enqueue", &BufferPlan::enqueue, nb::arg("first"), nb::arg("second"), nb::arg("result"),
           nb::arg("workspace"), nb::arg("stream"));
}

}  // namespace convgrad::python
