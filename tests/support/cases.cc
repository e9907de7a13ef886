#include "support/cases.h"

#include <algorithm>
#include <fstream>

#include "support/problems.h"

namespace convgrad::test {
namespace {

std::optional<Shape> shape_or_none(const nlohmann::json& c, const char* key) {
  if (!c.contains(key) || c[key].is_null()) return std::nullopt;
  return c[key].get<Shape>();
}

void read_sizes(const nlohmann::json& value, OwnedCall& call) {
  call.sizes_rank = value.is_array() ? 1 : 0;
  call.sizes = value.is_array() ? value.get<Shape>() : Shape{value.get<std::int64_t>()};
}

// What the Python functions take as padding: a list of pairs stands for EXPLICIT.
void read_python_padding(const nlohmann::json& pairs, OwnedCall& call) {
  call.padding = "EXPLICIT";
  for (const auto& pair : pairs) {
    for (const auto& value : pair) call.explicit_paddings.push_back(value.get<std::int64_t>());
  }
}

// [n, spatial..., c] to [n, c, spatial...] or back, for shapes and per-dimension lists.
Shape moved(Shape list, bool to_first) {
  if (list.size() < 3) return list;
  if (to_first) {
    std::rotate(list.begin() + 1, list.end() - 1, list.end());
  } else {
    std::rotate(list.begin() + 1, list.begin() + 2, list.end());
  }
  return list;
}

Shape moved_pairs(const Shape& pairs, bool to_first) {
  Shape before, after, result;
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    before.push_back(pairs[i]);
    after.push_back(pairs[i + 1]);
  }
  before = moved(before, to_first);
  after = moved(after, to_first);
  for (std::size_t i = 0; i < before.size(); ++i) {
    result.push_back(before[i]);
    result.push_back(after[i]);
  }
  return result;
}

bool channels_first(const std::string& data_format) { return data_format[1] == 'C'; }

}  // namespace

nlohmann::json load(const std::string& file) {
  std::ifstream stream(std::string(CONVGRAD_TEST_DATA) + "/" + file);
  return nlohmann::json::parse(stream);
}

std::vector<nlohmann::json> cases_of(const std::string& file) {
  return load(file)["cases"].get<std::vector<nlohmann::json>>();
}

OwnedCall call_of_case(const nlohmann::json& c) {
  OwnedCall call;
  call.op = op_from_name(c["op"].get<std::string>()).value();
  call.dtype = dtype_from_name(c["dtypes"][0].get<std::string>()).value();
  call.input = shape_or_none(c, "input_shape");
  call.filter = shape_or_none(c, "filter_shape");
  call.out_backprop = shape_or_none(c, "out_backprop_shape");
  if (!c["sizes"].is_null()) read_sizes(c["sizes"], call);
  call.strides = c["strides"].get<Shape>();
  call.dilations = c["dilations"].get<Shape>();
  call.explicit_paddings = c["explicit_paddings"].get<Shape>();
  call.data_format = c["data_format"].get<std::string>();
  if (c.contains("python_padding")) {
    read_python_padding(c["python_padding"], call);
  } else {
    call.padding = c["padding"].get<std::string>();
  }
  return call;
}

OwnedCall call_of_hostile(const nlohmann::json& c) {
  OwnedCall call;
  call.op = op_from_name(c["op"].get<std::string>()).value();
  call.dtype = dtype_from_name(c["dtype"].get<std::string>()).value();
  const nlohmann::json& shapes = c["tensor_shapes"];
  call.input = shape_or_none(shapes, "input");
  call.filter = shape_or_none(shapes, "filter");
  call.out_backprop = shape_or_none(shapes, "out_backprop");
  for (const char* key : {"filter_sizes", "input_sizes"}) {
    if (!c.contains(key)) continue;
    read_sizes(c[key]["value"], call);
    call.sizes_rank = static_cast<int>(c[key]["shape"].size());
  }
  const nlohmann::json& attrs = c["attrs"];
  call.strides = attrs["strides"].get<Shape>();
  call.dilations = attrs["dilations"].get<Shape>();
  call.explicit_paddings = attrs["explicit_paddings"].get<Shape>();
  call.padding = attrs["padding"].get<std::string>();
  call.data_format = c["data_format"].get<std::string>();
  return call;
}

OwnedCall in_layout(OwnedCall call, const std::string& data_format) {
  if (call.data_format == data_format) return call;
  const bool to_first = channels_first(data_format);
  if (call.input) call.input = moved(*call.input, to_first);
  if (call.out_backprop) call.out_backprop = moved(*call.out_backprop, to_first);
  if (info(call.op).direction == Direction::input_grad && call.sizes.size() > 2)
    call.sizes = moved(call.sizes, to_first);
  call.strides = moved(call.strides, to_first);
  call.dilations = moved(call.dilations, to_first);
  call.explicit_paddings = moved_pairs(call.explicit_paddings, to_first);
  call.data_format = data_format;
  return call;
}

Tensor constructed(const nlohmann::json& rule, DType dtype, const Shape& shape) {
  const std::string name = rule["rule"].get<std::string>();
  Tensor tensor = Tensor::zeros(dtype, shape).value();
  const auto count = static_cast<double>(tensor.size());
  Random random(7);
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const auto k = static_cast<double>(i);
    double value = 0;
    if (name == "iota1") value = k + 1;
    if (name == "iota1_over_n") value = (k + 1) / count;
    if (name == "iota0_over_n") value = k / count;
    if (name == "constant") value = rule["value"].get<double>();
    if (name == "random_uniform_pm1") value = 2 * random.unit() - 1;
    if (name == "random_uniform_01") value = random.unit();
    set(tensor, i, value);
  }
  return tensor;
}

}  // namespace convgrad::test
