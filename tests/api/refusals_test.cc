// Every rule of rules.inc broken on purpose: code, argument and text of the answer.
#include <gtest/gtest.h>

#include <set>

#include "convgrad/convgrad_c.h"
#include "support/cases.h"
#include "support/problems.h"

namespace convgrad {
namespace {

struct Refused {
  const char* rule;
  StatusCode code;
  const char* argument;
  const char* text;  // a part of the message, TensorFlow's own words where it has some
  Status (*broken)();
};

Tensor zeros(Shape shape, DType dtype = DType::f32) { return Tensor::zeros(dtype, std::move(shape)).value(); }

OwnedCall good(Op op) {
  const bool volume = info(op).rank == 3;
  OwnedCall call;
  call.op = op;
  call.padding = "VALID";
  call.data_format = volume ? "NDHWC" : "NHWC";
  call.strides = call.dilations = volume ? Shape{1, 1, 1, 1, 1} : Shape{1, 1, 1, 1};
  const Shape in = volume ? Shape{2, 5, 5, 5, 4} : Shape{2, 5, 5, 4},
              f = volume ? Shape{3, 3, 3, 4, 6} : Shape{3, 3, 4, 6};
  const Shape out = volume ? Shape{2, 3, 3, 3, 6} : Shape{2, 3, 3, 6};
  const Direction direction = info(op).direction;
  if (direction != Direction::input_grad) call.input = in;
  if (direction != Direction::filter_grad) call.filter = f;
  if (direction != Direction::forward) call.out_backprop = out;
  call.sizes = direction == Direction::input_grad ? in : f;
  return call;
}

template <class Change>
Status changed(Op op, const Change& change) {
  OwnedCall call = good(op);
  change(call);
  return validate(call.view()).status();
}

// A run of a small plan with one thing wrong.
template <class Change>
Status bad_run(const Change& change) {
  const Plan plan = make_plan(parse_problem("n1c1w4_k1s2_valid_f32_filter_grad").value()).value();
  Tensor x = zeros({1, 4, 1}), dy = zeros({1, 3, 1}), dw = zeros({2, 1, 1});
  RunArgs args{x, dy, dw.mutable_view(), {}};
  Plan other = plan;
  change(args, other);
  return run(other, args);
}

// The last failure of the C interface as a Status.
Status from_c(convgrad_status code) {
  return Status(ErrorDetail{static_cast<StatusCode>(code), convgrad_last_message(), convgrad_last_argument(),
                            convgrad_last_got(), convgrad_last_wanted(), convgrad_last_rule()});
}

constexpr auto kInvalid = StatusCode::invalid_argument;

const Refused kTable[] = {
    {"rank", kInvalid, "input", "convolution input must be 4-dimensional: [2,5,5]",
     [] { return changed(Op::conv2d, [](OwnedCall& c) { c.input = Shape{2, 5, 5}; }); }},
    {"rank", kInvalid, "out_backprop", "out_backprop must be 4-dimensional",
     [] { return changed(Op::conv2d_backprop_input, [](OwnedCall& c) { c.out_backprop = Shape{}; }); }},
    {"size-vector-rank", kInvalid, "filter_sizes", "must be rank 1",
     [] { return changed(Op::conv3d_backprop_filter_v2, [](OwnedCall& c) { c.sizes_rank = 0; }); }},
    {"size-vector-rank", kInvalid, "input_sizes", "input_sizes input must be 1-dim, not 2",
     [] { return changed(Op::conv2d_backprop_input, [](OwnedCall& c) { c.sizes_rank = 2; }); }},
    {"size-vector-length", kInvalid, "input_sizes", "requires input_sizes to contain 4 values or 2 values, but got: 3",
     [] { return changed(Op::conv2d_backprop_input, [](OwnedCall& c) { c.sizes = {5, 5, 4}; }); }},
    {"size-vector-length", kInvalid, "filter_sizes", "filter must be 4-dimensional",
     [] { return changed(Op::conv2d_backprop_filter, [](OwnedCall& c) { c.sizes = {3, 3, 4}; }); }},
    {"size-vector-length", kInvalid, "filter_sizes", "filter_sizes tensor must have 5 dimensions",
     [] { return changed(Op::conv3d_backprop_filter_v2, [](OwnedCall& c) { c.sizes = {3, 3, 4, 6}; }); }},
    {"size-vector-length", kInvalid, "input_sizes", "input tensor must have 5 dimensions",
     [] { return changed(Op::conv3d_backprop_input_v2, [](OwnedCall& c) { c.sizes = {5, 5}; }); }},
    {"negative-dim", kInvalid, "filter_sizes", "Dimension -3 must be >= 0",
     [] { return changed(Op::conv2d_backprop_filter, [](OwnedCall& c) { c.sizes[0] = -3; }); }},
    {"zero-filter", kInvalid, "filter", "filter must not have zero elements",
     [] { return changed(Op::conv2d, [](OwnedCall& c) { c.filter = Shape{0, 3, 4, 6}; }); }},
    {"zero-filter", kInvalid, "filter_sizes", "filter depth must be strictly greated than zero",
     [] { return changed(Op::conv2d_backprop_filter, [](OwnedCall& c) { c.sizes[2] = 0; }); }},
    {"channel-mismatch", kInvalid, "out_backprop", "filter and out_backprop must have the same out_depth",
     [] { return changed(Op::conv2d_backprop_filter, [](OwnedCall& c) { c.sizes[3] = 7; }); }},
    {"channel-mismatch", kInvalid, "out_backprop", "Got 6 for out_backprop and 7 for filter_sizes",
     [] { return changed(Op::conv3d_backprop_filter_v2, [](OwnedCall& c) { c.sizes[4] = 7; }); }},
    {"group-divisibility", kInvalid, "input", "input depth must be evenly divisible by filter depth: 4 vs 3",
     [] { return changed(Op::conv2d, [](OwnedCall& c) { c.filter = Shape{3, 3, 3, 6}; }); }},
    {"group-divisibility", kInvalid, "filter", "output depth must be evenly divisible by number of groups: 6 vs 4",
     [] { return changed(Op::conv2d, [](OwnedCall& c) { c.filter = Shape{3, 3, 1, 6}; }); }},
    {"group-divisibility", kInvalid, "input",
     "input and filter_sizes must have the same number of channels. Got 4 for input and 3 for filter_sizes",
     [] { return changed(Op::conv3d_backprop_filter_v2, [](OwnedCall& c) { c.sizes[3] = 3; }); }},
    {"batch-mismatch", kInvalid, "out_backprop", "Input batch: 2, outbackprop batch: 3",
     [] { return changed(Op::conv2d_backprop_filter, [](OwnedCall& c) { (*c.out_backprop)[0] = 3; }); }},
    {"out-shape-mismatch", kInvalid, "out_backprop",
     "Size of out_backprop doesn't match computed: actual = 4, computed = 3 spatial_dim: 2 input: 5 filter: 3 output: "
     "4 stride: 1 dilation: 1",
     [] { return changed(Op::conv2d_backprop_filter, [](OwnedCall& c) { (*c.out_backprop)[2] = 4; }); }},
    {"negative-output", kInvalid, "filter",
     "Computed output size would be negative: -1 [input_size: 5, effective_filter_size: 7, stride: 1]",
     [] { return changed(Op::conv2d, [](OwnedCall& c) { c.dilations[1] = 3; }); }},
    {"stride-length", kInvalid, "strides", "Sliding window strides field must specify 4 dimensions",
     [] { return changed(Op::conv2d, [](OwnedCall& c) { c.strides = {1, 1, 1}; }); }},
    {"stride-length", kInvalid, "strides", "Length for attr 'strides' of 4 must be at least minimum 5",
     [] { return changed(Op::conv3d, [](OwnedCall& c) { c.strides = {1, 1, 1, 1}; }); }},
    {"stride-nc", StatusCode::unimplemented, "strides",
     "does not yet support strides in the batch and depth dimensions.",
     [] { return changed(Op::conv2d, [](OwnedCall& c) { c.strides[0] = 2; }); }},
    {"stride-range", kInvalid, "strides", "Row and column strides should be larger than 0.",
     [] { return changed(Op::conv2d_backprop_filter, [](OwnedCall& c) { c.strides[2] = 0; }); }},
    {"stride-range", kInvalid, "strides", "Spatial strides should be larger than 0.",
     [] { return changed(Op::conv3d, [](OwnedCall& c) { c.strides[2] = -1; }); }},
    {"stride-range", kInvalid, "strides", "Stride must be > 0, but got 0",
     [] { return changed(Op::conv3d_backprop_input_v2, [](OwnedCall& c) { c.strides[2] = 0; }); }},
    {"stride-range", kInvalid, "strides", "Attr strides has value 4294967296 out of range for an int32",
     [] { return changed(Op::conv2d, [](OwnedCall& c) { c.strides[2] = 4294967296; }); }},
    {"dilation-length", kInvalid, "dilations", "Dilation rates field must specify 5 dimensions",
     [] { return changed(Op::conv3d, [](OwnedCall& c) { c.dilations = {1, 1, 1, 1, 1, 1}; }); }},
    {"dilation-nc", kInvalid, "dilations", "dilation rates in the batch and depth dimensions.",
     [] { return changed(Op::conv3d, [](OwnedCall& c) { c.dilations[4] = 2; }); }},
    {"dilation-range", kInvalid, "dilations", "Dilated rates should be larger than 0.",
     [] { return changed(Op::conv2d, [](OwnedCall& c) { c.dilations[1] = 0; }); }},
    {"padding-name", kInvalid, "padding",
     "Value for attr 'padding' of \"FULL\" is not in the list of allowed values: \"SAME\", \"VALID\", \"EXPLICIT\"",
     [] { return changed(Op::conv2d, [](OwnedCall& c) { c.padding = "FULL"; }); }},
    {"padding-name", kInvalid, "padding", "of \"\" is not in the list",
     [] { return conv2d(zeros({1, 2, 2, 1}), zeros({1, 1, 1, 1}), {}).status(); }},
    {"padding-list", kInvalid, "explicit_paddings", "explicit_paddings attribute must contain 8 values, but got: 4",
     [] {
       return changed(Op::conv2d, [](OwnedCall& c) {
         c.padding = "EXPLICIT";
         c.explicit_paddings = {0, 0, 1, 1};
       });
     }},
    {"padding-list", kInvalid, "explicit_paddings", "All elements of explicit_paddings must be nonnegative",
     [] {
       return changed(Op::conv2d, [](OwnedCall& c) {
         c.padding = "EXPLICIT";
         c.explicit_paddings = {0, 0, -1, 1, 0, 0, 0, 0};
       });
     }},
    {"padding-list", kInvalid, "explicit_paddings",
     "Nonzero explicit padding in the batch or depth dimensions is not supported",
     [] {
       return changed(Op::conv2d, [](OwnedCall& c) {
         c.padding = "EXPLICIT";
         c.explicit_paddings = {0, 0, 0, 0, 0, 0, 0, 1};
       });
     }},
    {"padding-list", kInvalid, "explicit_paddings", "must be empty if the padding attribute is not EXPLICIT",
     [] { return changed(Op::conv2d, [](OwnedCall& c) { c.explicit_paddings = {0, 0, 0, 0, 0, 0, 0, 0}; }); }},
    {"format-name", kInvalid, "data_format",
     "Value for attr 'data_format' of \"NHCW\" is not in the list of allowed values: \"NHWC\", \"NCHW\"",
     [] { return changed(Op::conv2d, [](OwnedCall& c) { c.data_format = "NHCW"; }); }},
    {"overflow", kInvalid, "output", "would have more than 2**63 - 1 elements",
     [] {
       return changed(Op::conv2d, [](OwnedCall& c) {
         c.padding = "EXPLICIT";
         c.explicit_paddings = {0, 0, 1LL << 32, 0, 1LL << 32, 0, 0, 0};
       });
     }},
    {"resource", StatusCode::resource_exhausted, "output", "more than the limit of 1099511627776",
     [] {
       return changed(Op::conv2d, [](OwnedCall& c) {
         c.padding = "EXPLICIT";
         c.explicit_paddings = {0, 0, 1LL << 40, 0, 0, 0, 0, 0};
       });
     }},
    {"attr-type", kInvalid, "strides", "strides has the wrong type",
     [] { return wrong_type("strides", "1.5", "integers"); }},
    {"dtype", kInvalid, "dtype",
     "Value for attr 'T' of int32 is not in the list of allowed values: half, bfloat16, float, double",
     [] { return changed(Op::conv3d, [](OwnedCall& c) { c.dtype = DType::i32; }); }},
    {"dtype", kInvalid, "filter", "filter has not the element type of input",
     [] {
       return conv2d(zeros({1, 2, 2, 1}), zeros({1, 1, 1, 1}, DType::f64), {.padding = Padding::same()}).status();
     }},
    {"dtype", kInvalid, "result", "result has not the plan's element type",
     [] { return bad_run([](RunArgs& a, Plan&) { a.result.dtype = DType::f64; }); }},
    {"problem-string", kInvalid, "problem", "is not a problem string", [] { return parse_problem("n1").status(); }},
    {"struct-size", kInvalid, "struct_size", "sizeof the struct",
     [] {
       convgrad_call call{};
       call.struct_size = 3;
       return from_c(convgrad_check(&call));
     }},
    {"op-name", kInvalid, "op", "op is out of range",
     [] { return compute(static_cast<Op>(77), {}, {.padding = Padding::same()}).status(); }},
    {"internal", StatusCode::internal, "", "a Result was made from an ok Status",
     [] { return Result<int>(Status()).status(); }},
    {"operand-shape", kInvalid, "input", "input has not the plan's shape",
     [] { return bad_run([](RunArgs& a, Plan&) { a.first.shape = {1, 5, 1}; }); }},
    {"operand-data", kInvalid, "out_backprop", "out_backprop has no memory",
     [] { return bad_run([](RunArgs& a, Plan&) { a.second.data = nullptr; }); }},
    {"operand-data", kInvalid, "input", "input.byte_strides has not one entry a dimension",
     [] { return bad_run([](RunArgs& a, Plan&) { a.first.byte_strides = {4}; }); }},
    {"operand-data", kInvalid, "input", "reach beyond the address space",
     [] { return bad_run([](RunArgs& a, Plan&) { a.first.byte_strides = {4, 1LL << 62, 4}; }); }},
    {"operand-overlap", kInvalid, "result", "result shares memory with an operand",
     [] { return bad_run([](RunArgs& a, Plan&) { a.result.data = const_cast<void*>(a.first.data); }); }},
    {"operand-overlap", kInvalid, "result", "let two elements share memory",
     [] { return bad_run([](RunArgs& a, Plan&) { a.result.byte_strides = {0, 4, 4}; }); }},
    {"engine-name", StatusCode::unimplemented, "engine", "there is no such engine",
     [] { return make_plan(parse_problem("n1c1w4_k1s2_valid_forward").value(), {.engine = "abacus"}).status(); }},
    {"engine-name", kInvalid, "plan", "names an engine that is not here",
     [] { return bad_run([](RunArgs&, Plan& p) { p.engine = "gone"; }); }},
    {"policy", kInvalid, "threads", "the thread count is out of range",
     [] {
       return conv2d(zeros({1, 2, 2, 1}), zeros({1, 1, 1, 1}), {.padding = Padding::same(), .policy = {.threads = -2}})
           .status();
     }},
    {"workspace", StatusCode::resource_exhausted, "workspace", "the workspace is too small",
     [] {
       static char few[64];
       return bad_run([](RunArgs& a, Plan& p) {
         p.workspace_bytes = 1000;
         a.workspace = {few, sizeof(few)};
       });
     }},
    {"workspace", kInvalid, "workspace", "the workspace is misaligned",
     [] {
       alignas(64) static char few[64];
       return bad_run([](RunArgs& a, Plan& p) {
         p.workspace_bytes = 8;
         a.workspace = {few + 1, 32};
       });
     }},
    {"device", kInvalid, "place", "makes its result in the host's memory",
     [] {
       return conv2d(zeros({1, 2, 2, 1}), zeros({1, 1, 1, 1}),
                     {.padding = Padding::same(), .policy = {.place = {.memory = Memory::cuda}}})
           .status();
     }},
    {"device", kInvalid, "filter", "filter does not lie where the other tensors do",
     [] { return wrong_place("filter", {}, {Memory::cuda, 1}); }},
    {"engine-name", StatusCode::unimplemented, "engine", "cannot reach tensors in a GPU's memory",
     [] {
       return make_plan(parse_problem("n1c1w4_k1s2_valid_forward").value(),
                        {.engine = "cpu", .place = {.memory = Memory::cuda}})
           .status();
     }},
    {"engine-name", kInvalid, "plan", "cannot reach its tensors",
     [] { return bad_run([](RunArgs&, Plan& p) { p.place.memory = Memory::cuda; }); }},
    {"policy", kInvalid, "place", "there is no such memory",
     [] {
       return make_plan(parse_problem("n1c1w4_k1s2_valid_forward").value(), {.place = {static_cast<Memory>(7), 0}})
           .status();
     }},
    {"operand-data", kInvalid, "input", "input lies in a GPU's memory and has byte_strides",
     [] {
       return bad_run([](RunArgs& a, Plan& p) {
         p.place.memory = Memory::cuda;
         a.first.byte_strides = {16, 4, 4};
       });
     }},
    {"operand-data", kInvalid, "result", "result lies in a GPU's memory and is misaligned",
     [] {
       return bad_run([](RunArgs& a, Plan& p) {
         p.place.memory = Memory::cuda;
         a.result.data = static_cast<char*>(a.result.data) + 2;
       });
     }},
    {"element-count", kInvalid, "values", "wanted 3",
     [] { return Tensor::from<float>({3}, std::vector<float>{1}).status(); }},
    {"cancelled", StatusCode::cancelled, "cancel", "the run was cancelled",
     [] {
       static const std::atomic<bool> up{true};
       return conv2d(zeros({1, 2, 2, 1}), zeros({1, 1, 1, 1}), {.padding = Padding::same(), .policy = {.cancel = &up}})
           .status();
     }},
};

TEST(Refusals, say_rule_code_argument_and_text) {
  for (const Refused& row : kTable) {
    const Status status = row.broken();
    EXPECT_EQ(status.rule(), row.rule) << status.message();
    EXPECT_EQ(status.code(), row.code) << status.message();
    EXPECT_EQ(status.argument(), row.argument) << status.message();
    EXPECT_NE(status.message().find(row.text), std::string::npos) << status.message() << "\nlacks: " << row.text;
  }
}

TEST(Refusals, cover_every_rule_in_the_list) {
  std::set<std::string_view> broken;
  for (const Refused& row : kTable) broken.insert(row.rule);
  for (const RuleInfo& rule : all_rules()) {
    if (rule.id.starts_with("graph-")) continue;  // tests/face/refusals_test.cc
    EXPECT_TRUE(broken.contains(rule.id)) << rule.id << " has no test";
  }
}

TEST(Refusals, are_one_short_line) {
  for (const Refused& row : kTable) {
    const std::string message = row.broken().message();
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_LT(message.size(), 500u) << message;
  }
}

// After any refusal the next call works.
TEST(Refusals, leave_the_library_usable) {
  for (const Refused& row : kTable) {
    (void)row.broken();
    ASSERT_TRUE(conv2d(zeros({1, 2, 2, 1}), zeros({1, 1, 1, 1}), {.padding = Padding::same()}).ok());
  }
}

}  // namespace
}  // namespace convgrad
