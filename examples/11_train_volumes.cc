// 11. Trains a small 3-D convolutional network: does a noisy volume hold a rod along its depth, height or width?
#include <convgrad/graph.h>

#include <cmath>
#include <cstdio>
#include <random>

using namespace convgrad::graph;

constexpr int kSize = 8, kBatch = 24, kClasses = 3, kSteps = 180;

struct Batch {
  Tensor volumes{DT_FLOAT, {kBatch, kSize, kSize, kSize, 1}};
  Tensor labels{DT_FLOAT, {kBatch, kClasses}};  // one-hot
};

Batch make_batch(std::mt19937& random) {
  std::normal_distribution<float> noise(0, 0.3F);
  std::uniform_int_distribution<int> place(0, kSize - 1);
  Batch batch;
  for (float& voxel : batch.volumes.flat<float>()) voxel = noise(random);
  auto volumes = batch.volumes.tensor<float, 5>();
  for (int n = 0; n < kBatch; ++n) {
    const int axis = n % kClasses, a = place(random), b = place(random);
    for (int i = 0; i < kSize; ++i) {
      const int d = axis == 0 ? i : a, h = axis == 1 ? i : axis == 0 ? a : b, w = axis == 2 ? i : b;
      volumes(n, d, h, w, 0) += 1;
    }
    batch.labels.matrix<float>()(n, axis) = 1;
  }
  return batch;
}

// The network's graph, and the ops that start and train it.
struct Network {
  Scope root = Scope::NewRootScope();
  Output volumes = ops::Placeholder(root, DT_FLOAT, ops::Placeholder::Shape({kBatch, kSize, kSize, kSize, 1}));
  Output labels = ops::Placeholder(root, DT_FLOAT, ops::Placeholder::Shape({kBatch, kClasses}));
  Output logits, loss;
  std::vector<Output> parameters;
  std::vector<Operation> start, train;

  Network() {
    const Output first = layer(volumes, {3, 3, 3, 1, 8});  // 8 x 8 x 8
    const Output pooled = pool(first, 2);                  // 4 x 4 x 4
    const Output second = layer(pooled, {3, 3, 3, 8, 12});
    const Output features = ops::Reshape(root, pool(second, 4), {kBatch, 12});  // the largest of each channel
    logits = ops::MatMul(root, features, parameter({12, kClasses}));
    loss = ops::Mean(root, ops::SoftmaxCrossEntropyWithLogits(root, logits, labels).loss, {0});
    std::vector<Output> gradients;
    root.UpdateStatus(AddSymbolicGradients(root, {loss}, parameters, &gradients));
    if (!root.ok()) return;  // Run will say why
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Output speed = variable(Tensor(DT_FLOAT, TensorShape(shape_of(parameters[i]))));
      train.push_back(ops::ApplyMomentum(root, parameters[i], speed, 0.05F, gradients[i], 0.9F).operation);
    }
  }

 private:
  // Convolution, bias and ReLU.
  Output layer(const Output& x, const TensorShape& filter) {
    const Output w = parameter(filter);
    const Output b = variable(Tensor(DT_FLOAT, {filter.dim_size(4)}));
    parameters.push_back(b);
    return ops::Relu(root, ops::BiasAdd(root, ops::Conv3D(root, x, w, {1, 1, 1, 1, 1}, "SAME"), b));
  }
  Output pool(const Output& x, int size) {
    return ops::MaxPool3D(root, x, {1, size, size, size, 1}, {1, size, size, size, 1}, "SAME");
  }
  Output variable(const Tensor& value) {
    const ops::Variable made(root, value.shape(), DT_FLOAT);
    start.push_back(ops::Assign(root, made, value).operation);
    return made;
  }
  // Normal with variance 2 / inputs of one output, so that signals keep their size through ReLUs.
  Output parameter(const TensorShape& shape) {
    Tensor value(DT_FLOAT, shape);
    const auto inputs = static_cast<float>(shape.num_elements() / shape.dim_size(shape.dims() - 1));
    std::normal_distribution<float> normal(0, std::sqrt(2 / inputs));
    for (float& element : value.flat<float>()) element = normal(random_);
    parameters.push_back(variable(value));
    return parameters.back();
  }
  static const std::vector<int64>& shape_of(const Output& output) { return output.node()->outputs()[0].shape.sizes(); }

  std::mt19937 random_{7};
};

// How many of a batch are told right.
int right_of(const ClientSession& session, const Network& network, const Batch& batch) {
  std::vector<Tensor> outputs;
  if (!session.Run({{network.volumes, batch.volumes}}, {network.logits}, &outputs).ok()) return 0;
  const auto logits = outputs[0].matrix<float>();
  int right = 0;
  for (int n = 0; n < kBatch; ++n) {
    int best = 0;
    for (int c = 1; c < kClasses; ++c) best = logits(n, c) > logits(n, best) ? c : best;
    right += best == n % kClasses;
  }
  return right;
}

int main() {
  const Network network;
  const ClientSession session(network.root);
  Status status = session.Run({}, {}, network.start, nullptr);
  std::mt19937 random(1);
  float first = 0, last = 0;
  for (int step = 0; step < kSteps && status.ok(); ++step) {
    const Batch batch = make_batch(random);
    std::vector<Tensor> outputs;
    status = session.Run({{network.volumes, batch.volumes}, {network.labels, batch.labels}}, {network.loss},
                         network.train, &outputs);
    if (!status.ok()) break;
    last = outputs[0].scalar<float>()();
    if (step == 0) first = last;
    if (step % 20 == 0 || step + 1 == kSteps) std::printf("step %3d  loss %.4f\n", step, static_cast<double>(last));
  }
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  int right = 0;
  for (int i = 0; i < 4; ++i) right += right_of(session, network, make_batch(random));
  std::printf("told right: %d of %d that it has not seen\n", right, 4 * kBatch);
  return last < first / 4 && right >= 4 * kBatch * 9 / 10 ? 0 : 1;
}
