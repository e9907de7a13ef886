// A problem written out as the call it stands for, so that one set of rules checks both.
#pragma once

#include <array>

#include "convgrad/geometry.h"

namespace convgrad {

inline Op op_of(Direction direction, int rank) {
  // A bias gradient belongs to the same call as the filter gradient and obeys its rules.
  const Direction listed = direction == Direction::bias_grad ? Direction::filter_grad : direction;
  for (const OpInfo& row : all_ops()) {
    if (row.direction == listed && row.rank == rank) return row.op;
  }
  return Op::conv2d;
}

// Holds the numbers that call()'s spans point to.
class ProblemCall {
 public:
  explicit ProblemCall(const ConvProblem& p) : problem_(p), dims_(static_cast<std::size_t>(p.rank) + 2) {
    fill_image(in_, p.n, p.c_in, p.in);
    fill_image(strides_, 1, 1, p.stride);
    fill_image(dilations_, 1, 1, p.dilation);
    if (p.out) fill_image(out_, p.n, p.c_out, *p.out);
    for (int i = 0; i < p.rank; ++i) {
      filter_[static_cast<std::size_t>(i)] = p.filter[static_cast<std::size_t>(i)];
      pads_[2 * spatial(i)] = p.pads[static_cast<std::size_t>(i)].first;
      pads_[2 * spatial(i) + 1] = p.pads[static_cast<std::size_t>(i)].second;
    }
    filter_[dims_ - 2] = p.filter_c;
    filter_[dims_ - 1] = p.c_out;
  }

  ConvCall call() const {
    constexpr std::string_view kNames[] = {"SAME", "VALID", "EXPLICIT"};
    const bool input_grad = problem_.direction == Direction::input_grad;
    ConvCall call;
    call.op = op_of(problem_.direction, problem_.rank);
    call.dtype = problem_.dtype;
    call.input = numbers(in_);
    call.filter = numbers(filter_);
    if (problem_.out) call.out_backprop = numbers(out_);
    call.derive_out = !problem_.out;
    call.sizes = input_grad ? numbers(in_) : numbers(filter_);
    call.strides = numbers(strides_);
    call.dilations = numbers(dilations_);
    call.padding = kNames[static_cast<int>(problem_.padding)];
    if (problem_.padding == PaddingKind::explicit_pairs) call.explicit_paddings = {pads_.data(), 2 * dims_};
    call.data_format = data_format(problem_.layout, problem_.rank);
    return call;
  }

 private:
  std::size_t spatial(int i) const {
    return static_cast<std::size_t>(i + (problem_.layout == Layout::channels_last ? 1 : 2));
  }
  void fill_image(std::array<std::int64_t, 5>& shape, std::int64_t batch, std::int64_t channels, const Extents& sizes) {
    shape[0] = batch;
    shape[problem_.layout == Layout::channels_last ? dims_ - 1 : 1] = channels;
    for (int i = 0; i < problem_.rank; ++i) shape[spatial(i)] = sizes[static_cast<std::size_t>(i)];
  }
  ConvCall::Numbers numbers(const std::array<std::int64_t, 5>& shape) const { return {shape.data(), dims_}; }

  const ConvProblem& problem_;
  std::size_t dims_;
  std::array<std::int64_t, 5> in_{}, filter_{}, out_{}, strides_{}, dilations_{};
  std::array<std::int64_t, 10> pads_{};
};

}  // namespace convgrad
