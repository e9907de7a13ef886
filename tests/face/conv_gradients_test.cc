// First and second derivatives of every convolution op against differences in double, over random layers.
#include "face/graph_tests.h"
#include "support/problems.h"

namespace convgrad::graph::test {
namespace {

using convgrad::test::Random;

// Both sides work with numbers below 1 and single products, so that only the differences' rounding is left: with
// sums of up to a hundred terms, 8 * 2^-53 * 100 / 1e-4.
constexpr double kTolerance = 1e-9;

// A layer: shapes and attributes of the forward op.
struct Layer {
  convgrad::Shape x, w;
  AttrMap attrs;
};

// Image sizes in the order of the format.
convgrad::Shape ordered(const string& format, int64 first, int64 channels, std::vector<int64> middle) {
  convgrad::Shape sizes{first};
  const bool channels_first = format[1] == 'C';
  if (channels_first) sizes.push_back(channels);
  sizes.insert(sizes.end(), middle.begin(), middle.end());
  if (!channels_first) sizes.push_back(channels);
  return sizes;
}

// Pairs of zeros, one a dimension, with random padding of the spatial ones.
std::vector<int64> random_paddings(Random& random, const string& format) {
  std::vector<int64> paddings;
  for (char axis : format) {
    const bool spatial = axis != 'N' && axis != 'C';
    for (int side = 0; side < 2; ++side) paddings.push_back(spatial ? random.between(0, 2) : 0);
  }
  return paddings;
}

Layer random_layer(Random& random, const string& format, const string& padding, bool depthwise) {
  const std::size_t rank = format.size() - 2;
  const int64 groups = random.between(1, 2), in = depthwise ? random.between(1, 3) : groups * random.between(1, 2);
  const int64 step = random.between(1, 2);  // TensorFlow takes equal ones only where each channel stands alone
  std::vector<int64> image, window, strides, dilations;
  for (std::size_t d = 0; d < rank; ++d) {
    window.push_back(random.between(1, rank == 3 ? 2 : 3));
    dilations.push_back(random.between(1, 2));
    strides.push_back(depthwise ? step : random.between(1, 2));
    image.push_back((window.back() - 1) * dilations.back() + random.between(1, 2));
  }
  Layer layer;
  layer.x = ordered(format, random.between(1, 2), in, image);
  layer.w = window;
  layer.w.push_back(depthwise ? in : in / groups);
  layer.w.push_back(depthwise ? random.between(1, 2) : groups * random.between(1, 2));
  layer.attrs = {{"strides", ordered(format, 1, 1, strides)},
                 {"dilations", ordered(format, 1, 1, dilations)},
                 {"padding", padding},
                 {"data_format", format}};
  if (padding == "EXPLICIT") layer.attrs.emplace("explicit_paddings", random_paddings(random, format));
  return layer;
}

// The forward op that a gradient op belongs to.
string family_of(const string& op) { return op.starts_with("Depthwise") ? "DepthwiseConv2dNative" : op.substr(0, 6); }

// An op of the table over a layer: its output, and the inputs that it can be differentiated by.
struct Built {
  Output y;
  OutputList xs;
  std::vector<TensorShape> shapes;
};

class Builder {
 public:
  Builder(const Scope& scope, const Layer& layer, DataType dtype) : scope_(scope), layer_(layer), dtype_(dtype) {}

  Built build(const string& op) {
    forward_ = family_of(op);
    for (const PinSpec& pin : find_graph_op(op)->inputs) {
      if (pin.type == "Tshape")
        inputs_.emplace_back(sizes(pin.name == "filter_sizes" ? layer_.w : layer_.x));
      else if (pin.name == "out_backprop")
        input(out_shape());
      else
        tensor(op, pin.name);
    }
    built_.y = Output(scope_.add(op, inputs_, layer_.attrs), 0);
    return built_;
  }

