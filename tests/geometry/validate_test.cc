// The validator's own decisions: order of rules, codes, empty problems, the two-entry input_sizes.
#include <gtest/gtest.h>

#include "convgrad/geometry.h"
#include "support/cases.h"

namespace convgrad {
namespace {

OwnedCall filter_grad_2d() {
  OwnedCall call;
  call.op = Op::conv2d_backprop_filter;
  call.input = Shape{2, 5, 5, 4};
  call.sizes = {3, 3, 4, 6};
  call.out_backprop = Shape{2, 3, 3, 6};
  call.strides = call.dilations = {1, 1, 1, 1};
  call.padding = "VALID";
  call.data_format = "NHWC";
  return call;
}

OwnedCall input_grad_2d() {
  OwnedCall call = filter_grad_2d();
  call.op = Op::conv2d_backprop_input;
  call.input.reset();
  call.filter = Shape{3, 3, 4, 6};
  call.sizes = {2, 5, 5, 4};
  return call;
}

OwnedCall forward_2d() {
  OwnedCall call = input_grad_2d();
  call.op = Op::conv2d;
  call.input = Shape{2, 5, 5, 4};
  call.out_backprop.reset();
  call.sizes.clear();
  return call;
}

OwnedCall filter_grad_3d() {
  OwnedCall call;
  call.op = Op::conv3d_backprop_filter_v2;
  call.input = Shape{2, 4, 4, 4, 2};
  call.sizes = {2, 2, 2, 2, 3};
  call.out_backprop = Shape{2, 3, 3, 3, 3};
  call.strides = call.dilations = {1, 1, 1, 1, 1};
  call.padding = "VALID";
  call.data_format = "NDHWC";
  return call;
}

std::string rule(const OwnedCall& call) { return validate(call.view()).status().rule(); }
StatusCode code(const OwnedCall& call) { return validate(call.view()).status().code(); }

TEST(Validate, accepts_the_plain_calls) {
  EXPECT_EQ(rule(filter_grad_2d()), "");
  EXPECT_EQ(rule(input_grad_2d()), "");
  EXPECT_EQ(rule(forward_2d()), "");
  EXPECT_EQ(rule(filter_grad_3d()), "");
}

TEST(Validate, gives_the_rank_3_form) {
  OwnedCall call = filter_grad_2d();
  call.padding = "SAME";
  call.strides = {1, 2, 3, 1};
  call.out_backprop = Shape{2, 3, 2, 6};
  const Geometry g = validate(call.view()).value();
  EXPECT_EQ(g.rank, 2);
  EXPECT_EQ(g.in, (Extents{1, 5, 5}));
  EXPECT_EQ(g.filter, (Extents{1, 3, 3}));
  EXPECT_EQ(g.out, (Extents{1, 3, 2}));
  EXPECT_EQ(g.stride, (Extents{1, 2, 3}));
  EXPECT_EQ(g.pad_before, (Extents{0, 1, 0}));
  EXPECT_EQ(g.pad_after, (Extents{0, 1, 1}));
  EXPECT_EQ(g.groups, 1);
}

TEST(Validate, batch_and_channel_strides_are_unimplemented_or_invalid_as_in_tensorflow) {
  OwnedCall call = filter_grad_2d();
  call.strides[3] = 2;
  EXPECT_EQ(code(call), StatusCode::invalid_argument);
  call = input_grad_2d();
  call.strides[0] = 2;
  EXPECT_EQ(code(call), StatusCode::unimplemented);
  call = forward_2d();
  call.dilations[3] = 2;
  EXPECT_EQ(code(call), StatusCode::unimplemented);
  EXPECT_EQ(rule(call), "dilation-nc");
  call = filter_grad_3d();
  call.strides[4] = 2;
  EXPECT_EQ(code(call), StatusCode::invalid_argument);
}

// Two faults at once: the first in TensorFlow's order answers.
TEST(Validate, answers_the_first_fault_in_tensorflows_order) {
  OwnedCall call = filter_grad_2d();  // strides before padding before dilations
  call.strides[1] = 0;
  call.explicit_paddings = {0, 0};
  call.dilations[1] = 0;
  EXPECT_EQ(rule(call), "stride-range");
  call.strides[1] = 1;
  EXPECT_EQ(rule(call), "padding-list");
  call.explicit_paddings.clear();
  EXPECT_EQ(rule(call), "dilation-range");

  call = input_grad_2d();  // dilations before padding
  call.explicit_paddings = {0, 0};
  call.dilations[1] = 0;
  EXPECT_EQ(rule(call), "dilation-range");

  call = forward_2d();  // dilations' length before strides'
  call.strides = {1};
  call.dilations = {1};
  EXPECT_EQ(rule(call), "dilation-length");

  call = filter_grad_3d();  // dilations before strides, strides > 0 only with the windows
  call.strides[1] = 0;
  call.out_backprop = Shape{3, 3, 3, 3, 3};
  EXPECT_EQ(rule(call), "batch-mismatch");
  call.out_backprop = Shape{2, 3, 3, 3, 3};
  EXPECT_EQ(rule(call), "stride-range");
  call.dilations[4] = 2;
  EXPECT_EQ(rule(call), "dilation-nc");
}

TEST(Validate, channel_rules_come_before_the_windows_and_groups_after) {
  OwnedCall call = filter_grad_2d();
  call.out_backprop = Shape{2, 9, 9, 5};
  EXPECT_EQ(rule(call), "channel-mismatch");
  call.out_backprop = Shape{2, 9, 9, 6};
  EXPECT_EQ(rule(call), "out-shape-mismatch");
  call = filter_grad_2d();
  call.sizes = {3, 3, 1, 6};  // 4 groups, 6 output channels
  EXPECT_EQ(rule(call), "group-divisibility");
  call.sizes = {3, 3, 3, 6};  // 4 channels are no multiple of 3
  EXPECT_EQ(rule(call), "group-divisibility");
}

TEST(Validate, groups_are_the_channel_ratio) {
  OwnedCall call = filter_grad_2d();
  call.sizes = {3, 3, 2, 6};
  EXPECT_EQ(validate(call.view()).value().groups, 2);
  call.sizes = {3, 3, 1, 8};
  call.out_backprop = Shape{2, 3, 3, 8};
  EXPECT_EQ(validate(call.view()).value().groups, 4);
}

TEST(Validate, two_entry_input_sizes_are_height_and_width) {
  OwnedCall call = input_grad_2d();
  call.sizes = {5, 5};
  EXPECT_EQ(result_shape(validate(call.view()).value()), (Shape{2, 5, 5, 4}));
  call = test::in_layout(input_grad_2d(), "NCHW");
  call.sizes = {5, 5};
  EXPECT_EQ(result_shape(validate(call.view()).value()), (Shape{2, 4, 5, 5}));
  call.sizes = {5, -5};
  EXPECT_EQ(rule(call), "negative-dim");
  call.sizes = {5, 5, 4};
  EXPECT_EQ(rule(call), "size-vector-length");
  call.sizes = {5, 5};
  call.filter = Shape{3};
  EXPECT_EQ(rule(call), "rank");
  call.filter = Shape{};
  EXPECT_EQ(rule(call), "rank");
}

TEST(Validate, explicit_padding_works_in_3d_with_a_list_only) {
  OwnedCall call = filter_grad_3d();
  call.padding = "EXPLICIT";
  EXPECT_EQ(rule(call), "padding-name");
  call.explicit_paddings = {0, 0, 1, 0, 0, 2, 3, 3, 0, 0};
  call.out_backprop = Shape{2, 4, 5, 9, 3};
  EXPECT_EQ(rule(call), "");
  EXPECT_EQ(validate(call.view()).value().pad_after, (Extents{0, 2, 3}));
  call.explicit_paddings.pop_back();
  EXPECT_EQ(rule(call), "padding-list");
}

TEST(Validate, empty_problems_are_legal_where_the_table_says_so) {
  OwnedCall call = filter_grad_2d();  // batch 0
  call.input = Shape{0, 5, 5, 4};
  call.out_backprop = Shape{0, 3, 3, 6};
  EXPECT_EQ(rule(call), "");
  call = filter_grad_2d();  // no output channels
  call.sizes = {3, 3, 4, 0};
  call.out_backprop = Shape{2, 3, 3, 0};
  EXPECT_EQ(rule(call), "");
  call = filter_grad_2d();  // a legal output of size 0
  call.input = Shape{2, 2, 5, 4};
  call.out_backprop = Shape{2, 0, 3, 6};
  EXPECT_EQ(rule(call), "");
  call = filter_grad_2d();  // no input channels in the filter
  call.sizes = {3, 3, 0, 6};
  EXPECT_EQ(rule(call), "zero-filter");
  call = filter_grad_2d();  // filter of size 0: reach 0, output in + 1
  call.sizes = {0, 3, 4, 6};
  call.out_backprop = Shape{2, 6, 3, 6};
  EXPECT_EQ(rule(call), "");
  call = forward_2d();  // an empty filter cannot make a non-empty output ...
  call.filter = Shape{0, 3, 4, 6};
  EXPECT_EQ(rule(call), "zero-filter");
  call.input = Shape{0, 5, 5, 4};  // ... but an empty one
  EXPECT_EQ(rule(call), "");
}

TEST(Validate, three_dimensional_gradients_refuse_problems_without_work) {
  OwnedCall call = filter_grad_3d();
  call.sizes = {0, 2, 2, 2, 0};
  call.out_backprop = Shape{2, 5, 3, 3, 0};
  EXPECT_EQ(rule(call), "zero-filter");
  call.sizes = {0, 2, 2, 2, 3};
  call.out_backprop = Shape{2, 5, 3, 3, 3};
  EXPECT_EQ(rule(call), "");
}

TEST(Validate, overflow_and_the_byte_limit_are_checked_before_anything_is_allocated) {
  OwnedCall call = forward_2d();
  call.padding = "EXPLICIT";
  call.explicit_paddings = {0, 0, 1LL << 62, 1LL << 62, 0, 0, 0, 0};
  EXPECT_EQ(rule(call), "overflow");
  call.explicit_paddings = {0, 0, 1LL << 40, 0, 0, 0, 0, 0};
  EXPECT_EQ(rule(call), "resource");
  EXPECT_EQ(code(call), StatusCode::resource_exhausted);
  const Status tight = validate(forward_2d().view(), Limits{.max_bytes = 100}).status();
  EXPECT_EQ(tight.code(), StatusCode::resource_exhausted);
  EXPECT_EQ(validate(forward_2d().view(), Limits{.max_bytes = 3 * 3 * 4 * 6 * 4}).status().rule(), "");
  EXPECT_EQ(validate(forward_2d().view(), Limits{.max_bytes = 3 * 3 * 4 * 6 * 4 - 1}).status().argument(), "filter");
}

TEST(Validate, an_empty_filter_cannot_push_the_output_past_the_largest_size) {
  const char* text = "n0c1w9223372036854775807_k0s0_st1_di3_valid_f32_filter_grad";
  EXPECT_EQ(validate(parse_problem(text).value()).status().rule(), "overflow");
}

// As TensorFlow makes a shape of the vector before it looks at anything else.
TEST(Validate, size_vectors_that_overflow_say_so_first) {
  OwnedCall call = filter_grad_2d();
  call.sizes = {1879048192, 1879048192, 1879048192, 1879048192};
  EXPECT_EQ(rule(call), "overflow");
  call.sizes.push_back(1879048192);
  EXPECT_EQ(rule(call), "size-vector-length");
  call = input_grad_2d();
  call.sizes = {1879048192, 1879048192, 1879048192, 1879048192};
  EXPECT_EQ(rule(call), "overflow");
  call.sizes[0] = -1;
  EXPECT_EQ(rule(call), "negative-dim");
}

TEST(Validate, every_size_is_64_bit) {
  OwnedCall call = forward_2d();
  call.input = Shape{1, 1LL << 33, 1, 1};
  call.filter = Shape{1, 1, 1, 1};
  const Geometry g = validate(call.view()).value();
  EXPECT_EQ(g.out[1], 1LL << 33);
  call.dilations = {1, 2147483647, 1, 1};
  EXPECT_EQ(rule(call), "");
  call.dilations = {1, 2147483648, 1, 1};
  EXPECT_EQ(rule(call), "dilation-range");
}

TEST(Validate, int32_only_where_tensorflow_takes_it) {
  OwnedCall call = forward_2d();
  call.dtype = DType::i32;
  EXPECT_EQ(rule(call), "");
  call = input_grad_2d();
  call.dtype = DType::i32;
  EXPECT_EQ(rule(call), "");
  call = filter_grad_2d();
  call.dtype = DType::i32;
  EXPECT_EQ(rule(call), "dtype");
  call = filter_grad_3d();
  call.dtype = DType::i32;
  EXPECT_EQ(rule(call), "dtype");
}

TEST(Validate, numbers_that_are_no_enumerator_are_refused) {
  OwnedCall call = forward_2d();
  call.op = static_cast<Op>(1000);
  EXPECT_FALSE(validate(call.view()).ok());
  call = forward_2d();
  call.dtype = static_cast<DType>(-5);
  EXPECT_FALSE(validate(call.view()).ok());
  ConvProblem problem;
  problem.rank = 4;
  EXPECT_EQ(validate(problem).status().rule(), "rank");
  problem = {};
  problem.direction = static_cast<Direction>(9);
  EXPECT_EQ(validate(problem).status().argument(), "direction");
  problem = {};
  problem.padding = static_cast<PaddingKind>(9);
  EXPECT_EQ(validate(problem).status().argument(), "padding");
  problem = {};
  problem.layout = static_cast<Layout>(-9);
  EXPECT_EQ(validate(problem).status().argument(), "layout");
}

TEST(Ops, take_int32_but_for_volumes_and_filter_gradients) {
  for (const OpInfo& op : all_ops()) {
    EXPECT_EQ(takes(op.op, DType::i32), op.rank < 3 && op.direction != Direction::filter_grad) << op.name;
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) EXPECT_TRUE(takes(op.op, dtype));
  }
}

TEST(Validate, missing_tensors_are_named) {
  OwnedCall call = forward_2d();
  call.filter.reset();
  EXPECT_EQ(validate(call.view()).status().argument(), "filter");
  call.input.reset();
  EXPECT_EQ(validate(call.view()).status().argument(), "input");
  call = filter_grad_2d();
  call.out_backprop.reset();
  EXPECT_EQ(validate(call.view()).status().argument(), "out_backprop");
}

OwnedCall depthwise(OwnedCall call) {
  call.depthwise = true;
  Shape& filter = call.filter ? *call.filter : call.sizes;
  filter[3] = 2;
  if (call.out_backprop) call.out_backprop->back() = filter[2] * 2;
  return call;
}

TEST(Depthwise, is_the_grouped_op_with_one_group_a_channel) {
  for (const OwnedCall& call : {depthwise(forward_2d()), depthwise(filter_grad_2d()), depthwise(input_grad_2d())}) {
    const Result<Geometry> geometry = validate(call.view());
    ASSERT_TRUE(geometry.ok()) << geometry.status().message();
    EXPECT_EQ(geometry->groups, 4);
    EXPECT_EQ(filter_shape(*geometry), (Shape{3, 3, 1, 8}));
  }
}

TEST(Depthwise, refuses_fewer_channels_than_the_input_has) {
  OwnedCall call = depthwise(forward_2d());
  call.filter->at(2) = 2;  // grouping alone would take it
  EXPECT_EQ(rule(call), "channel-mismatch");
  EXPECT_EQ(validate(call.view()).status().message(),
            "DepthwiseConv2dNative: input and filter must have the same depth: 4 vs 2 (filter: got [3,3,2,2], "
            "wanted 4 channels, as the input)");
}

TEST(Depthwise, refuses_sizes_that_no_grouped_filter_has) {
  OwnedCall call = depthwise(filter_grad_2d());
  call.sizes[3] = std::int64_t{1} << 62;
  EXPECT_EQ(rule(call), "overflow");
  call.sizes[3] = -1;
  EXPECT_EQ(rule(call), "negative-dim");
  call.sizes.pop_back();
  EXPECT_EQ(rule(call), "size-vector-length");
}

TEST(Depthwise, takes_no_pair_for_input_sizes) {
  OwnedCall call = depthwise(input_grad_2d());
  call.sizes = {5, 5};
  EXPECT_EQ(rule(call), "size-vector-length");
}

}  // namespace
}  // namespace convgrad
