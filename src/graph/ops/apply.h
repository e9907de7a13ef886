// Ops that change variables by a gradient.
#pragma once

#include <array>

#include "graph/convert.h"
#include "graph/row.h"

namespace convgrad::graph {

// Variables and the gradient have one shape; all other inputs are numbers.
Result<Inferred> infer_apply(const NodeView& node);

// What an update reads, and copies of its variables to change: others may still read the old values.
struct Update {
  std::vector<Tensor> values;   // of the variables, copies
  std::vector<Tensor> numbers;  // inputs without dimensions
  Tensor gradient;
};
Result<Update> start_update(const NodeRun& run);
// Writes the variables and gives the new value of the first.
std::vector<Tensor> finish_update(const NodeRun& run, Update update);

// update_of(numbers) makes the function step(state, gradient) that is called for every element: `state` are the
// elements of the `count` variables, all in the type that they are computed in.
template <std::size_t count, class F>
Result<std::vector<Tensor>> apply(const NodeRun& run, F update_of) {
  Result<Update> update = start_update(run);
  if (!update.ok()) return update.status();
  visit(update->gradient.dtype(), [&]<class T>(T) {
    if constexpr (!std::is_integral_v<T>) {
      std::vector<Wide<T>> numbers;
      for (const Tensor& number : update->numbers) numbers.push_back(widen(*static_cast<const T*>(number.data())));
      const auto step = update_of(numbers);
      std::array<Wide<T>, count> state{};
      for (int64 i = 0; i < update->gradient.NumElements(); ++i) {
        for (std::size_t v = 0; v < count; ++v) state[v] = widen(static_cast<const T*>(update->values[v].data())[i]);
        step(state, widen(static_cast<const T*>(update->gradient.data())[i]));
        for (std::size_t v = 0; v < count; ++v) static_cast<T*>(update->values[v].data())[i] = narrow<T>(state[v]);
      }
    }
  });
  return finish_update(run, std::move(*update));
}

PinSpec variable_pin(string name, string doc);
// The row of such an op; it has use_locking besides its own attributes.
OpRow apply_row(string name, string doc, std::vector<PinSpec> inputs, RunFn run, std::vector<AttrSpec> attrs = {});

}  // namespace convgrad::graph
