#include "convgrad/graph/tensor.h"

#include <clocale>
#include <sstream>

#include "face/graph_tests.h"

namespace convgrad::graph::test {
namespace {

TEST(Tensor, starts_as_an_empty_float) {
  const Tensor empty;
  EXPECT_EQ(empty.DebugString(), "Tensor<type: float shape: [0] values: >");
  EXPECT_TRUE(empty.IsInitialized());
  EXPECT_EQ(Tensor(DT_DOUBLE).shape(), TensorShape({0}));
  EXPECT_EQ(Tensor(3.5f).scalar<float>()(), 3.5f);
}

TEST(Tensor, copies_share_their_buffer) {
  Tensor a(DT_FLOAT, {2, 3});
  Tensor b = a, c;
  b.matrix<float>()(1, 2) = 5;
  EXPECT_EQ(a.flat<float>()(5), 5);
  EXPECT_TRUE(a.SharesBufferWith(b));
  ASSERT_TRUE(c.CopyFrom(a, {3, 2}));
  EXPECT_EQ((c.tensor<float, 2>()(2, 1)), 5);
  EXPECT_FALSE(c.CopyFrom(a, {5}));
  EXPECT_FALSE(a.deep_copy().SharesBufferWith(a));
  EXPECT_EQ(a.TotalBytes(), 24);
  EXPECT_EQ(a.tensor_data().size(), 24u);
}

TEST(Tensor, views_have_every_form) {
  Tensor t = counted(DT_INT32, {2, 3, 4});
  EXPECT_EQ((t.tensor<int, 3>()(1, 2, 3)), 24);
  EXPECT_EQ((t.shaped<int, 2>({4, 6})(3, 0)), 19);
  EXPECT_EQ(t.flat<int>()(23), 24);
  EXPECT_EQ(t.flat_inner_dims<int>().dimension(0), 6);
  EXPECT_EQ(t.flat_inner_dims<int>()(5, 3), 24);
  EXPECT_EQ(t.flat_outer_dims<int>().dimension(1), 12);
  EXPECT_EQ((t.flat_inner_dims<int, 4>().dimension(0)), 1);
  EXPECT_EQ((t.flat_outer_dims<int, 1>().dimension(0)), 24);
  EXPECT_EQ(t.Slice(1, 2).flat<int>()(0), 13);
  EXPECT_EQ(t.SubSlice(1).shape(), TensorShape({3, 4}));
  EXPECT_EQ(t.SubSlice(1).matrix<int>()(0, 0), 13);
  EXPECT_TRUE(t.Slice(0, 1).SharesBufferWith(t));
  t.flat<int>().setConstant(7);
  EXPECT_EQ((t.tensor<int, 3>()(0, 0, 0)), 7);
  t.flat<int>().setZero();
  EXPECT_EQ(t.flat<int>()(23), 0);
  Tensor r(DT_DOUBLE, {100});
  r.vec<double>().setRandom();
  for (double value : r.vec<double>()) EXPECT_TRUE(value >= 0 && value < 1);
  EXPECT_NE(r.vec<double>()(0), r.vec<double>()(1));
  std::ostringstream text;
  text << counted(DT_FLOAT, {2, 2}).matrix<float>();
  EXPECT_EQ(text.str(), "1 2\n3 4");
}

TEST(Tensor, views_of_another_kind_throw) {
  Tensor t(DT_FLOAT, {2, 3});
  EXPECT_THROW(t.flat<double>(), Error);
  EXPECT_THROW(t.vec<float>(), Error);
  EXPECT_THROW((t.tensor<float, 3>()), Error);
  EXPECT_THROW(t.scalar<float>(), Error);
  EXPECT_THROW((t.shaped<float, 2>({4, 2})), Error);
  EXPECT_THROW((t.shaped<float, 2>({6})), Error);
  EXPECT_THROW((t.shaped<float, 2>({-2, -3})), Error);
  EXPECT_THROW(t.matrix<float>()(2, 0), Error);
  EXPECT_THROW(t.matrix<float>()(0, -1), Error);
  EXPECT_THROW(t.matrix<float>().dimension(2), Error);
  EXPECT_THROW(t.Slice(0, 3), Error);
  EXPECT_THROW(t.SubSlice(2), Error);
  EXPECT_THROW(t.SubSlice(-1), Error);
  EXPECT_THROW(Tensor(1.f).Slice(0, 1), Error);
  EXPECT_THROW(t.flat<float>() = Tensor(DT_FLOAT, {5}).flat<float>(), Error);
  try {
    (void)t.tensor<int, 4>();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a int32 view of a float tensor of shape [2,3]");
  }
}

TEST(Tensor, without_memory_is_not_initialized) {
  Tensor moved = counted(DT_FLOAT, {3});
  const Tensor taken = std::move(moved);
  EXPECT_EQ(taken.NumElements(), 3);
  for (const Tensor& bad :
       {moved, Tensor(DT_STRING, {2}), Tensor(DT_INVALID, {2}), Tensor(static_cast<DataType>(99), {2}),  // NOLINT
        Tensor(DT_FLOAT, {2, -1}), Tensor(DT_FLOAT, {int64{1} << 40, int64{1} << 40}),
        Tensor(DT_DOUBLE, {int64{1} << 58})}) {
    EXPECT_FALSE(bad.IsInitialized());
    EXPECT_EQ(bad.NumElements(), 0);
    EXPECT_EQ(bad.tensor_data().size(), 0u);
    EXPECT_THROW(bad.flat<float>(), Error);
    EXPECT_NE(bad.DebugString().find("uninitialized"), std::string::npos);
    EXPECT_FALSE(bad.deep_copy().IsInitialized());
    EXPECT_FALSE(Tensor().CopyFrom(bad, {0}));
    EXPECT_FALSE(bad.view().has_value());
    EXPECT_FALSE(bad.check_memory().ok());
  }
}

TEST(Tensor, prints_as_TensorFlow_does) {
  EXPECT_EQ(counted(DT_FLOAT, {2, 2}).DebugString(), "Tensor<type: float shape: [2,2] values: [1 2][3]...>");
  EXPECT_EQ(counted(DT_DOUBLE, {2, 2, 2}).DebugString(8),
            "Tensor<type: double shape: [2,2,2] values: [[1 2][3 4]][[5 6][7 8]]>");
  EXPECT_EQ(Tensor(11).DebugString(), "Tensor<type: int32 shape: [] values: 11>");
  EXPECT_EQ(counted(DT_INT32, {4}).SummarizeValue(2), "1 2...");
  EXPECT_EQ(counted(DT_INT32, {2, 2}).SummarizeValue(-1), "[1 2][3 4]");
  EXPECT_EQ(Tensor(0.1f).SummarizeValue(1), "0.1");
  EXPECT_EQ(Tensor(0.1).SummarizeValue(1), "0.1");
  EXPECT_EQ(Tensor(1.f / 3).SummarizeValue(1), "0.33333334");
  EXPECT_EQ(Tensor(16777217).SummarizeValue(1), "16777217");
  EXPECT_EQ(Tensor(int64{9007199254740993}).SummarizeValue(1), "9007199254740993");
}

TEST(TensorShape, counts_and_changes) {
  TensorShape shape(std::vector<int64>{2, 3});
  shape.AddDim(4);
  shape.AppendShape({5});
  EXPECT_EQ(shape.DebugString(), "[2,3,4,5]");
  EXPECT_EQ(shape.num_elements(), 120);
  shape.set_dim(0, 7);
  shape.InsertDim(4, 1);
  shape.RemoveDim(1);
  EXPECT_EQ(shape, TensorShape({7, 4, 5, 1}));
  EXPECT_EQ(TensorShape({}).num_elements(), 1);
  EXPECT_EQ(shape.dim_size(9), 0);
  EXPECT_THROW(shape.set_dim(4, 1), Error);
  EXPECT_THROW(shape.InsertDim(5, 1), Error);
  EXPECT_THROW(shape.RemoveDim(-1), Error);
  EXPECT_EQ(TensorShape({int64{1} << 40, int64{1} << 40}).num_elements(), -1);
  EXPECT_EQ(TensorShape({-1}).num_elements(), -1);
}

TEST(PartialTensorShape, knows_what_it_knows) {
  const PartialTensorShape partial({-1, 2}), unknown, full = TensorShape({3, 2});
  EXPECT_EQ(partial.DebugString(), "[?,2]");
  EXPECT_EQ(unknown.DebugString(), "<unknown>");
  EXPECT_TRUE(partial.IsCompatibleWith(full) && unknown.IsCompatibleWith(partial));
  EXPECT_FALSE(partial.IsCompatibleWith(TensorShape({3, 3})));
  TensorShape out;
  EXPECT_FALSE(partial.AsTensorShape(&out));
  ASSERT_TRUE(full.AsTensorShape(&out));
  EXPECT_EQ(out, TensorShape({3, 2}));
  EXPECT_EQ(PartialTensorShape(std::vector<int64>{-1, 2}), partial);
}

TEST(DataType, has_TensorFlows_numbers) {
  EXPECT_EQ(DT_FLOAT, 1);
  EXPECT_EQ(DT_DOUBLE, 2);
  EXPECT_EQ(DT_INT32, 3);
  EXPECT_EQ(DT_INT64, 9);
  EXPECT_EQ(DT_BFLOAT16, 14);
  EXPECT_EQ(DT_HALF, 19);
  EXPECT_EQ(DataTypeToEnum<bfloat16>::v(), DT_BFLOAT16);
  EXPECT_EQ(DataTypeToEnum<long long>::value, DT_INT64);
  static_assert(std::is_same_v<EnumToDataType<DT_HALF>::Type, half>);
  EXPECT_EQ(DataTypeString(DT_HALF), "half");
  EXPECT_EQ(DataTypeSize(DT_INT64), 8);
  EXPECT_EQ(DataTypeSize(DT_STRING), 0);
}

TEST(Status, has_the_names_of_both_eras) {
  EXPECT_TRUE(Status::OK().ok() && OkStatus() == Status());
  EXPECT_EQ(OkStatus().ToString(), "OK");
  EXPECT_TRUE(Status(error::OK, "ignored").ok());
  Status status = errors::NotFound("node ", 3, " of ", 2.5);
  EXPECT_EQ(status.message(), "node 3 of 2.5");
  EXPECT_EQ(status.error_message(), status.message());
  EXPECT_EQ(status.ToString(), "NOT_FOUND: node 3 of 2.5");
  EXPECT_EQ(status.code(), error::NOT_FOUND);
  EXPECT_EQ(status.code(), error::Code::kNotFound);
  EXPECT_EQ(static_cast<int>(error::INVALID_ARGUMENT), 3);
  EXPECT_TRUE(errors::IsNotFound(status) && !errors::IsInternal(status));
  status.Update(errors::Internal("later"));
  EXPECT_EQ(status, errors::NotFound("node 3 of 2.5"));
  EXPECT_NE(status, errors::NotFound("another"));
  std::ostringstream text;
  text << status;
  EXPECT_EQ(text.str(), status.ToString());
  const Status taken = std::move(status);
  EXPECT_TRUE(status.ok() && status.code() == error::OK);  // NOLINT: moved from
}

}  // namespace
}  // namespace convgrad::graph::test