 private:
  Output sizes(const convgrad::Shape& shape) const {
    return ops::Const(scope_, Input::Initializer::from(shape, TensorShape({static_cast<int64>(shape.size())})));
  }
  void input(const convgrad::Shape& shape) {
    const auto x = ops::Placeholder(scope_, dtype_, ops::Placeholder::Shape(TensorShape(shape)));
    inputs_.emplace_back(x);
    built_.xs.push_back(x);
    built_.shapes.push_back(TensorShape(shape));
  }
  // Of a gradient's V2 form the tensor that is asked for gives its shape only.
  void tensor(const string& op, const string& pin) {
    const convgrad::Shape& shape = pin == "filter" ? layer_.w : layer_.x;
    const bool shape_only =
        (op == "Conv2DBackpropFilterV2" && pin == "filter") || (op == "Conv2DBackpropInputV2" && pin == "input");
    if (shape_only)
      inputs_.emplace_back(ops::Const(scope_, Tensor(dtype_, TensorShape(shape))));
    else
      input(shape);
  }
  convgrad::Shape out_shape() const {
    const Scope forward = Scope::NewRootScope();
    const Node* node = forward.add(
        forward_, {Tensor(dtype_, TensorShape(layer_.x)), Tensor(dtype_, TensorShape(layer_.w))}, layer_.attrs);
    EXPECT_NE(node, nullptr) << forward.status();
    return node == nullptr ? convgrad::Shape{} : node->outputs()[0].shape.sizes();
  }

  string forward_;
  const Scope& scope_;
  const Layer& layer_;
  const DataType dtype_;
  std::vector<Input> inputs_;
  Built built_;
};

bool depends(const Output& y, const Output& x) {
  std::vector<const Node*> open{y.node()};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (node == x.node()) return true;
    for (const Wire& wire : node->inputs()) open.push_back(wire.node);
  }
  return false;
}

// The error of y by those of xs that it depends on.
void expect_right(const Scope& scope, const Output& y, const OutputList& xs, const std::vector<TensorShape>& shapes) {
  OutputList by;
  std::vector<TensorShape> by_shapes;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (!depends(y, xs[i])) continue;
    by.push_back(xs[i]);
    by_shapes.push_back(shapes[i]);
  }
  const TensorShape y_shape(y.node()->outputs()[0].shape.sizes());
  double error = 1;
  const Status status = ComputeGradientError<float, float, double>(scope, by, by_shapes, {y}, {y_shape}, &error);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_LT(error, kTolerance);
}

class ConvGradients : public testing::TestWithParam<const char*> {};

TEST_P(ConvGradients, of_first_and_second_order_are_right) {
  const string op = GetParam();
  const bool depthwise = op.starts_with("Depthwise"), volume = op.starts_with("Conv3D");
  Random random(std::hash<string>()(op));
  for (const string format : {volume ? "NDHWC" : "NHWC", volume ? "NCDHW" : "NCHW"}) {
    for (const string padding : {"SAME", "VALID", "EXPLICIT"}) {
      for (const DataType dtype : {DT_FLOAT, DT_DOUBLE}) {
        const Layer layer = random_layer(random, format, padding, depthwise);
        SCOPED_TRACE(op + " " + DataTypeString(dtype) + " x " + TensorShape(layer.x).DebugString() + " w " +
                     TensorShape(layer.w).DebugString() + " strides " + to_text(layer.attrs.at("strides")) +
                     " dilations " + to_text(layer.attrs.at("dilations")) + " " + padding + " " + format);
        const Scope scope = Scope::NewRootScope();
        Built built = Builder(scope, layer, dtype).build(op);
        ASSERT_TRUE(scope.ok()) << scope.status();
        expect_right(scope, built.y, built.xs, built.shapes);

        const TensorShape y_shape(built.y.node()->outputs()[0].shape.sizes());
        const auto seed = ops::Placeholder(scope, dtype, ops::Placeholder::Shape(y_shape));
        std::vector<Output> dxs;
        const Status status = AddSymbolicGradients(scope, {built.y}, built.xs, {seed}, &dxs);
        ASSERT_TRUE(status.ok()) << status;
        built.xs.push_back(seed);
        built.shapes.push_back(y_shape);
        for (const Output& dx : dxs) expect_right(scope, dx, built.xs, built.shapes);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, ConvGradients,
                         testing::Values("Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput",
                                         "Conv2DBackpropFilterV2", "Conv2DBackpropInputV2", "Conv3D",
                                         "Conv3DBackpropFilterV2", "Conv3DBackpropInputV2", "DepthwiseConv2dNative",
                                         "DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput"),
                         [](const auto& tested) { return string(tested.param); });

}  // namespace
}  // namespace convgrad::graph::test
