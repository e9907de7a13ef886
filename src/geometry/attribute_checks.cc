// Rules on attributes: names, strides, dilations, explicit padding.
#include "geometry/checks.h"

namespace convgrad {

namespace {

constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMinInt32 = std::numeric_limits<std::int32_t>::min();

}  // namespace

// ---- Attributes: names ----

Status dtype_allowed(Work& w) {
  if (w.call.second_dtype && *w.call.second_dtype != w.call.dtype) {
    const bool forward = w.forward();
    return refuse(w, {.rule = Rule::dtype,
                      .argument = forward ? "filter" : "out_backprop",
                      .reason = concat(forward ? "filter" : "out_backprop", " has not the element type of ",
                                       w.op.direction == Direction::input_grad ? "filter" : "input"),
                      .got = std::string(info(*w.call.second_dtype).tf_name),
                      .wanted = std::string(info(w.call.dtype).tf_name)});
  }
  if (takes(w.op.op, w.call.dtype)) return {};
  return refuse(
      w, {.rule = Rule::dtype,
          .argument = "dtype",
          .reason = "Value for attr 'T' of int32 is not in the list of allowed values: half, bfloat16, float, double",
          .got = "int32",
          .wanted = "half, bfloat16, float or double"});
}

Status padding_known(Work& w) {
  const std::string_view name = w.call.padding;
  const bool listed = !w.call.explicit_paddings.empty();
  if (name == "SAME") {
    w.padding = PaddingKind::same;
  } else if (name == "VALID") {
    w.padding = PaddingKind::valid;
  } else if (name == "EXPLICIT" && (w.rank() < 3 || listed)) {
    // In 3-D the name alone is refused, as in TensorFlow, which has no list there; with one we pad.
    w.padding = PaddingKind::explicit_pairs;
  } else {
    const bool volume = w.rank() == 3;
    const std::string allowed = volume ? "\"SAME\", \"VALID\"" : "\"SAME\", \"VALID\", \"EXPLICIT\"";
    return refuse(
        w, {.rule = Rule::padding_name,
            .argument = "padding",
            .reason = concat("Value for attr 'padding' of \"", beginning(name, 40),
                             "\" is not in the list of allowed values: ", allowed),
            .got = concat("\"", beginning(name, 40), "\""),
            .wanted = volume ? "SAME, VALID, or EXPLICIT with 10 explicit_paddings" : "SAME, VALID or EXPLICIT"});
  }
  return {};
}

Status format_known(Work& w) {
  const std::string_view last = data_format(Layout::channels_last, w.rank());
  const std::string_view first = data_format(Layout::channels_first, w.rank());
  if (w.call.data_format == last || w.call.data_format == first) {
    w.g.layout = w.call.data_format == last ? Layout::channels_last : Layout::channels_first;
    return {};
  }
  const std::string_view got = beginning(w.call.data_format, 40);
  return refuse(w, {.rule = Rule::format_name,
                    .argument = "data_format",
                    .reason = concat("Value for attr 'data_format' of \"", got,
                                     "\" is not in the list of allowed values: \"", last, "\", \"", first, "\""),
                    .got = concat("\"", got, "\""),
                    .wanted = concat(last, " or ", first)});
}

namespace {

// ---- Attributes: strides and dilations ----

// What strides and dilations share: a list with one entry a dimension, 1 for batch and channels.
struct WindowList {
  std::string_view argument;
  ConvCall::Numbers values;
  Rule range, length, nc;
};
WindowList strides_of(const Work& w) {
  return {"strides", w.call.strides, Rule::stride_range, Rule::stride_length, Rule::stride_nc};
}
WindowList dilations_of(const Work& w) {
  return {"dilations", w.call.dilations, Rule::dilation_range, Rule::dilation_length, Rule::dilation_nc};
}

Status fits_int32(const Work& w, const WindowList& list) {
  for (std::int64_t value : list.values) {
    if (value >= kMinInt32 && value <= kMaxInt32) continue;
    return refuse(w, {.rule = list.range,
                      .argument = list.argument,
                      .reason = concat("Attr ", list.argument, " has value ", value, " out of range for an int32"),
                      .got = to_text(list.values),
                      .wanted = "entries of at most 2147483647"});
  }
  return {};
}

Status has_length(const Work& w, const WindowList& list, std::string reason) {
  if (list.values.size() == w.dims()) return {};
  return refuse(w, {.rule = list.length,
                    .argument = list.argument,
                    .reason = std::move(reason),
                    .got = in_words(list.values.size(), "entries"),
                    .wanted = in_words(w.dims(), "entries, one a dimension")});
}

Status one_in_batch_and_channels(const Work& w, const WindowList& list, std::string_view what) {
  if (list.values[0] == 1 && list.values[w.channel()] == 1) return {};
  // TensorFlow calls this unimplemented in Conv2D and Conv2DBackpropInput, but not of depthwise strides; invalid
  // everywhere else.
  const bool depthwise_strides = w.call.depthwise && list.nc == Rule::stride_nc;
  const bool unimplemented = w.rank() < 3 && w.op.direction != Direction::filter_grad && !depthwise_strides;
  return refuse(
      w, {.rule = list.nc,
          .argument = list.argument,
          .reason = concat("Current implementation does not yet support ", what, " in the batch and depth dimensions."),
          .got = to_text(list.values),
          .wanted = "1 for the batch and the channels",
          .code = unimplemented ? StatusCode::unimplemented : StatusCode::invalid_argument});
}

Status spatial_positive(const Work& w, const WindowList& list, std::string_view reason) {
  for (int i = 0; i < w.rank(); ++i) {
    if (list.values[w.spatial(i)] >= 1) continue;
    return refuse(w, {.rule = list.range,
                      .argument = list.argument,
                      .reason = std::string(reason),
                      .got = to_text(list.values),
                      .wanted = "spatial entries of 1 or more"});
  }
  return {};
}

}  // namespace

Status spatial_strides_positive(const Work& w, std::string_view reason) {
  return spatial_positive(w, strides_of(w), reason);
}

// An op definition's own demand on 3-D strides, checked before any kernel looks.
Status strides_minimum(Work& w) {
  const std::size_t count = w.call.strides.size();
  if (count >= 5) return {};
  return has_length(w, strides_of(w), concat("Length for attr 'strides' of ", count, " must be at least minimum 5"));
}
Status strides_length(Work& w) {
  const WindowList list = strides_of(w);
  CONVGRAD_RETURN_IF_ERROR(fits_int32(w, list));
  return has_length(w, list, concat("Sliding window strides field must specify ", w.dims(), " dimensions"));
}
Status strides_nc(Work& w) { return one_in_batch_and_channels(w, strides_of(w), "strides"); }
Status strides_positive(Work& w) {
  return spatial_strides_positive(w, w.rank() == 3 ? "Spatial strides should be larger than 0."
                                                   : "Row and column strides should be larger than 0.");
}

Status dilations_length(Work& w) {
  const WindowList list = dilations_of(w);
  CONVGRAD_RETURN_IF_ERROR(fits_int32(w, list));
  return has_length(
      w, list,
      concat(w.rank() == 3 ? "Dilation rates field must specify " : "Sliding window dilations field must specify ",
             w.dims(), " dimensions"));
}
Status dilations_nc(Work& w) {
  return one_in_batch_and_channels(w, dilations_of(w), w.rank() == 3 ? "dilation rates" : "dilations");
}
Status dilations_positive(Work& w) {
  return spatial_positive(w, dilations_of(w), "Dilated rates should be larger than 0.");
}

namespace {

// ---- Attributes: explicit padding ----

Status refuse_padding_list(const Work& w, std::string reason, std::string wanted) {
  return refuse(w, {.rule = Rule::padding_list,
                    .argument = "explicit_paddings",
                    .reason = std::move(reason),
                    .got = to_text(w.call.explicit_paddings),
                    .wanted = std::move(wanted)});
}

}  // namespace

Status padding_list(Work& w) {
  const ConvCall::Numbers list = w.call.explicit_paddings;
  if (w.padding != PaddingKind::explicit_pairs) {
    if (list.empty()) return {};
    return refuse_padding_list(w, "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT",
                               "no values");
  }
  if (list.size() != 2 * w.dims()) {
    return refuse_padding_list(
        w, concat("explicit_paddings attribute must contain ", 2 * w.dims(), " values, but got: ", list.size()),
        in_words(2 * w.dims(), "values, before and after for each dimension"));
  }
  for (std::int64_t value : list) {
    if (value < 0)
      return refuse_padding_list(w, "All elements of explicit_paddings must be nonnegative", "values of 0 or more");
  }
  for (std::size_t i : {std::size_t{0}, 2 * w.channel()}) {
    if (list[i] == 0 && list[i + 1] == 0) continue;
    return refuse_padding_list(w, "Nonzero explicit padding in the batch or depth dimensions is not supported",
                               "zeros for the batch and the channels");
  }
  return {};
}

}  // namespace convgrad
