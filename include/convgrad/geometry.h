// The only validator. ConvCall (an op called the way TensorFlow's users call it) or ConvProblem
// goes in; Geometry, which every later stage may trust, comes out.
#ifndef CONVGRAD_GEOMETRY_H_
#define CONVGRAD_GEOMETRY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convgrad/dtype.h"
#include "convgrad/export.h"
#include "convgrad/problem.h"
#include "convgrad/status.h"
#include "convgrad/tensor.h"

namespace convgrad {

enum class Op : int {
#define CONVGRAD_OP(id, tf_name, direction, rank, takes_int32, summary) id,
#include "convgrad/ops.inc"
#undef CONVGRAD_OP
};

struct OpInfo {
  Op op;
  std::string_view id;    // "conv2d_backprop_filter"
  std::string_view name;  // "Conv2DBackpropFilter"
  Direction direction;
  int rank;
  bool takes_int32;
  std::string_view summary;
};

CONVGRAD_API std::span<const OpInfo> all_ops();
CONVGRAD_API const OpInfo& info(Op op);
CONVGRAD_API bool takes(Op op, DType dtype);
// Takes the TensorFlow name or the id.
CONVGRAD_API std::optional<Op> op_from_name(std::string_view name);

// An op by the name that TensorFlow gives it. Depthwise ops are no rows: they are calls of the 2-D ops that say so.
struct NamedOp {
  Op op;
  bool depthwise;
};
CONVGRAD_API std::optional<NamedOp> named_op(std::string_view name);
// Every name that named_op knows.
CONVGRAD_API std::vector<std::string_view> op_names();

// The argument names of an op, in TensorFlow's order: e.g. input, filter_sizes, out_backprop.
CONVGRAD_API std::span<const std::string_view> tensor_arguments(Direction direction);

struct RuleInfo {
  std::string_view id;
  std::string_view meaning;
};
CONVGRAD_API std::span<const RuleInfo> all_rules();

// An op call as it was written, nothing checked yet. Spans need to live only during validate().
struct ConvCall {
  using Numbers = std::span<const std::int64_t>;
  Op op = Op::conv2d;
  DType dtype = DType::f32;
  std::optional<DType> second_dtype = {};    // of the second tensor, where it could differ
  std::optional<Numbers> input = {};         // shape; forward and filter gradient
  std::optional<Numbers> filter = {};        // shape; forward and input gradient
  std::optional<Numbers> out_backprop = {};  // shape; gradients
  Numbers sizes = {};                        // input_sizes or filter_sizes, its values
  int sizes_rank = 1;                        // 0 when a bare number stands there, 2 for a matrix, ...
  Numbers strides = {};
  Numbers dilations = {};
  bool derive_out = false;            // gradients without out_backprop: take the size the forward op gives
  std::string_view padding = {};      // SAME, VALID or EXPLICIT
  Numbers explicit_paddings = {};     // pairs in data_format order, batch and channels included
  std::string_view data_format = {};  // NHWC, NCHW, NDHWC, NCDHW, NWC, NCW
  // Of a 2-D op: the filter is [height, width, channels, multiplier], and the geometry that of the same memory as
  // [height, width, 1, channels * multiplier], one group a channel.
  bool depthwise = false;

  // The shapes of the two tensors in the order of operands(): which arguments they are is the op's direction.
  void set_tensors(Numbers first, Numbers second) {
    const Direction direction = info(op).direction;
    (direction == Direction::input_grad ? filter : input) = first;
    (direction == Direction::forward ? filter : out_backprop) = second;
  }
};

// A call that owns its lists, for callers that build one piece by piece.
struct OwnedCall {
  Op op = Op::conv2d;
  DType dtype = DType::f32;
  std::optional<Shape> input = {}, filter = {}, out_backprop = {};
  Shape sizes = {};
  int sizes_rank = 1;
  Shape strides = {}, dilations = {}, explicit_paddings = {};
  std::string padding = {}, data_format = {};
  bool depthwise = false;

  // Strides and dilations of 1, channels last; padding is left to say.
  CONVGRAD_API static OwnedCall of(Op op);
  // Valid as long as this call is neither changed nor moved.
  CONVGRAD_API ConvCall view() const;
};

// Largest tensor or workspace, in bytes, that a call may ask for.
struct Limits {
  std::int64_t max_bytes = std::int64_t{1} << 40;
};

// A legal problem in rank-3 form: missing leading dimensions have size 1, stride 1, no padding.
// Holds: every size >= 0, strides and dilations >= 1, out is what the window formula gives,
// groups >= 1 divides c_in and c_out, and no product of sizes overflows.
struct Geometry {
  Direction direction = Direction::forward;
  DType dtype = DType::f32;
  Layout layout = Layout::channels_last;
  int rank = 3;  // as the caller stated it
  std::int64_t n = 0;
  std::int64_t groups = 1;
  std::int64_t c_in = 0;   // over all groups
  std::int64_t c_out = 0;  // over all groups
  Extents in{};
  Extents filter{};
  Extents out{};
  Extents stride{1, 1, 1};
  Extents dilation{1, 1, 1};
  Extents pad_before{};
  Extents pad_after{};

  std::int64_t group_c_in() const { return c_in / groups; }
  std::int64_t group_c_out() const { return c_out / groups; }
  friend bool operator==(const Geometry&, const Geometry&) = default;
};

CONVGRAD_API Result<Geometry> validate(const ConvCall& call, const Limits& limits = {});
CONVGRAD_API Result<Geometry> validate(const ConvProblem& problem, const Limits& limits = {});

// The refusal of an attribute of the wrong type, for faces whose callers write text or loose types.
CONVGRAD_API Status wrong_type(std::string_view argument, std::string_view got, std::string_view wanted);

// Shapes in the caller's rank and layout.
CONVGRAD_API Shape in_shape(const Geometry& geometry);
CONVGRAD_API Shape filter_shape(const Geometry& geometry);
CONVGRAD_API Shape out_shape(const Geometry& geometry);
CONVGRAD_API Shape result_shape(const Geometry& geometry);

// A tensor that a direction reads: its argument name and shape. bias_grad reads one, the others two.
struct Operand {
  std::string_view name;
  Shape shape;
};
CONVGRAD_API std::vector<Operand> operands(const Geometry& geometry);

// The problem that validates to this geometry, with explicit padding; exact for filters of 1 or more
// (an empty filter's SAME output has no explicit counterpart).
CONVGRAD_API ConvProblem problem_of(const Geometry& geometry);

// 2 * multiply-adds, by the definition (padding counted): the figure benchmarks divide by.
CONVGRAD_API double nominal_flops(const Geometry& geometry);

}  // namespace convgrad

#endif  // CONVGRAD_GEOMETRY_H_
