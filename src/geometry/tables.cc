// The op and rule tables, from their lists.
#include <iterator>

#include "convgrad/geometry.h"

namespace convgrad {
namespace {

constexpr OpInfo kOps[] = {
#define CONVGRAD_OP(id, tf_name, direction, rank, takes_int32, summary) \
  {Op::id, #id, tf_name, Direction::direction, rank, takes_int32, summary},
#include "convgrad/ops.inc"
#undef CONVGRAD_OP
};

constexpr RuleInfo kRules[] = {
#define CONVGRAD_RULE(name, id, meaning) {id, meaning},
#include "convgrad/rules.inc"
#undef CONVGRAD_RULE
};

constexpr std::string_view kForwardArguments[] = {"input", "filter"};
constexpr std::string_view kInputGradArguments[] = {"input_sizes", "filter", "out_backprop"};
constexpr std::string_view kFilterGradArguments[] = {"input", "filter_sizes", "out_backprop"};
constexpr std::string_view kBiasGradArguments[] = {"out_backprop"};

}  // namespace

std::span<const OpInfo> all_ops() { return kOps; }

// A number cast to Op that is no row gets one that validate() never sees: it refuses the number first.
const OpInfo& info(Op op) {
  static constexpr OpInfo kUnknown{Op::conv2d, "unknown", "unknown", Direction::forward, 2, false, ""};
  const auto row = static_cast<std::size_t>(op);
  return row < std::size(kOps) ? kOps[row] : kUnknown;
}

bool takes(Op op, DType dtype) { return dtype != DType::i32 || info(op).takes_int32; }

std::span<const RuleInfo> all_rules() { return kRules; }

std::optional<Op> op_from_name(std::string_view name) {
  for (const OpInfo& row : kOps) {
    if (name == row.id || name == row.name) return row.op;
  }
  return std::nullopt;
}

std::span<const std::string_view> tensor_arguments(Direction direction) {
  switch (direction) {
    case Direction::forward: return kForwardArguments;
    case Direction::input_grad: return kInputGradArguments;
    case Direction::filter_grad: return kFilterGradArguments;
    case Direction::bias_grad: return kBiasGradArguments;
  }
  return {};
}

std::string_view name(Direction direction) {
  switch (direction) {
    case Direction::forward: return "forward";
    case Direction::input_grad: return "input_grad";
    case Direction::filter_grad: return "filter_grad";
    case Direction::bias_grad: return "bias_grad";
  }
  return "unknown";
}

std::string_view data_format(Layout layout, int rank) {
  constexpr std::string_view kNames[2][3] = {{"NWC", "NHWC", "NDHWC"}, {"NCW", "NCHW", "NCDHW"}};
  return rank >= 1 && rank <= 3 ? kNames[static_cast<int>(layout)][rank - 1] : std::string_view();
}

}  // namespace convgrad
