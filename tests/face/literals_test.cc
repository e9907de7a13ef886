#include "face/graph_tests.h"

namespace convgrad::graph::test {
namespace {

using Initializer = Input::Initializer;

TEST(Literals, have_the_type_that_the_language_gives_them) {
  EXPECT_EQ(Initializer(1.f).tensor.dtype(), DT_FLOAT);
  EXPECT_EQ(Initializer(1.0).tensor.dtype(), DT_DOUBLE);
  EXPECT_EQ(Initializer(1).tensor.dtype(), DT_INT32);
  EXPECT_EQ(Initializer(1L).tensor.dtype(), DT_INT64);
  EXPECT_EQ(Initializer(1LL).tensor.dtype(), DT_INT64);
  EXPECT_EQ(Initializer(1LL).tensor.scalar<int64>()(), 1);
  EXPECT_EQ(Initializer(true).tensor.dtype(), DT_BOOL);
}

TEST(Literals, nest) {
  const Initializer list = {1, 2, 3};
  EXPECT_EQ(list.tensor.shape(), TensorShape({3}));
  const Initializer nested = {{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}};
  EXPECT_EQ(nested.tensor.shape(), TensorShape({2, 3}));
  EXPECT_EQ(elements(nested.tensor), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  const Initializer five = {{{{{1.f, 2.f}, {3.f, 4.f}}, {{5.f, 6.f}, {7.f, 8.f}}}}};
  EXPECT_EQ(five.tensor.shape(), TensorShape({1, 1, 2, 2, 2}));
  EXPECT_EQ(elements(five.tensor), (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Literals, fill_and_shape) {
  const Initializer filled(127.0f, {5, 5, 5, 3, 16});
  EXPECT_EQ(filled.tensor.NumElements(), 6000);
  EXPECT_EQ(filled.tensor.flat<float>()(5999), 127.f);
  const Initializer shaped({1, 2, 3, 4}, TensorShape({2, 2}));
  EXPECT_EQ(shaped.tensor.matrix<int>()(1, 0), 3);
  const Initializer from = Initializer::from(std::vector<float>{1, 2}, TensorShape({2, 1}));
  EXPECT_EQ(from.tensor.DebugString(), "Tensor<type: float shape: [2,1] values: [1][2]>");
}

TEST(Literals, may_be_empty) {
  const Scope root = Scope::NewRootScope();
  const Tensor none = run(root, ops::Const(root, {}));
  EXPECT_EQ(none.DebugString(), "Tensor<type: float shape: [0] values: >");
  EXPECT_EQ(run(root, ops::Const(root, {{}})).shape(), TensorShape({1, 0}));
}

TEST(Literals, that_are_mixed_or_ragged_say_so) {
  const Initializer mixed = {{1.f}, {2.0}};
  EXPECT_EQ(mixed.status.code(), error::INVALID_ARGUMENT);
  EXPECT_TRUE(has(mixed.status, "Initializer list components should all have the same type"));
  const Initializer ragged = {{1, 2}, {3}};
  EXPECT_TRUE(has(ragged.status, "Initializer list components should all have the same shape"));
  const Initializer few({1.f, 2.f}, TensorShape({3}));
  EXPECT_EQ(few.status.code(), error::INVALID_ARGUMENT);
  EXPECT_TRUE(has(few.status, "Cannot construct a tensor with 3 from an initializer list with 2 elements"));
  EXPECT_TRUE(has(Initializer("text").status, "tensors hold no elements of this type"));
  EXPECT_TRUE(has(Initializer(1u).status, "tensors hold no elements of this type"));
  EXPECT_FALSE(Initializer(1.f, {-1}).status.ok());
  EXPECT_EQ(Initializer(1.f, {int64{1} << 40, int64{1} << 40}).status.core().rule(), "overflow");

  const Scope root = Scope::NewRootScope();
  EXPECT_EQ(ops::Const(root, mixed).node(), nullptr);
  EXPECT_EQ(root.status(), mixed.status);
}

TEST(Literals, of_tensors_without_memory_say_so) {
  Tensor gone = counted(DT_FLOAT, {2});
  const Tensor taken = std::move(gone);
  const Initializer list = {Initializer(gone), Initializer(gone)};  // NOLINT: moved from
  EXPECT_TRUE(has(list.status, "the tensor has no memory"));
  for (const Tensor& bad : {gone, Tensor(DT_STRING, {2}), Tensor(DT_FLOAT, {-1}), Tensor(DT_FLOAT, {int64{1} << 60})}) {
    const Scope root = Scope::NewRootScope();
    EXPECT_EQ(ops::Const(root, bad).node(), nullptr);
    EXPECT_FALSE(root.ok());
    const Scope other = Scope::NewRootScope();
    EXPECT_EQ(ops::Const<double>(other, bad).node(), nullptr);
    EXPECT_FALSE(other.ok());
    EXPECT_EQ(ops::Identity(Scope::NewRootScope(), bad).node(), nullptr);
  }
}

TEST(Const, converts_to_the_type_it_is_given) {
  const Scope root = Scope::NewRootScope();
  EXPECT_EQ(run(root, ops::Const<double>(root, {1, 2})).DebugString(), "Tensor<type: double shape: [2] values: 1 2>");
  EXPECT_EQ(run(root, ops::Const<half>(root, 1.5)).dtype(), DT_HALF);
  EXPECT_EQ(run(root, ops::Const(root, 7, {2, 2})).DebugString(4),
            "Tensor<type: int32 shape: [2,2] values: [7 7][7 7]>");
  EXPECT_EQ(run(root, ops::Const(root, {2, 3, 4}, {3})).shape(), TensorShape({3}));
}

TEST(Const, is_a_snapshot) {
  const Scope root = Scope::NewRootScope();
  Tensor mine = counted(DT_FLOAT, {2});
  const auto constant = ops::Const(root, mine);
  const auto argument = ops::Identity(root, mine);
  const Tensor shared = mine;
  mine.flat<float>()(0) = 100;
  EXPECT_EQ(shared.flat<float>()(0), 100);
  Tensor fetched = run(root, constant);
  EXPECT_EQ(fetched.flat<float>()(0), 1);
  EXPECT_EQ(run(root, argument).flat<float>()(0), 1);
  fetched.flat<float>()(0) = 50;
  EXPECT_EQ(run(root, constant).flat<float>()(0), 1);
}

TEST(Attrs, own_what_they_are_given) {
  ops::Conv2D::Attrs attrs;
  {
    std::string format = "NCHW";
    attrs = attrs.DataFormat(format);
    format = "????";
    attrs = attrs.Dilations({1, 1, 3, 2});
  }
  EXPECT_EQ(attrs.data_format_, "NCHW");
  EXPECT_EQ(attrs.dilations_, (std::vector<int>{1, 1, 3, 2}));
  EXPECT_EQ(ops::Conv2D::Attrs().data_format_, "NHWC");
  EXPECT_TRUE(ops::Conv2D::Attrs().use_cudnn_on_gpu_);
  EXPECT_EQ(ops::Conv3D::Attrs().dilations_, (std::vector<int>{1, 1, 1, 1, 1}));

  const Scope root = Scope::NewRootScope();
  const auto y =
      ops::Conv2D(root, Tensor(DT_FLOAT, {1, 1, 9, 9}), Tensor(DT_FLOAT, {3, 3, 1, 1}), {1, 1, 1, 1}, "VALID", attrs);
  EXPECT_EQ(run(root, y).shape(), TensorShape({1, 1, 3, 5}));
}

}  // namespace
}  // namespace convgrad::graph::test
