// A small network trained end to end: convolution, bias, relu, pooling, dense layer, cross entropy, momentum.
#include <cstring>

#include "convgrad/graph/gradients.h"
#include "convgrad/graph/ops.h"
#include "one_op.h"

namespace convgrad::graph {
namespace {

constexpr int kBatch = 32, kSize = 8, kFilters = 4, kClasses = 3;

// Images of noise with a bright row, column or diagonal: three classes.
struct Batch {
  Tensor images = Tensor(DT_FLOAT, {kBatch, kSize, kSize, 1}), labels = Tensor(DT_FLOAT, {kBatch, kClasses});
};

Batch make_batch(unsigned seed) {
  std::mt19937 bits(seed);
  Batch batch;
  auto image = batch.images.tensor<float, 4>();
  auto label = batch.labels.matrix<float>();
  for (int i = 0; i < kBatch; ++i) {
    const int kind = i % kClasses, line = static_cast<int>(bits() % kSize);
    label(i, kind) = 1;
    for (int y = 0; y < kSize; ++y) {
      for (int x = 0; x < kSize; ++x) {
        const bool on = kind == 0 ? y == line : kind == 1 ? x == line : (x + line) % kSize == y;
        image(i, y, x, 0) = static_cast<float>(bits() % 1000) * 3e-4F + (on ? 1.F : 0.F);
      }
    }
  }
  return batch;
}

class Network {
 public:
  Network() {
    images_ = ops::Placeholder(scope_, DT_FLOAT, ops::Placeholder::Shape({kBatch, kSize, kSize, 1}));
    labels_ = ops::Placeholder(scope_, DT_FLOAT, ops::Placeholder::Shape({kBatch, kClasses}));
    const Output filter = weights({3, 3, 1, kFilters}), bias = weights({kFilters});
    const Output dense = weights({kFilters * kSize * kSize / 4, kClasses}), dense_bias = weights({kClasses});
    const Output features =
        ops::Relu(scope_, ops::BiasAdd(scope_, ops::Conv2D(scope_, images_, filter, {1, 1, 1, 1}, "SAME"), bias));
    const Output pooled = ops::MaxPool(scope_, features, {1, 2, 2, 1}, {1, 2, 2, 1}, "SAME");
    const Output flat = ops::Reshape(scope_, pooled, {kBatch, -1});
    const Output logits = ops::BiasAdd(scope_, ops::MatMul(scope_, flat, dense), dense_bias);
    loss_ = ops::Mean(scope_, ops::SoftmaxCrossEntropyWithLogits(scope_, logits, labels_).loss, {0});
    train();
  }

  // Losses of this many steps, each on a batch of its own.
  std::vector<float> losses(int steps, int threads) const {
    SessionOptions options;
    options.policy.threads = threads;
    const ClientSession session(scope_, options);
    EXPECT_TRUE(session.Run({}, {}, init_, nullptr).ok());
    std::vector<float> found;
    for (int step = 0; step < steps; ++step) {
      const Batch batch = make_batch(static_cast<unsigned>(step));
      std::vector<Tensor> outputs;
      const Status status =
          session.Run({{images_, batch.images}, {labels_, batch.labels}}, {loss_}, updates_, &outputs);
      EXPECT_TRUE(status.ok()) << status;
      if (!status.ok()) break;
      found.push_back(outputs[0].scalar<float>()());
    }
    return found;
  }

 private:
  Output weights(const TensorShape& shape) {
    Tensor start(DT_FLOAT, shape), zero(DT_FLOAT, shape);
    for (float& value : start.flat<float>()) value = static_cast<float>(bits_() % 2001) * 1e-4F - 0.1F;
    const Output made = ops::Variable(scope_, shape, DT_FLOAT), slot = ops::Variable(scope_, shape, DT_FLOAT);
    init_.push_back(ops::Assign(scope_, made, start).operation);
    init_.push_back(ops::Assign(scope_, slot, zero).operation);
    weights_.push_back(made);
    slots_.push_back(slot);
    return made;
  }

  void train() {
    std::vector<Output> gradients;
    const Status status = AddSymbolicGradients(scope_, {loss_}, weights_, &gradients);
    ASSERT_TRUE(status.ok()) << status;
    for (std::size_t i = 0; i < weights_.size(); ++i)
      updates_.push_back(ops::ApplyMomentum(scope_, weights_[i], slots_[i], 0.1F, gradients[i], 0.9F).operation);
    ASSERT_TRUE(scope_.ok()) << scope_.status();
  }

  Scope scope_ = Scope::NewRootScope();
  std::mt19937 bits_{3};
  Output images_, labels_, loss_;
  std::vector<Output> weights_, slots_;
  std::vector<Operation> init_, updates_;
};

TEST(Training, lowers_the_loss_of_a_small_network) {
  const std::vector<float> losses = Network().losses(80, 2);
  ASSERT_EQ(losses.size(), 80U);
  EXPECT_NEAR(losses.front(), std::log(3.0), 0.1);  // it knows nothing yet
  float last = 0;
  for (std::size_t i = 70; i < 80; ++i) last += losses[i] / 10;
  EXPECT_LT(last, 0.05F);
}

TEST(Training, gives_the_same_bits_for_any_number_of_threads) {
  const Network network;
  const std::vector<float> one = network.losses(12, 1), two = network.losses(12, 2);
  ASSERT_EQ(one.size(), two.size());
  EXPECT_EQ(std::memcmp(one.data(), two.data(), one.size() * sizeof(float)), 0);
}

}  // namespace
}  // namespace convgrad::graph
