#include "studio/server/tensors.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "cli/numbers.h"
#include "convgrad/graph/page.h"

namespace convgrad::studio {
namespace {

using graph::Tensor;

constexpr int kBins = 32;
constexpr std::int64_t kWhole = -1;  // all of an axis

Json finite_json(double number) { return std::isfinite(number) ? Json(number) : Json(); }

// What JSON has no number for as page files write it.
Json number_json(double number) {
  return std::isfinite(number) ? Json(number) : Json(graph::element_text(Tensor(number), 0));
}

struct Stats {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;
  std::int64_t nan = 0, inf = 0, finite = 0;
};

// Every element as a double. By its type: Tensor::at looks at the type of each anew.
template <class Each>
void for_each_value(const Tensor& tensor, const Each& each) {
  const graph::DataTypeInfo* type = graph::data_type_info(tensor.dtype());
  if (type == nullptr || !type->computes) {
    for (std::int64_t i = 0; i < tensor.NumElements(); ++i) each(tensor.at(i));
    return;
  }
  graph::visit(tensor.dtype(), [&]<class T>(T) {
    const T* values = static_cast<const T*>(tensor.data());
    for (std::int64_t i = 0; i < tensor.NumElements(); ++i) each(static_cast<double>(values[i]));
  });
}

Stats stats_of(const Tensor& tensor) {
  Stats stats;
  for_each_value(tensor, [&](double value) {
    stats.nan += std::isnan(value) ? 1 : 0;
    stats.inf += std::isinf(value) ? 1 : 0;
    if (!std::isfinite(value)) return;
    ++stats.finite;
    stats.min = std::min(stats.min, value);
    stats.max = std::max(stats.max, value);
    stats.sum += value;
  });
  return stats;
}

Json histogram_json(const Tensor& tensor, const Stats& stats) {
  std::vector<std::int64_t> counts(kBins, 0);
  // Halves, so that the width of all doubles is one, too.
  const double width = stats.max / 2 - stats.min / 2;
  for_each_value(tensor, [&](double value) {
    if (!std::isfinite(value)) return;
    const double place = width > 0 ? (value / 2 - stats.min / 2) / width : 0;
    ++counts[static_cast<std::size_t>(std::min(kBins - 1, static_cast<int>(place * kBins)))];
  });
  return {{"from", stats.min}, {"to", stats.max}, {"counts", counts}};
}

Status refused_at(std::string_view at, std::string reason, const graph::TensorShape& shape) {
  return cli::complain({.rule = "graph-fetch",
                        .argument = "at",
                        .reason = std::move(reason),
                        .got = cli::in_quotes(cli::printable(at)),
                        .wanted = fmt::format("one index or ':' an axis of {}", shape.DebugString())});
}

Result<std::vector<std::int64_t>> places_of(const graph::TensorShape& shape, std::string_view at) {
  if (at.empty()) return std::vector<std::int64_t>(static_cast<std::size_t>(shape.dims()), kWhole);
  std::vector<std::int64_t> places;
  for (std::string_view rest = at; !rest.empty() || places.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, comma);
    const Result<std::int64_t> place = word == ":" ? kWhole : cli::parse_number("at", word);
    if (!place.ok()) return place.status();
    const auto axis = static_cast<int>(places.size());
    if (axis >= shape.dims()) return refused_at(at, "there are more indices than axes", shape);
    if (word != ":" && (*place < 0 || *place >= shape.dim_size(axis)))
      return refused_at(at, fmt::format("index {} is outside of axis {}", *place, axis), shape);
    places.push_back(*place);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (static_cast<int>(places.size()) != shape.dims())
    return refused_at(at, "there are fewer indices than axes", shape);
  return places;
}

// Element `number` of the slice, in the row-major order of its free axes.
std::int64_t element_of(const graph::TensorShape& shape, const std::vector<std::int64_t>& places, std::int64_t number) {
  std::int64_t flat = 0, stride = 1;
  for (int axis = shape.dims() - 1; axis >= 0; --axis) {
    const std::int64_t place = places[static_cast<std::size_t>(axis)], size = shape.dim_size(axis);
    flat += stride * (place == kWhole ? number % size : place);
    if (place == kWhole) number /= size;
    stride *= size;
  }
  return flat;
}

}  // namespace

std::vector<std::int64_t> coordinates(const graph::TensorShape& shape, std::int64_t index) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(shape.dims()));
  for (int axis = shape.dims() - 1; axis >= 0; --axis) {
    at[static_cast<std::size_t>(axis)] = index % shape.dim_size(axis);
    index /= shape.dim_size(axis);
  }
  return at;
}

