// Rules on windows: output sizes, empty filters, bytes.
#include <algorithm>

#include "geometry/checks.h"
#include "geometry/window.h"

namespace convgrad {

namespace {

// ---- Windows ----

PadPair explicit_pair(const Work& w, int i) {
  if (w.padding != PaddingKind::explicit_pairs) return {0, 0};
  const std::size_t at = 2 * w.spatial(i);
  return {w.call.explicit_paddings[at], w.call.explicit_paddings[at + 1]};
}

Status refuse_overflow(const Work& w, std::string_view argument, std::string reason, std::string got) {
  return refuse(w, {.rule = Rule::overflow,
                    .argument = argument,
                    .reason = std::move(reason),
                    .got = std::move(got),
                    .wanted = "less than 2**63"});
}

Status refuse_out_size(const Work& w, int i, const WindowIn& in, Wide computed) {
  const std::int64_t actual = (*w.out_shape)[w.spatial(i)];
  return refuse(w, {.rule = Rule::out_shape_mismatch,
                    .argument = "out_backprop",
                    .reason = concat("Size of out_backprop doesn't match computed: actual = ", actual,
                                     ", computed = ", to_text(computed), " spatial_dim: ", i + 1, " input: ", in.in,
                                     " filter: ", in.filter, " output: ", actual, " stride: ", in.stride,
                                     " dilation: ", in.dilation),
                    .got = to_text(*w.out_shape),
                    .wanted = concat(to_text(computed), " in spatial dimension ", i + 1)});
}

Status one_window(Work& w, int i) {
  const WindowIn in{w.in_shape[w.spatial(i)],
                    w.filter_shape[static_cast<std::size_t>(i)],
                    w.call.strides[w.spatial(i)],
                    w.call.dilations[w.spatial(i)],
                    w.padding,
                    explicit_pair(w, i)};
  if (in.stride < 1) return spatial_strides_positive(w, concat("Stride must be > 0, but got ", in.stride));
  const Window found = window(in);
  if (found.out < 0) {
    return refuse(
        w, {.rule = Rule::negative_output,
            .argument = w.filter_name(),
            .reason = concat("Computed output size would be negative: ", to_text(found.out), " [input_size: ", in.in,
                             ", effective_filter_size: ", to_text(found.reach), ", stride: ", in.stride, "]"),
            .got = concat("a filter reaching over ", to_text(found.reach), " cells in spatial dimension ", i + 1),
            .wanted = concat("at most the padded input's ", to_text(Wide{in.in} + found.before + found.after))});
  }
  // Later rooms compute o * stride - before + t * dilation and reach + in freely. The reach of an empty
  // filter is 1 - dilation and makes the output larger than the input.
  const Wide reach = found.reach < 0 ? -found.reach : found.reach;
  if (Wide{in.in} + found.before + found.after + reach + in.stride > kMax) {
    return refuse_overflow(w, w.padding == PaddingKind::explicit_pairs ? "explicit_paddings" : w.filter_name(),
                           concat("The padded extent of spatial dimension ", i + 1, " would be more than 2**63 - 1"),
                           to_text(Wide{in.in} + found.before + found.after));
  }
  if (w.out_shape && found.out != (*w.out_shape)[w.spatial(i)]) return refuse_out_size(w, i, in, found.out);
  const std::size_t to = w.in_rank3(i);
  w.g.in[to] = in.in;
  w.g.filter[to] = in.filter;
  w.g.out[to] = static_cast<std::int64_t>(found.out);
  w.g.stride[to] = in.stride;
  w.g.dilation[to] = in.dilation;
  w.g.pad_before[to] = static_cast<std::int64_t>(found.before);
  w.g.pad_after[to] = static_cast<std::int64_t>(found.after);
  return {};
}

}  // namespace

Status windows(Work& w) {
  w.g.in = w.g.filter = w.g.out = {1, 1, 1};
  for (int i = 0; i < w.rank(); ++i) CONVGRAD_RETURN_IF_ERROR(one_window(w, i));
  w.g.n = w.in_shape[0];
  w.g.c_in = w.c_in();
  w.g.c_out = w.c_out();
  return {};
}

namespace {

// ---- Empty filters ----

bool any_zero(const Extents& e) { return e[0] == 0 || e[1] == 0 || e[2] == 0; }

Status refuse_empty_filter(const Work& w) {
  return refuse(w, {.rule = Rule::zero_filter,
                    .argument = w.filter_name(),
                    .reason = "filter must not have zero elements (i.e. all dimensions must be non-zero)",
                    .got = to_text(w.filter_shape),
                    .wanted = "sizes of 1 or more"});
}

}  // namespace

// 3-D forward: before anything is said of the output.
Status filter_not_empty(Work& w) {
  const bool empty = std::find(w.filter_shape.begin(), w.filter_shape.end(), 0) != w.filter_shape.end();
  return empty ? refuse_empty_filter(w) : Status();
}

// 2-D forward: an empty result needs no filter, a non-empty one cannot be made from an empty filter.
Status filter_not_empty_for_output(Work& w) {
  const bool no_result = w.g.n == 0 || any_zero(w.g.out) || w.g.c_out == 0;
  return any_zero(w.g.filter) && !no_result ? refuse_empty_filter(w) : Status();
}

// TensorFlow's 3-D gradients refuse a problem when at least two of {output positions, taps * input
// channels, output channels} are 0: its estimate of the work is then 0.
Status some_work(Work& w) {
  const int zeros = any_zero(w.g.out) + (any_zero(w.g.filter) || w.g.c_in == 0) + (w.g.c_out == 0);
  return zeros >= 2 ? refuse_empty_filter(w) : Status();
}

namespace {

// ---- Sizes in bytes ----

struct TensorSizes {
  std::string_view argument;
  std::array<std::int64_t, 5> sizes;
  Shape (*shape)(const Geometry&);  // for the sentence
};

Status tensor_fits(const Work& w, const TensorSizes& tensor) {
  const Wide count = count_elements(tensor.sizes);
  if (count > kMax) return refuse_count(w, tensor.argument, to_text(tensor.shape(w.g)));
  const bool empty = std::find(tensor.sizes.begin(), tensor.sizes.end(), 0) != tensor.sizes.end();
  const Wide bytes = empty ? 0 : count * static_cast<Wide>(size_of(w.call.dtype));
  if (bytes <= w.limits.max_bytes) return {};
  return refuse(w, {.rule = Rule::resource,
                    .argument = tensor.argument,
                    .reason = concat("a tensor of shape ", to_text(tensor.shape(w.g)), " needs ", to_text(bytes),
                                     " bytes, more than the limit of ", w.limits.max_bytes),
                    .got = concat(to_text(bytes), " bytes"),
                    .wanted = concat("at most ", w.limits.max_bytes, " bytes"),
                    .code = StatusCode::resource_exhausted});
}

}  // namespace

Status all_fit(Work& w) {
  const Geometry& g = w.g;
  CONVGRAD_RETURN_IF_ERROR(tensor_fits(w, {w.in_name(), {g.n, g.c_in, g.in[0], g.in[1], g.in[2]}, in_shape}));
  CONVGRAD_RETURN_IF_ERROR(tensor_fits(
      w, {w.filter_name(), {g.filter[0], g.filter[1], g.filter[2], g.group_c_in(), g.c_out}, filter_shape}));
  return tensor_fits(
      w, {w.forward() ? "output" : "out_backprop", {g.n, g.c_out, g.out[0], g.out[1], g.out[2]}, out_shape});
}

}  // namespace convgrad
