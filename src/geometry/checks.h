// The rules, one small function each; validate.cc says which op looks at which, and in what order.
#pragma once

#include <array>
#include <limits>

#include "base/rules.h"
#include "base/text.h"
#include "convgrad/geometry.h"
#include "geometry/depthwise.h"

namespace convgrad {

inline constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// What the rules read and what they have found out so far.
struct Work {
  Work(const ConvCall& c, const Limits& l)
      : call(c), op(info(c.op)), name(c.depthwise ? depthwise_name(op.direction) : op.name), limits(l) {}

  const ConvCall& call;
  const OpInfo& op;
  const std::string_view name;  // the caller's
  const Limits& limits;
  PaddingKind padding = PaddingKind::valid;
  ConvCall::Numbers in_shape;                  // set once the size vector or the input's rank is checked
  ConvCall::Numbers filter_shape;              // the same
  std::optional<ConvCall::Numbers> out_shape;  // out_backprop, where one is given
  std::array<std::int64_t, 4> in_from_pair{};  // in_shape's memory for the two-entry input_sizes
  Geometry g;

  int rank() const { return op.rank; }
  std::size_t dims() const { return static_cast<std::size_t>(op.rank) + 2; }
  bool forward() const { return op.direction == Direction::forward; }
  std::string_view in_name() const { return op.direction == Direction::input_grad ? "input_sizes" : "input"; }
  std::string_view filter_name() const { return op.direction == Direction::filter_grad ? "filter_sizes" : "filter"; }

  // Where spatial dimension i, the channels and spatial dimension i of rank-3 form stand.
  std::size_t spatial(int i) const { return static_cast<std::size_t>(i + (g.layout == Layout::channels_last ? 1 : 2)); }
  std::size_t channel() const { return g.layout == Layout::channels_last ? dims() - 1 : 1; }
  std::size_t in_rank3(int i) const { return static_cast<std::size_t>(3 - op.rank + i); }

  std::int64_t c_in() const { return in_shape[channel()]; }
  std::int64_t filter_c() const { return filter_shape[dims() - 2]; }
  std::int64_t c_out() const { return filter_shape[dims() - 1]; }
};

// Says no in the op's name.
inline Status refuse(const Work& w, Refusal refusal) { return refuse(w.name, std::move(refusal)); }

inline std::string in_words(std::size_t count, std::string_view what) { return concat(count, " ", what); }

// The product of all sizes, 0 counted as 1: an empty dimension does not hide an overflow among the
// others, whose parts later rooms multiply. Stops at the first product beyond 63 bits.
inline Wide count_elements(std::span<const std::int64_t> sizes) {
  Wide count = 1;
  for (std::int64_t size : sizes) {
    if (size > 1 && count <= kMax) count *= size;
  }
  return count;
}

inline Status refuse_count(const Work& w, std::string_view argument, const std::string& shape) {
  return refuse(w, {.rule = Rule::overflow,
                    .argument = argument,
                    .reason = concat("Shape ", shape, " would have more than 2**63 - 1 elements"),
                    .got = shape,
                    .wanted = "less than 2**63 elements"});
}

using Check = Status(Work&);

// attribute_checks.cc: what the call's attributes may be.
Check dtype_allowed, padding_known, format_known, dilations_length, strides_minimum, strides_length, strides_nc,
    strides_positive, dilations_nc, dilations_positive, padding_list;
Status spatial_strides_positive(const Work& w, std::string_view reason);

// shape_checks.cc: ranks, size vectors, batch and channels.
Check input_rank, filter_rank, filter_channels_positive, input_channels_multiple, groups_divide, size_vector_is_vector,
    filter_sizes_entries, filter_sizes_length, out_backprop_rank, stated_out_rank, batch_equal, out_channels_equal,
    input_sizes_2d, input_sizes_pair, input_channels_not_lost, input_sizes_3d;

// window_checks.cc: output sizes, empty filters, bytes.
Check windows, filter_not_empty, filter_not_empty_for_output, all_fit, some_work;

}  // namespace convgrad
