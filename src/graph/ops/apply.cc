#include "graph/ops/apply.h"

#include "graph/ops/shapes.h"

namespace convgrad::graph {
namespace {

bool is_gradient(const PinSpec& pin) { return pin.name == "grad" || pin.name == "delta"; }

convgrad::Status want_scalar(const NodeView& node, std::size_t input) {
  const PartialTensorShape& shape = node.inputs[input].shape;
  if (shape.unknown_rank() || shape.dims() == 0) return {};
  const string& name = node.op.inputs[input].name;
  return node.refuse({.rule = Rule::graph_shape,
                      .argument = name,
                      .reason = concat(name, " is not a scalar: ", shape.DebugString()),
                      .got = shape.DebugString(),
                      .wanted = "[]"});
}

}  // namespace

Result<Inferred> infer_apply(const NodeView& node) {
  Result<PartialTensorShape> shape = node.inputs[0].shape;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const PinSpec& pin = node.op.inputs[i];
    if (!pin.variable && !is_gradient(pin)) {
      CONVGRAD_RETURN_IF_ERROR(want_scalar(node, i));
      continue;
    }
    shape = merge(node, *shape, i);
    if (!shape.ok()) return shape.status();
  }
  return Inferred{{*shape}};
}

// The shapes that variables have now may differ from those they were declared with; the same rule looks at them.
Result<Update> start_update(const NodeRun& run) {
  Update update;
  std::vector<WireInfo> known(run.node.inputs.begin(), run.node.inputs.end());
  for (std::size_t i = 0; i < known.size(); ++i) {
    const PinSpec& pin = run.node.op.inputs[i];
    if (!pin.variable) {
      is_gradient(pin) ? update.gradient = run.inputs[i] : update.numbers.emplace_back(run.inputs[i]);
      continue;
    }
    const Result<Tensor> value = run.variables.read(run.variable(i));
    if (!value.ok()) return value.status();
    known[i].shape = value->shape();
    update.values.push_back(value->deep_copy());
    if (!update.values.back().IsInitialized()) return convgrad::Status::out_of_memory();
  }
  const Result<Inferred> inferred = infer_apply({run.node.op, run.node.attrs, known});
  if (!inferred.ok()) return inferred.status();
  return update;
}

std::vector<Tensor> finish_update(const NodeRun& run, Update update) {
  for (std::size_t i = 0; i < update.values.size(); ++i) run.variables.write(run.variable(i), update.values[i]);
  update.values.resize(1);
  return std::move(update.values);
}

PinSpec variable_pin(string name, string doc) {
  return {.name = std::move(name), .type = "T", .doc = std::move(doc), .variable = true};
}

OpRow apply_row(string name, string doc, std::vector<PinSpec> inputs, RunFn run, std::vector<AttrSpec> attrs) {
  attrs.insert(attrs.begin(), flag("use_locking", "Taken and not used: every write is whole.", false));
  attrs.push_back(type_of_inputs("T", floating_types()));
  return {.spec = {.name = std::move(name),
                   .group = "Training",
                   .doc = std::move(doc),
                   .inputs = std::move(inputs),
                   .outputs = {{"out", "T", "The new value of var."}},
                   .attrs = std::move(attrs),
                   .stateful = true},
          .infer = infer_apply,
          .run = run};
}

}  // namespace convgrad::graph
