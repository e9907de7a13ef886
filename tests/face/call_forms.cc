// Every form in which programs call the API; compiled, never run. Built twice: over our own namespace, and through
// compat/ inside TensorFlow's, which programs re-open.
#ifdef CONVGRAD_FACE_COMPAT
#include "tensorflow/cc/client/client_session.h"
#include "tensorflow/cc/framework/gradient_checker.h"
#include "tensorflow/cc/framework/gradients.h"
#include "tensorflow/cc/framework/ops.h"
#include "tensorflow/cc/framework/scope.h"
#include "tensorflow/cc/ops/array_ops.h"
#include "tensorflow/cc/ops/const_op.h"
#include "tensorflow/cc/ops/math_ops.h"
#include "tensorflow/cc/ops/nn_ops.h"
#include "tensorflow/cc/ops/standard_ops.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/lib/core/status.h"
#include "tensorflow/core/public/session.h"
namespace tensorflow {
namespace mytests {
#else
#include <convgrad/graph.h>
namespace mytests {
using namespace convgrad::graph;
namespace tensorflow = convgrad::graph;
#endif

#define UNUSED [[maybe_unused]]

void scopes() {
  Scope root = Scope::NewRootScope();
  Scope child = root.NewSubScope("child"), same = root.NewSubScope("");
  auto a = ops::Const(root.WithOpName("a"), 1.f);
  auto b = ops::Const(root.WithOpName("b", 1, "_", size_t{2}), 1.f);
  UNUSED auto c = ops::Identity(root.WithControlDependencies(a), b);
  UNUSED auto d = ops::Identity(root.WithControlDependencies({a.op(), b.op()}), b);
  UNUSED auto e = ops::Identity(root.WithControlDependencies(std::vector<Operation>{a.op()}), b);
  UNUSED auto f = ops::Identity(root.WithControlDependencies(c), b);
  UNUSED auto g = ops::Identity(root.WithControlDependencies({c.operation, d.operation}), b);
  UNUSED auto h = ops::Identity(root.WithNoControlDependencies().WithDevice("/cpu:0"), b);
  UNUSED Scope loud = root.ExitOnError();
  UNUSED bool ok = root.ok();
  UNUSED Status status = root.status();
  root.UpdateStatus(Status::OK());
  UNUSED string name = root.GetUniqueNameForOp("Conv2D");
  UNUSED Graph* graph = root.graph();
  child = same;
}

void takes_input(Input) {}
void takes_list(InputList) {}

void operations_and_outputs(const Scope& s) {
  Operation none;
  auto x = ops::Const(s, 1.f);
  Operation op(x.node());
  UNUSED int32 ins = op.num_inputs();
  UNUSED int32 outs = op.num_outputs();
  UNUSED DataType in = op.input_type(0);
  UNUSED DataType out = op.output_type(0);
  UNUSED Output input = op.input(0);
  UNUSED Output output = op.output(0);
  UNUSED bool same = op == none;
  UNUSED auto hash = op.hash(0);
  Output empty, first(x.node()), second(x.node(), 0), third(op, 0);
  UNUSED Operation back = third.op();
  UNUSED Node* node = third.node();
  UNUSED int32 index = third.index();
  UNUSED DataType type = third.type();
  UNUSED string name = third.name();
  UNUSED bool equal = first == second && !(first == empty);
  UNUSED size_t hashed = OutputHash()(third) + third.hash();
}

void inputs(const Scope& s) {
  Output x = ops::Const(s, 1.f);
  Tensor tensor(DT_FLOAT, TensorShape({2, 2}));
  takes_input(x);
  takes_input(1);
  takes_input(1.f);
  takes_input(2.0);
  takes_input(int64{3});
  takes_input("text");
  takes_input(string("text"));
  takes_input(tensor);
  takes_input({1, 2, 3});
  takes_input({1.f, 2.f});
  takes_input({{1.f, 2.f}, {3.f, 4.f}});
  takes_input({{{{{1.f, 2.f}, {3.f, 4.f}}}}, {{{{5.f, 6.f}, {7.f, 8.f}}}}});
  takes_input(Input::Initializer(127.0f, {5, 5, 5, 3, 16}));
  takes_input(Input::Initializer({1.f, 2.f}, TensorShape({2, 1})));
  std::initializer_list<int> sizes = {3, 3, 2, 2};
  takes_input(Input::Initializer(sizes));
  takes_input(ops::Identity(s, x));
  takes_list({x, x});
  takes_list(OutputList{x});
  takes_list({Input(1.f), Input(x)});
  Input in(x);
  UNUSED Status status = in.status();
  UNUSED Tensor held = in.tensor();
  UNUSED Node* node = in.node();
  UNUSED int32 index = in.index();
  Input::Initializer literal = {{1, 2}, {3, 4}};
  UNUSED Status bad = literal.status;
  UNUSED Tensor made = literal.tensor;
  UNUSED Input::Initializer::RealType<float>::type real = 1.f;
}

void constants(const Scope& s) {
  UNUSED Output scalar = ops::Const(s, 1.f);
  UNUSED Output list = ops::Const(s, {1, 2, 3});
  UNUSED Output nested = ops::Const(s, {{1.f, 2.f}, {3.f, 4.f}});
  UNUSED Output five = ops::Const(s, {{{{{1.f, 2.f}, {3.f, 4.f}}, {{5.f, 6.f}, {7.f, 8.f}}},
                                       {{{9.f, 0.f}, {1.f, 2.f}}, {{3.f, 4.f}, {5.f, 6.f}}}}});
  UNUSED Output shaped = ops::Const(s, {2, 3, 4}, {3});
  UNUSED Output filled = ops::Const(s, 1.f, {2, 2});
  UNUSED Output filled_shape = ops::Const(s, 1.f, TensorShape({2, 2}));
  UNUSED Output typed = ops::Const<double>(s, {1, 2});
  UNUSED Output typed_scalar = ops::Const<float>(s, 1);
  UNUSED Output nothing = ops::Const(s, {});
  UNUSED Output one_nothing = ops::Const(s, {{}});
  UNUSED Output tensor = ops::Const(s, Tensor(DT_INT32, TensorShape({2})));
  UNUSED auto p = ops::Placeholder(s, DT_FLOAT);
  UNUSED auto q = ops::Placeholder(s, DT_FLOAT, ops::Placeholder::Shape({-1, 2}));
  UNUSED auto r = ops::Placeholder(s.WithOpName("r"), DT_FLOAT, ops::Placeholder::Shape(TensorShape({1, 2})));
  UNUSED auto t = ops::Placeholder(s, DT_FLOAT, ops::Placeholder::Attrs().Shape(PartialTensorShape()));
}

// The members of an op class with one output.
template <class Class>
void members(const Class& op) {
  UNUSED Output output = op;
  UNUSED Input input = op;
  UNUSED Node* node = op.node();
  UNUSED Operation operation = op.operation;
  UNUSED Output named = op.output;
}

template <class Class>
void two_d_attrs(const Scope& s, Input a, Input b, Input c) {
  typename Class::Attrs attrs = Class::DataFormat("NCHW").Dilations({1, 1, 2, 2});
  attrs = attrs.Dilations({1, 1, 3, 2});
  attrs = attrs.ExplicitPaddings({0, 0, 0, 0, 1, 1, 1, 1}).UseCudnnOnGpu(false);
  attrs.data_format_ = "NCHW";
  attrs.dilations_ = {1, 1, 1, 1};
  attrs.explicit_paddings_ = {};
  attrs.use_cudnn_on_gpu_ = true;
  UNUSED auto e = Class::ExplicitPaddings({0, 0, 1, 1, 1, 1, 0, 0});
  UNUSED auto u = Class::UseCudnnOnGpu(false);
  UNUSED auto d = Class::Dilations({1, 2, 2, 1});
  std::vector<int> strides = {1, 1, 1, 1};
  const int array[] = {1, 1, 1, 1};
  string padding = "SAME";
  if constexpr (std::is_same_v<Class, ops::Conv2D>) {
    members(Class(s, a, b, strides, padding));
    members(Class(s, a, b, array, "VALID", attrs));
    members(Class(s, a, b, {1, 1, 1, 1}, "SAME", Class::Dilations({1, 2, 2, 1})));
  } else {
    members(Class(s, a, b, c, strides, padding));
    members(Class(s, a, b, c, gtl::ArraySlice<int>(strides), StringPiece("VALID"), attrs));
    members(Class(s, a, b, c, {1, 1, 1, 1}, "SAME", Class::DataFormat("NHWC")));
  }
}

void two_d(const Scope& s, Output x, Output w, Output dy) {
  two_d_attrs<ops::Conv2D>(s, x, w, w);
  two_d_attrs<ops::Conv2DBackpropFilter>(s, x, {3, 3, 2, 2}, dy);
  two_d_attrs<ops::Conv2DBackpropInput>(s, {1, 5, 5, 2}, w, dy);
  two_d_attrs<ops::Conv2DBackpropFilterV2>(s, x, w, dy);
  two_d_attrs<ops::Conv2DBackpropInputV2>(s, x, w, dy);
  UNUSED auto a = ops::Conv2DBackpropFilter(s, x, {3, 3, 2, 2}, dy, {1, 1, 1, 1}, "SAME");
  UNUSED auto b = ops::Conv2DBackpropInput(s, {1, 5, 5, 2}, w, dy, {1, 1, 1, 1}, "SAME",
                                           ops::Conv2DBackpropInput::DataFormat("NHWC"));
  UNUSED auto c = ops::DepthwiseConv2dNative(
      s, x, w, {1, 1, 1, 1}, "SAME",
      ops::DepthwiseConv2dNative::DataFormat("NHWC").Dilations({1, 1, 1, 1}).ExplicitPaddings({}));
  UNUSED auto d = ops::DepthwiseConv2dNativeBackpropFilter(s, x, {3, 3, 2, 1}, dy, {1, 1, 1, 1}, "SAME");
  UNUSED auto e = ops::DepthwiseConv2dNativeBackpropInput(s, {1, 5, 5, 2}, w, dy, {1, 1, 1, 1}, "SAME");
}

void three_d(const Scope& s, Output x, Output w, Output dy) {
  ops::Conv3DBackpropFilterV2::Attrs attrs;
  attrs = attrs.DataFormat("NCDHW").Dilations({1, 1, 1, 2, 1});
  attrs.data_format_ = "NDHWC";
  members(ops::Conv3D(s, x, w, {1, 1, 1, 1, 1}, "SAME"));
  members(ops::Conv3D(s, x, w, {1, 1, 1, 1, 1}, "SAME", ops::Conv3D::DataFormat("NDHWC")));
  members(ops::Conv3DBackpropFilterV2(s, x, {2, 2, 2, 2, 2}, dy, {1, 4, 3, 2, 1}, "SAME"));
  members(ops::Conv3DBackpropFilterV2(s, x, {2, 2, 2, 2, 2}, dy, {1, 4, 3, 2, 1}, "SAME", attrs));
  members(ops::Conv3DBackpropInputV2(s, {2, 2, 2, 2, 2}, w, dy, {1, 4, 3, 2, 1}, "SAME"));
  members(ops::Conv3DBackpropInputV2(s, Input::Initializer({int64{2}, int64{2}}), w, dy, {1, 4, 3, 2, 1}, "SAME",
                                     ops::Conv3DBackpropInputV2::Dilations({1, 1, 1, 1, 1})));
}

Status sessions(const Scope& s) {
  auto a = ops::Placeholder(s, DT_INT32);
  auto b = ops::Placeholder(s, DT_INT32);
  auto c = ops::Add(s, a, b);
  auto r = ops::Identity(s, c);
  Tensor tensor(DT_INT32, TensorShape({}));
  std::vector<Tensor> o;
  ClientSession plain(s), targeted(s, ""), chosen(s, SessionOptions());
  UNUSED Status s1 = plain.Run({c}, &o);
  UNUSED Status s2 = plain.Run({r, c, a}, &o);
  UNUSED Status s3 = plain.Run({{a, 1}, {b, 41}}, {c}, &o);
  UNUSED Status s4 = plain.Run({{a, {1, 1}}}, {c}, &o);
  UNUSED Status s5 = plain.Run({{a, tensor}}, {r}, {r.operation}, &o);
  UNUSED Status s6 = plain.Run({{a, tensor}}, {}, {r.operation}, nullptr);
  ClientSession::FeedType feed;
  feed.insert({a, tensor});
  feed.insert({b, 3});
  feed.emplace(b, 3);
  UNUSED Status s7 = plain.Run(feed, {c}, &o);
  RunMetadata metadata;
  UNUSED Status s8 = plain.Run(RunOptions(), feed, {c}, {}, &o, &metadata);
  std::vector<Output> fetch = {c, r};
  UNUSED Status s9 = plain.Run(feed, fetch, std::vector<Operation>{r.operation}, &o);
  std::vector<Output> dxs;
  UNUSED Status g1 = AddSymbolicGradients(s, {c}, {a, b}, &dxs);
  UNUSED Status g2 = AddSymbolicGradients(s, {c}, {a, b}, {r}, &dxs);
  UNUSED Output none = NoGradient();
  float error;
  UNUSED Status e1 =
      ComputeGradientError<float, float, float>(s, {a}, {TensorShape({2})}, {c}, {TensorShape({2})}, &error);
  UNUSED Status e2 = ComputeGradientError<float, float, float>(s, a, tensor, c, TensorShape({2}), &error);
  UNUSED Status e3 = ComputeGradientError<float>(s, {a}, {TensorShape({2})}, {c}, {TensorShape({2})}, &error);
  return s1.ok() ? Status::OK() : tensorflow::errors::InvalidArgument("no ", 3, " of ", 2.5);
}

void tensors() {
  Tensor t(DT_FLOAT, TensorShape({2, 3})), copy = t, empty, scalar(DT_INT32, TensorShape({})), of_type(DT_DOUBLE);
  auto matrix = t.matrix<float>();
  matrix(0, 1) = 1.f;
  matrix.setZero();
  matrix.setConstant(3.f);
  matrix.setRandom();
  UNUSED float at = t.flat<float>()(0) + t.tensor<float, 2>()(1, 2) + t.shaped<float, 3>({1, 2, 3})(0, 0, 0);
  UNUSED float* data = t.flat<float>().data();
  UNUSED auto size = t.flat<float>().size() + matrix.dimension(0);
  scalar.scalar<int>()() = 1;
  UNUSED auto in = t.flat_inner_dims<float>();
  UNUSED auto out = t.flat_outer_dims<float, 3>();
  UNUSED auto vec = static_cast<const Tensor&>(t).flat<float>();
  UNUSED bool facts = t.IsInitialized() && t.SharesBufferWith(copy) && t.CopyFrom(copy, TensorShape({6}));
  UNUSED int64 counts = t.NumElements() + static_cast<int64>(t.TotalBytes()) + t.dim_size(0) + t.dims();
  UNUSED Tensor rows = t.Slice(0, 1);
  UNUSED StringPiece bytes = t.tensor_data();
  UNUSED void* raw = t.data();
  UNUSED string text = t.DebugString() + t.DebugString(5) + t.SummarizeValue(3) + t.shape().DebugString();
  std::vector<int64> sizes = {2, 3};
  TensorShape shape(sizes), braced({2, 3}), none({});
  shape.AddDim(4);
  shape.AppendShape(braced);
  UNUSED bool same = shape.IsSameSize(braced) || shape == braced;
  UNUSED int64 elements = shape.num_elements() + shape.dim_size(0) + shape.dims();
  PartialTensorShape partial = shape, unknown({-1, 2});
  static_assert(DataTypeToEnum<float>::v() == DT_FLOAT && DataTypeToEnum<int64>::value == DT_INT64);
  Status status = Status::OK();
  status.Update(tensorflow::OkStatus());
  status.Update(Status(tensorflow::error::INVALID_ARGUMENT, "bad"));
  UNUSED bool bad = status.code() == tensorflow::error::INVALID_ARGUMENT || status != Status() ||
                    status.code() == tensorflow::error::Code::INVALID_ARGUMENT;
  UNUSED string words = status.ToString() + string(status.error_message()) + string(status.message());
}

#ifdef CONVGRAD_FACE_COMPAT
Status macros(const Status& status) {
  TF_CHECK_OK(status) << "more";
  TF_RETURN_IF_ERROR(status);
  return Status::OK();
}
}  // namespace mytests
#endif
}  // namespace