std::int64_t flat_index(const graph::TensorShape& shape, const std::vector<std::int64_t>& coordinates) {
  if (static_cast<int>(coordinates.size()) != shape.dims()) return -1;
  std::int64_t flat = 0;
  for (int axis = 0; axis < shape.dims(); ++axis) {
    const std::int64_t place = coordinates[static_cast<std::size_t>(axis)];
    if (place < 0 || place >= shape.dim_size(axis)) return -1;
    flat = flat * shape.dim_size(axis) + place;
  }
  return flat;
}

Json stats_json(const Tensor& tensor) {
  const Stats stats = stats_of(tensor);
  const bool any = stats.finite > 0;
  Json json = {{"min", any ? Json(stats.min) : Json()},
               {"max", any ? Json(stats.max) : Json()},
               {"mean", any ? finite_json(stats.sum / static_cast<double>(stats.finite)) : Json()},
               {"nan", stats.nan},
               {"inf", stats.inf},
               {"count", tensor.NumElements()}};
  if (any) json["histogram"] = histogram_json(tensor, stats);
  return json;
}

Json head_json(const Tensor& tensor, std::int64_t count) {
  Json texts = Json::array();
  for (std::int64_t i = 0; i < std::min(count, tensor.NumElements()); ++i)
    texts.push_back(graph::element_text(tensor, i));
  return texts;
}

Result<Json> slice_json(const Tensor& tensor, std::string_view at, std::int64_t limit) {
  const graph::TensorShape& shape = tensor.shape();
  const Result<std::vector<std::int64_t>> places = places_of(shape, at);
  if (!places.ok()) return places.status();
  std::int64_t total = 1;
  std::string words;
  Json data = Json::array();
  for (int axis = 0; axis < shape.dims(); ++axis) {
    const std::int64_t place = (*places)[static_cast<std::size_t>(axis)];
    if (place == kWhole) total *= shape.dim_size(axis);
    words += fmt::format("{}{}", axis == 0 ? "" : ",", place == kWhole ? ":" : std::to_string(place));
  }
  for (std::int64_t i = 0; i < std::min(total, limit); ++i)
    data.push_back(graph::element_text(tensor, element_of(shape, *places, i)));
  return Json{{"dtype", graph::DataTypeString(tensor.dtype())},
              {"shape", shape.dim_sizes()},
              {"at", words},
              {"data", data},
              {"total", total}};
}

Result<Json> difference_json(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape())
    return cli::complain({.rule = "graph-shape",
                          .argument = "b",
                          .reason = "the tensors have not the same type and shape",
                          .got = graph::DataTypeString(b.dtype()) + b.shape().DebugString(),
                          .wanted = graph::DataTypeString(a.dtype()) + a.shape().DebugString()});
  double largest = 0, sum = 0;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < a.NumElements(); ++i) {
    const bool same = a.at(i) == b.at(i) || (std::isnan(a.at(i)) && std::isnan(b.at(i)));
    const double one = same ? 0 : std::abs(a.at(i) - b.at(i));
    sum += one;
    if (one > largest || (std::isnan(one) && !std::isnan(largest))) {
      largest = one;
      at = i;
    }
  }
  const auto bytes = static_cast<std::size_t>(a.TotalBytes());
  const bool any = a.NumElements() > 0;
  return Json{{"max", number_json(largest)},
              {"at", any ? Json(coordinates(a.shape(), at)) : Json()},
              {"mean", any ? number_json(sum / static_cast<double>(a.NumElements())) : Json(0)},
              {"equal_bits", bytes == 0 || std::memcmp(a.data(), b.data(), bytes) == 0}};
}

}  // namespace convgrad::studio
