// The convolution ops of the eager calls as rows of the graph's table.
#pragma once

#include "convgrad/conv.h"
#include "graph/row.h"

namespace convgrad::graph {

// How a graph op stands for an eager one.
struct ConvForm {
  Op op;
  bool sizes_of_tensor = false;  // the sizes are the shape of a tensor, not its elements
  bool depthwise = false;        // filter [h, w, channels, multiplier]
};

// The row of an op but for its name in the table: inputs, attributes, shape rule, run and gradient.
OpRow conv_row(string name, string doc, InferFn infer, RunFn run, const ConvForm& form);

Result<Geometry> conv_geometry(const NodeView& node, const ConvForm& form);
Result<Inferred> infer_conv(const NodeView& node, const ConvForm& form);
Result<std::vector<Tensor>> run_conv(const NodeRun& run, const ConvForm& form);

// A row by its form: conv<ConvForm{...}>("Conv2D", "...").
template <ConvForm form>
OpRow conv(string name, string doc) {
  OpRow row = conv_row(
      std::move(name), std::move(doc), [](const NodeView& node) { return infer_conv(node, form); },
      [](const NodeRun& run) { return run_conv(run, form); }, form);
  row.geometry = [](const NodeView& node) { return conv_geometry(node, form); };
  return row;
}

}  // namespace convgrad::graph
