// Symbolic gradients against centred differences in double.
#include <cmath>
#include <random>

#include "api/guard.h"
#include "convgrad/graph/session.h"
#include "graph/convert.h"
#include "graph/in_double.h"
#include "graph/row.h"

namespace convgrad::graph {
namespace {

// Convolutions are linear in each argument, so that their differences are exact but for rounding; for the others the
// error of the formula is about step^2 = 1e-8.
constexpr double kStep = 1e-4;

using Feed = ClientSession::FeedType;
using Jacobian = std::vector<double>;  // row-major: elements of x by elements of y

Result<std::vector<Tensor>> doubles(const std::vector<Tensor>& values) {
  std::vector<Tensor> wide;
  for (const Tensor& value : values) {
    Result<Tensor> converted = convert(value, DT_DOUBLE);
    if (!converted.ok()) return converted.status();
    wide.push_back(converted->deep_copy());
  }
  return wide;
}

Feed feeds_of(const OutputList& xs, const std::vector<Tensor>& values) {
  Feed feed;
  for (std::size_t i = 0; i < xs.size(); ++i) feed.emplace(xs[i], values[i]);
  return feed;
}

class Numeric {
 public:
  Numeric(const DoubleCopy& copy, std::vector<Tensor> values)
      : copy_(copy), session_(copy.scope), values_(std::move(values)) {}

  // d ys[y] / d xs[x].
  Result<Jacobian> jacobian(std::size_t x, std::size_t y, int64 y_elements) {
    const int64 x_elements = values_[x].NumElements();
    Jacobian entries(static_cast<std::size_t>(x_elements * y_elements));
    double* element = static_cast<double*>(values_[x].data());
    for (int64 i = 0; i < x_elements; ++i) {
      const double kept = element[i];
      element[i] = kept + kStep;
      Result<Tensor> above = value(y);
      element[i] = kept - kStep;
      Result<Tensor> below = value(y);
      element[i] = kept;
      if (!above.ok()) return above.status();
      if (!below.ok()) return below.status();
      for (int64 j = 0; j < y_elements; ++j)
        entries[static_cast<std::size_t>(i * y_elements + j)] = (above->at(j) - below->at(j)) / (2 * kStep);
    }
    return entries;
  }

 private:
  Result<Tensor> value(std::size_t y) {
    std::vector<Tensor> outputs;
    const Status status = session_.Run(feeds_of(copy_.xs, values_), {copy_.ys[y]}, &outputs);
    if (!status.ok()) return status.core();
    return outputs.front();
  }

  const DoubleCopy& copy_;
  ClientSession session_;
  std::vector<Tensor> values_;
};

// One run an element of y, with a one there and zeros elsewhere as dy.
class Symbolic {
 public:
  Symbolic(const Scope& scope, const OutputList& xs, const std::vector<Tensor>& values)
      : scope_(scope), session_(scope), xs_(xs), values_(values) {}

  Result<std::vector<Jacobian>> jacobians(const Output& y, const TensorShape& y_shape) {
    const Output dy(scope_.add("Placeholder", {}, {{"dtype", y.type()}, {"shape", PartialTensorShape(y_shape)}}), 0);
    std::vector<Output> dxs;
    Status status = AddSymbolicGradients(scope_, {y}, xs_, {dy}, &dxs);
    if (!status.ok()) return status.core();
    std::vector<Jacobian> found(xs_.size());
    const int64 y_elements = y_shape.num_elements();
    for (std::size_t x = 0; x < xs_.size(); ++x)
      found[x].resize(static_cast<std::size_t>(values_[x].NumElements() * y_elements), 0.0);
    for (int64 j = 0; j < y_elements; ++j) CONVGRAD_RETURN_IF_ERROR(column(dy, dxs, y_shape, j, found));
    return found;
  }

 private:
  convgrad::Status column(const Output& dy, const std::vector<Output>& dxs, const TensorShape& y_shape, int64 j,
                          std::vector<Jacobian>& found) {
    Tensor one_hot(DT_DOUBLE, y_shape);
    if (!one_hot.IsInitialized()) return convgrad::Status::out_of_memory();
    static_cast<double*>(one_hot.data())[j] = 1;
    const Result<Tensor> seed = convert(one_hot, dy.type());
    if (!seed.ok()) return seed.status();
    Feed feed = feeds_of(xs_, values_);
    feed.emplace(dy, *seed);
    std::vector<Output> fetch;
    for (const Output& dx : dxs) {
      if (dx.node() != nullptr) fetch.push_back(dx);
    }
    if (fetch.empty()) return {};  // no gradient at all: zeros
    std::vector<Tensor> outputs;
    const Status status = session_.Run(feed, fetch, &outputs);
    if (!status.ok()) return status.core();
    for (std::size_t x = 0, next = 0; x < dxs.size(); ++x) {
      if (dxs[x].node() == nullptr) continue;  // no gradient: zeros
      const Tensor& dx = outputs[next++];
      for (int64 i = 0; i < dx.NumElements(); ++i)
        found[x][static_cast<std::size_t>(i * y_shape.num_elements() + j)] = dx.at(i);
    }
    return {};
  }

