// The value windows of a block editor, as lines.
#include "cli/tensor_text.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace convgrad::cli {
namespace {

using graph::Tensor;

constexpr std::int64_t kSliceValues = 8;

bool is_floating(graph::DataType dtype) {
  return dtype == graph::DT_FLOAT || dtype == graph::DT_DOUBLE || dtype == graph::DT_HALF ||
         dtype == graph::DT_BFLOAT16;
}

std::string bracketed(const graph::TensorShape& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += fmt::format("[{}]", size);
  return text;
}

std::string elements_text(std::string_view name, const Tensor& tensor) {
  std::string text;
  for (std::int64_t i = 0; i < tensor.NumElements(); ++i)
    text += fmt::format("{} {}\n", element_name(name, tensor.shape(), i), element_text(tensor, i));
  return text;
}

// The start of the first row: all but the last index are 0.
std::string slice_text(std::string_view name, const Tensor& tensor) {
  const int rank = tensor.dims();
  const std::int64_t count = std::min(tensor.dim_size(rank - 1), kSliceValues);
  std::string text(name);
  for (int axis = 0; axis + 1 < rank; ++axis) text += "[0]";
  text += fmt::format("[0:{}]", count);
  for (std::int64_t i = 0; i < count; ++i) text += " " + element_text(tensor, i);
  return text;
}

std::string summary_text(std::string_view name, const Tensor& tensor) {
  const TensorSummary summary = summary_of(tensor);
  const std::string_view number = is_floating(tensor.dtype()) ? "{:.6f}" : "{:.0f}";
  return fmt::format("elements   {}\nmin        {}\nmax        {}\nmean       {:.6f}\nNaN        {}\nslice      {}\n",
                     tensor.NumElements(), fmt::format(fmt::runtime(number), summary.min),
                     fmt::format(fmt::runtime(number), summary.max), summary.mean, summary.nan_count,
                     slice_text(name, tensor));
}

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json element_json(const Tensor& tensor, std::int64_t index) {
  if (tensor.dtype() == graph::DT_INT64) return static_cast<const std::int64_t*>(tensor.data())[index];
  if (tensor.dtype() == graph::DT_BOOL) return tensor.at(index) != 0;
  return is_floating(tensor.dtype()) ? number_json(tensor.at(index)) : Json(static_cast<int>(tensor.at(index)));
}

}  // namespace

TensorSummary summary_of(const Tensor& tensor) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  TensorSummary summary{kInfinity, -kInfinity, 0, 0};
  for (std::int64_t i = 0; i < tensor.NumElements(); ++i) {
    const double value = tensor.at(i);
    if (std::isnan(value)) {
      ++summary.nan_count;
      continue;
    }
    summary.min = std::min(summary.min, value);
    summary.max = std::max(summary.max, value);
    summary.mean += value;
  }
  const std::int64_t numbers = tensor.NumElements() - summary.nan_count;
  if (numbers == 0) return {kNan, kNan, kNan, summary.nan_count};
  summary.mean /= static_cast<double>(numbers);
  return summary;
}

std::string element_text(const Tensor& tensor, std::int64_t index) {
  if (tensor.dtype() == graph::DT_INT64)  // a double does not hold all of them
    return fmt::format("{}", static_cast<const std::int64_t*>(tensor.data())[index]);
  if (tensor.dtype() == graph::DT_BOOL) return tensor.at(index) != 0 ? "true" : "false";
  return is_floating(tensor.dtype()) ? fmt::format("{:.6f}", tensor.at(index))
                                     : fmt::format("{:.0f}", tensor.at(index));
}

std::string element_name(std::string_view name, const graph::TensorShape& shape, std::int64_t index) {
  std::string indices;
  for (int axis = shape.dims() - 1; axis >= 0; --axis) {
    indices.insert(0, fmt::format("[{}]", index % shape.dim_size(axis)));
    index /= shape.dim_size(axis);
  }
  return std::string(name) + indices;
}

std::string tensor_text(std::string_view node, std::string_view name, const Tensor& tensor) {
  const std::string caption = fmt::format("{}.{}{} {}\n", printable(node), name, bracketed(tensor.shape()),
                                          graph::DataTypeString(tensor.dtype()));
  if (tensor.NumElements() == 0) return caption + "no elements\n";
  return caption + (tensor.NumElements() <= kSmallTensor ? elements_text(name, tensor) : summary_text(name, tensor));
}

Json tensor_json(const Tensor& tensor) {
  const TensorSummary summary = summary_of(tensor);
  Json values = Json::array();
  for (std::int64_t i = 0; i < std::min(tensor.NumElements(), kSmallTensor); ++i)
    values.push_back(element_json(tensor, i));
  return {{"dtype", graph::DataTypeString(tensor.dtype())},
          {"shape", tensor.shape().dim_sizes()},
          {"elements", tensor.NumElements()},
          {"min", number_json(summary.min)},
          {"max", number_json(summary.max)},
          {"mean", number_json(summary.mean)},
          {"nan_count", summary.nan_count},
          {"values", values}};
}

}  // namespace convgrad::cli
