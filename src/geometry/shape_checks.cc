// Rules on shapes: ranks, size vectors, batch and channels.
#include "geometry/checks.h"

namespace convgrad {
namespace {

Status no_negative_entry(const Work& w, std::string_view argument, ConvCall::Numbers shape) {
  for (std::int64_t size : shape) {
    if (size >= 0) continue;
    return refuse(w, {.rule = Rule::negative_dim,
                      .argument = argument,
                      .reason = concat("Dimension ", size, " must be >= 0"),
                      .got = to_text(shape),
                      .wanted = "sizes of 0 or more"});
  }
  return {};
}

// What TensorFlow checks of a size vector when it makes a shape of it.
Status entries_fit(const Work& w, std::string_view argument) {
  CONVGRAD_RETURN_IF_ERROR(no_negative_entry(w, argument, w.call.sizes));
  if (w.call.sizes.size() != w.dims() || count_elements(w.call.sizes) <= kMax) return {};
  return refuse_count(w, argument, to_text(w.call.sizes));
}

Status refuse_size_length(const Work& w, std::string_view argument, std::string reason, std::string wanted) {
  return refuse(w, {.rule = Rule::size_vector_length,
                    .argument = argument,
                    .reason = std::move(reason),
                    .got = concat(w.call.sizes.size(), " entries ", to_text(w.call.sizes)),
                    .wanted = std::move(wanted)});
}

bool is_pair(const Work& w) { return w.rank() == 2 && w.call.sizes.size() == 2; }

}  // namespace

// ---- Size vectors ----

Status size_vector_is_vector(Work& w) {
  if (w.call.sizes_rank == 1) return {};
  const std::string_view argument = w.op.direction == Direction::input_grad ? w.in_name() : w.filter_name();
  std::string reason = concat(argument, " input must be 1-dim, not ", w.call.sizes_rank);
  if (w.rank() == 3) reason = concat(argument, " shape must be rank 1 but is rank ", w.call.sizes_rank);
  if (w.rank() == 3 && w.op.direction == Direction::input_grad && w.call.sizes_rank == 0) {
    reason += "; shape must be a vector of {int32,int64}, got shape []";
  }
  return refuse(w, {.rule = Rule::size_vector_rank,
                    .argument = argument,
                    .reason = reason,
                    .got = concat("rank ", w.call.sizes_rank),
                    .wanted = concat("a vector of ", w.dims(), " sizes")});
}

Status filter_sizes_entries(Work& w) {
  w.filter_shape = w.call.sizes;
  return entries_fit(w, "filter_sizes");
}

Status filter_sizes_length(Work& w) {
  if (w.call.sizes.size() == w.dims()) return {};
  return refuse_size_length(w, "filter_sizes",
                            w.rank() == 3 ? "filter_sizes tensor must have 5 dimensions"
                                          : concat("filter must be ", w.dims(), "-dimensional"),
                            in_words(w.dims(), "entries"));
}

// Four entries in data_format order, or (2-D only) height and width.
Status input_sizes_2d(Work& w) {
  const ConvCall::Numbers sizes = w.call.sizes;
  if (!is_pair(w) && sizes.size() != w.dims()) {
    return refuse_size_length(w, "input_sizes",
                              concat(w.name, " requires input_sizes to contain ", w.dims(), " values",
                                     w.rank() == 2 ? " or 2 values" : "", ", but got: ", sizes.size()),
                              w.rank() == 2 ? "4 sizes, or 2: height and width" : in_words(w.dims(), "sizes"));
  }
  w.in_shape = sizes;
  return entries_fit(w, "input_sizes");
}

// Of height and width alone: the batch is out_backprop's and the channels are the filter's, which
// can only mean one group.
Status input_sizes_pair(Work& w) {
  if (!is_pair(w)) return {};
  if (!w.out_shape) {
    return refuse_size_length(w, "input_sizes",
                              "the two-value form takes the batch from out_backprop, which is not given", "4 sizes");
  }
  w.in_from_pair[0] = (*w.out_shape)[0];
  w.in_from_pair[w.channel()] = w.filter_c();
  w.in_from_pair[w.spatial(0)] = w.call.sizes[0];
  w.in_from_pair[w.spatial(1)] = w.call.sizes[1];
  w.in_shape = w.in_from_pair;
  return {};
}

Status input_sizes_3d(Work& w) {
  CONVGRAD_RETURN_IF_ERROR(entries_fit(w, "input_sizes"));
  if (w.call.sizes.size() != w.dims()) {
    return refuse_size_length(w, "input_sizes", "input tensor must have 5 dimensions", "5 sizes");
  }
  w.in_shape = w.call.sizes;
  return {};
}

namespace {

// ---- Ranks ----

// TensorFlow's words for a wrong rank differ from kernel to kernel.
std::string rank_reason(const Work& w, std::string_view argument, ConvCall::Numbers shape) {
  if (w.rank() == 3 && !w.forward()) {
    return concat(argument == "filter" ? "filter_sizes" : argument, " tensor must have 5 dimensions");
  }
  const std::string_view subject = w.forward() && (argument == "input" || w.rank() < 3) ? "convolution " : "";
  return concat(subject, argument, " must be ", w.dims(), "-dimensional: ", to_text(shape));
}

Status has_rank(const Work& w, std::string_view argument, ConvCall::Numbers shape) {
  if (shape.size() == w.dims()) return no_negative_entry(w, argument, shape);
  return refuse(w, {.rule = Rule::rank,
                    .argument = argument,
                    .reason = rank_reason(w, argument, shape),
                    .got = concat(to_text(shape), " of rank ", shape.size()),
                    .wanted = concat("rank ", w.dims())});
}

Status missing(const Work& w, std::string_view argument) {
  return refuse(w, {.rule = Rule::rank,
                    .argument = argument,
                    .reason = concat(argument, " is not given"),
                    .got = "nothing",
                    .wanted = concat("a tensor of rank ", w.dims())});
}

}  // namespace

Status input_rank(Work& w) {
  if (!w.call.input) return missing(w, "input");
  w.in_shape = *w.call.input;
  return has_rank(w, "input", w.in_shape);
}
Status filter_rank(Work& w) {
  if (!w.call.filter) return missing(w, "filter");
  w.filter_shape = *w.call.filter;
  return has_rank(w, "filter", w.filter_shape);
}
// A forward problem may state its output's size; then that size must be the computed one.
Status stated_out_rank(Work& w) {
  if (!w.call.out_backprop) return {};
  w.out_shape = *w.call.out_backprop;
  return has_rank(w, "out_backprop", *w.out_shape);
}
Status out_backprop_rank(Work& w) {
  return w.call.out_backprop || w.call.derive_out ? stated_out_rank(w) : missing(w, "out_backprop");
}

// ---- Channels and batch ----

Status batch_equal(Work& w) {
  if (!w.out_shape || (*w.out_shape)[0] == w.in_shape[0]) return {};
  return refuse(w, {.rule = Rule::batch_mismatch,
                    .argument = "out_backprop",
                    .reason = concat("input and out_backprop must have the same batch size. Input batch: ",
                                     w.in_shape[0], ", outbackprop batch: ", (*w.out_shape)[0], ", batch_dim: 0"),
                    .got = concat("batch ", (*w.out_shape)[0]),
                    .wanted = concat("batch ", w.in_shape[0], " as in ", w.in_name())});
}

Status filter_channels_positive(Work& w) {
  if (w.filter_c() > 0) return {};
  const std::string_view reason = !w.forward()    ? "filter depth must be strictly greated than zero"
                                  : w.rank() == 3 ? "filter_depth must be non-zero"
                                                  : "filter depth must be stricly positive, got 0";
  return refuse(w, {.rule = Rule::zero_filter,
                    .argument = w.filter_name(),
                    .reason = std::string(reason),
                    .got = to_text(w.filter_shape),
                    .wanted = "1 or more input channels in the filter"});
}

Status input_channels_multiple(Work& w) {
  if (w.c_in() % w.filter_c() == 0) return {};
  std::string reason = concat("input depth must be evenly divisible by filter depth: ", w.c_in(), " vs ", w.filter_c());
  if (w.rank() == 3 && !w.forward()) {
    reason += concat("; input and filter_sizes must have the same number of channels. Got ", w.c_in(),
                     " for input and ", w.filter_c(), " for filter_sizes");
  }
  return refuse(w, {.rule = Rule::group_divisibility,
                    .argument = w.in_name(),
                    .reason = reason,
                    .got = concat(w.c_in(), " channels"),
                    .wanted = concat("a multiple of the filter's ", w.filter_c())});
}

// 3-D gradients say this before anything else about channels.
Status input_channels_not_lost(Work& w) {
  if (w.c_in() > 0 || w.filter_c() == 0) return {};
  return refuse(w,
                {.rule = Rule::channel_mismatch,
                 .argument = w.in_name(),
                 .reason = concat("input and filter_sizes must have the same number of channels. Got 0 for input and ",
                                  w.filter_c(), " for filter_sizes"),
                 .got = "0 channels",
                 .wanted = concat("a positive multiple of the filter's ", w.filter_c())});
}

Status out_channels_equal(Work& w) {
  if (!w.out_shape || (*w.out_shape)[w.channel()] == w.c_out()) return {};
  const std::int64_t got = (*w.out_shape)[w.channel()];
  const std::string reason = w.rank() == 3
                                 ? concat("out_backprop and filter_sizes must have the same number of channels. Got ",
                                          got, " for out_backprop and ", w.c_out(), " for filter_sizes")
                                 : "filter and out_backprop must have the same out_depth";
  return refuse(w, {.rule = Rule::channel_mismatch,
                    .argument = "out_backprop",
                    .reason = reason,
                    .got = concat(got, " channels"),
                    .wanted = concat("the filter's ", w.c_out())});
}

Status groups_divide(Work& w) {
  const std::int64_t groups = w.c_in() / w.filter_c();
  if (groups >= 1 && w.c_out() % groups == 0) {
    w.g.groups = groups;
    return {};
  }
  if (groups == 0) {
    return refuse(w, {.rule = Rule::group_divisibility,
                      .argument = w.in_name(),
                      .reason = concat("input depth must be evenly divisible by filter depth and not 0: ", w.c_in(),
                                       " vs ", w.filter_c()),
                      .got = "0 channels",
                      .wanted = concat("a positive multiple of the filter's ", w.filter_c())});
  }
  return refuse(
      w, {.rule = Rule::group_divisibility,
          .argument = w.filter_name(),
          .reason = concat("output depth must be evenly divisible by number of groups: ", w.c_out(), " vs ", groups),
          .got = concat(w.c_out(), " output channels"),
          .wanted = concat("a multiple of ", groups, ", the ", w.c_in(), " input channels over the filter's ",
                           w.filter_c())});
}

}  // namespace convgrad