  const Scope& scope_;
  ClientSession session_;
  const OutputList& xs_;
  const std::vector<Tensor>& values_;
};

Status bad_pairs(const string& argument, std::size_t got, std::size_t wanted) {
  return convgrad::refuse("ComputeGradientError", {.rule = Rule::graph_gradient,
                                                   .argument = argument,
                                                   .reason = concat(argument, " has not one entry an output"),
                                                   .got = concat(got),
                                                   .wanted = concat(wanted)});
}

double unit_roundoff(DataType dtype) {
  const std::optional<DType> eager = eager_dtype(dtype);
  return eager ? info(*eager).unit_roundoff : 0;
}

double tolerance(const OutputList& xs, const std::vector<Tensor>& x_values, const OutputList& ys,
                 const std::vector<TensorShape>& y_shapes, double largest) {
  double u = 0;
  int64 length = 1;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    u = std::max(u, unit_roundoff(xs[i].type()));
    length = std::max(length, x_values[i].NumElements());
  }
  for (std::size_t i = 0; i < ys.size(); ++i) {
    u = std::max(u, unit_roundoff(ys[i].type()));
    length = std::max(length, y_shapes[i].num_elements());
  }
  return std::max(1.0, largest) * (1e-6 + 4 * u * std::sqrt(static_cast<double>(length)));
}

// Of one pair's Jacobians. What is no number is wrong without bound.
void compare(const Jacobian& ours, const Jacobian& theirs, GradientCheck& check) {
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const double error = std::abs(ours[i] - theirs[i]);
    check.max_error = std::max(check.max_error, std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
    check.largest = std::max(check.largest, std::abs(theirs[i]));
  }
}

convgrad::Status all_there(const Scope& scope, const OutputList& outputs) {
  for (const Output& output : outputs) {
    if (scope.graph()->contains({output.node(), output.index()})) continue;
    return convgrad::refuse("ComputeGradientError",
                            {.rule = Rule::graph_gradient,
                             .argument = "xs, ys",
                             .reason = "xs or ys has what is no output of the scope's graph",
                             .got = output.node() == nullptr ? string("nothing") : output.name(),
                             .wanted = "outputs of its nodes"});
  }
  return {};
}

Result<GradientCheck> compute_check(const Scope& scope, const OutputList& xs, const std::vector<Tensor>& x_values,
                                    const OutputList& ys, const std::vector<TensorShape>& y_shapes) {
  if (!scope.ok()) return scope.status().core();
  if (xs.size() != x_values.size()) return bad_pairs("x_values", x_values.size(), xs.size()).core();
  if (ys.size() != y_shapes.size()) return bad_pairs("y_shapes", y_shapes.size(), ys.size()).core();
  for (const OutputList* list : {&xs, &ys}) CONVGRAD_RETURN_IF_ERROR(all_there(scope, *list));
  for (const Tensor& value : x_values) CONVGRAD_RETURN_IF_ERROR(value.check_memory());
  Result<DoubleCopy> copy = in_double(xs, ys);
  if (!copy.ok()) return copy.status();
  Result<std::vector<Tensor>> wide = doubles(x_values);
  if (!wide.ok()) return wide.status();
  Numeric numeric(*copy, std::move(*wide));
  Symbolic symbolic(scope, xs, x_values);
  GradientCheck check;
  for (std::size_t y = 0; y < ys.size(); ++y) {
    Result<std::vector<Jacobian>> ours = symbolic.jacobians(ys[y], y_shapes[y]);
    if (!ours.ok()) return ours.status();
    for (std::size_t x = 0; x < xs.size(); ++x) {
      Result<Jacobian> theirs = numeric.jacobian(x, y, y_shapes[y].num_elements());
      if (!theirs.ok()) return theirs.status();
      compare((*ours)[x], *theirs, check);
    }
  }
  check.tolerance = tolerance(xs, x_values, ys, y_shapes, check.largest);
  return check;
}

}  // namespace

Status gradient_error(const Scope& scope, const OutputList& xs, const std::vector<Tensor>& x_values,
                      const OutputList& ys, const std::vector<TensorShape>& y_shapes, double* max_error) {
  const Result<GradientCheck> check = check_gradients(scope, xs, x_values, ys, y_shapes);
  if (check.ok() && max_error != nullptr) *max_error = check->max_error;
  return check.status();
}

Result<GradientCheck> check_gradients(const Scope& scope, const OutputList& xs, const std::vector<Tensor>& x_values,
                                      const OutputList& ys, const std::vector<TensorShape>& y_shapes) {
  return guarded([&] { return compute_check(scope, xs, x_values, ys, y_shapes); });
}

Result<std::vector<Tensor>> random_values(const OutputList& xs, const std::vector<TensorShape>& shapes) {
  if (xs.size() != shapes.size()) return bad_pairs("x_shapes", shapes.size(), xs.size()).core();
  std::mt19937_64 bits(20260101);
  std::vector<Tensor> values;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    Result<Tensor> made = Tensor::make(DT_DOUBLE, shapes[i].dim_sizes());
    if (!made.ok()) return made.status();
    for (int64 e = 0; e < made->NumElements(); ++e)
      static_cast<double*>(made->data())[e] = static_cast<double>(bits() >> 11) * 0x1p-52 - 1;  // in [-1, 1)
    Result<Tensor> typed = convert(*made, xs[i].type());
    if (!typed.ok()) return typed.status();
    values.push_back(*typed);
  }
  return values;
}

}  // namespace convgrad::graph
