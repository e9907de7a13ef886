// Plan: one convolution looked at once and run many times.
#include "convgrad/plan.h"

#include <nanobind/stl/string.h>

#include <utility>

#include "conv.h"
#include "errors.h"
#include "numpy.h"
#include "results.h"
#include "running.h"
#include "settings.h"

namespace convgrad::python {
namespace {

// What is planned, and where its tensors lie.
struct Planned {
  Geometry geometry;
  Place place = {};
};

// The arguments of `conv` but for out: (op, first, second, sizes, strides, padding, explicit_paddings, data_format,
// dilations).
Planned planned_call(const nb::tuple& call) {
  if (nb::len(call) != 9) raise(wrong_type("call", std::to_string(nb::len(call)) + " entries", "9"));
  const CallArguments arguments({op_from(call[0], op_from_name), false},
                                {call[1], call[2], call[3], call[4], call[5], call[6], call[7], call[8]}, nb::none());
  return {value_or_raise(validate(arguments.call())), arguments.site().place};
}

// By its problem string, or by a call.
Planned planned_from(nb::handle what) {
  if (PyTuple_Check(what.ptr())) return planned_call(nb::borrow<nb::tuple>(what));
  return {value_or_raise(validate(value_or_raise(parse_problem(text_from(what, "problem")))))};
}

nb::tuple tuple_of(const Shape& shape) {
  nb::list list;
  for (std::int64_t size : shape) list.append(size);
  return nb::tuple(list);
}

int gpu_from(nb::handle number) {
  const std::int64_t gpu = integer_from(number, "gpu");
  if (!std::in_range<int>(gpu)) raise(wrong_type("gpu", std::to_string(gpu), "the number of a GPU"));
  return static_cast<int>(gpu);
}

class PreparedPlan {
 public:
  PreparedPlan(nb::handle what, nb::handle engine, nb::handle math, nb::handle gpu) {
    const Planned planned = planned_from(what);
    policy_ = current_policy(gpu.is_none() ? planned.place : Place{Memory::cuda, gpu_from(gpu)});
    policy_.engine = text_from(engine, "engine");
    policy_.math = value_or_raise(math_from_name(text_from(math, "math")));
    plan_ = value_or_raise(make_plan(planned.geometry, policy_));
  }

  nb::object run(nb::handle first, nb::handle second, nb::handle out) const {
    const std::vector<Operand> wanted = operands(plan_.geometry);
    const DType dtype = plan_.geometry.dtype;
    if (wanted.size() == 1 && !second.is_none())
      raise(wrong_type("second", object_text(second), "none: this plan reads one tensor"));
    Site site = site_of({out, first, second});
    site.place = plan_.place;
    Array one = array_from(first, wanted[0].name, site, dtype);
    Array two = wanted.size() > 1 ? array_from(second, wanted[1].name, site, dtype) : Array{};
    Answer answer = out.is_none() ? Answer(site, one.kind, dtype, result_shape(plan_.geometry)) : Answer(site, out);
    const RunArgs args{std::move(one.view), std::move(two.view), answer.view(), {}, site.stream};
    raise_if_error(run_released(plan_, args, policy_));
    return answer.take();
  }

  nb::dict operand_shapes() const {
    nb::dict shapes;
    for (const Operand& operand : operands(plan_.geometry))
      shapes[nb::str(operand.name.data())] = tuple_of(operand.shape);
    return shapes;
  }
  const Plan& plan() const { return plan_; }

 private:
  Policy policy_;
  Plan plan_;
};

}  // namespace

void bind_plan(nb::module_& module) {
  nb::class_<PreparedPlan>(module, "Plan")
      .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle>(), nb::arg("what").none(),
           nb::arg("engine").none() = "", nb::arg("math").none() = "standard", nb::arg("gpu").none() = nb::none(),
           nb::sig("def __init__(self, what: object, engine: str = '', math: str = 'standard', gpu: int | None = None) "
                   "-> None"))
      .def("__call__", &PreparedPlan::run, nb::arg("first").none(), nb::arg("second").none() = nb::none(),
           nb::arg("out").none() = nb::none(),
           nb::sig("def __call__(self, first: object, second: object = None, out: object = None) -> typing.Any"))
      .def_prop_ro("problem", [](const PreparedPlan& p) { return to_text(problem_of(p.plan().geometry)); })
      .def_prop_ro("operands", &PreparedPlan::operand_shapes,
                   nb::for_getter(nb::sig("def operands(self) -> dict[str, tuple[int, ...]]")))
      .def_prop_ro(
          "result_shape", [](const PreparedPlan& p) { return tuple_of(result_shape(p.plan().geometry)); },
          nb::for_getter(nb::sig("def result_shape(self) -> tuple[int, ...]")))
      .def_prop_ro(
          "dtype", [](const PreparedPlan& p) { return nb::borrow(numpy_dtype(p.plan().geometry.dtype)); },
          nb::for_getter(nb::sig("def dtype(self) -> typing.Any")))
      .def_prop_ro("engine", [](const PreparedPlan& p) { return p.plan().engine; })
      .def_prop_ro("kernel", [](const PreparedPlan& p) { return p.plan().kernel; })
      .def_prop_ro("math", [](const PreparedPlan& p) { return std::string(info(p.plan().math).name); })
      .def_prop_ro("why", [](const PreparedPlan& p) { return p.plan().why; })
      .def_prop_ro("workspace_bytes", [](const PreparedPlan& p) { return p.plan().workspace_bytes; })
      .def_prop_ro("cost_us", [](const PreparedPlan& p) { return p.plan().cost_us; });
  module.def(
      "explain",
      [](nb::handle what) {
        if (PyUnicode_Check(what.ptr()))
          return value_or_raise(explain(value_or_raise(parse_problem(text_from(what, "problem"))), current_policy()));
        const Planned planned = planned_from(what);
        return value_or_raise(explain(problem_of(planned.geometry), current_policy(planned.place)));
      },
      nb::arg("what").none(), nb::sig("def explain(what: object) -> str"));
}

}  // namespace convgrad::python
