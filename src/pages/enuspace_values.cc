// enuSpace's texts: shapes, numbers, attribute lists.
#include <algorithm>
#include <charconv>
#include <cstring>

#include "pages/attr_json.h"
#include "pages/enuspace.h"

namespace convgrad::graph {
namespace {

convgrad::Status bad_value(const EnuPin& pin, string reason, string got, string wanted) {
  return refuse("enuSpace", {.rule = Rule::graph_file,
                             .argument = pin.name,
                             .reason = std::move(reason),
                             .got = std::move(got),
                             .wanted = std::move(wanted)});
}

constexpr std::string_view kBetween = ",;{} \t\r\n";

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const auto start = text.find_first_not_of(kBetween);
    if (start == std::string_view::npos) return words;
    text.remove_prefix(start);
    const auto end = std::min(text.find_first_of(kBetween), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// A number or a bool; null when it is neither.
Json element_of(std::string_view word, DataType type) {
  if (type == DT_BOOL) {
    if (word == "true" || word == "1") return true;
    if (word == "false" || word == "0") return false;
    return {};
  }
  const char* last = word.data() + word.size();
  int64 whole = 0;
  double number = 0;
  if (const auto [end, error] = std::from_chars(word.data(), last, whole); error == std::errc() && end == last) {
    if (whole != 0 || word.front() != '-') return whole;
  }
  const auto [end, error] = std::from_chars(word.data(), last, number);
  return error == std::errc() && end == last ? Json(number) : Json();
}

// {{1,5},{15,12}} is [2,2]: entries at every depth of the first branch. The count of elements is compared later.
Shape nested_shape(std::string_view text) {
  Shape shape;
  std::vector<int64> entries;  // so far, of every open brace
  bool word = false;
  const auto close = [&](std::size_t depth) {
    if (shape.size() < depth + 1) shape.resize(depth + 1, -1);
    if (shape[depth] < 0) shape[depth] = entries[depth];
  };
  for (const char c : text) {
    const bool between = kBetween.find(c) != std::string_view::npos;
    if (!between && !word && !entries.empty()) ++entries.back();
    word = !between;
    if (c == '{') {
      if (!entries.empty()) ++entries.back();
      if (entries.size() < 32) entries.push_back(0);
    } else if (c == '}' && !entries.empty()) {
      close(entries.size() - 1);
      entries.pop_back();
    }
  }
  return shape;
}

convgrad::Status wrong_count(const EnuPin& pin, std::size_t got, const Shape& shape) {
  return refuse("enuSpace", {.rule = Rule::element_count,
                             .argument = pin.name,
                             .reason = "the number of elements is not the shape's",
                             .got = concat(got, " elements"),
                             .wanted = concat(convgrad::to_text(shape), " of them")});
}

Result<Tensor> read_text(const EnuValue& value, const Shape& shape) {
  const std::vector<std::string_view> words = words_of(value.pin.initial);
  const Result<int64> count = element_count(shape);
  if (!count.ok() || *count != static_cast<int64>(words.size())) return wrong_count(value.pin, words.size(), shape);
  Result<Tensor> tensor = Tensor::make(value.type, shape);
  for (std::size_t i = 0; tensor.ok() && i < words.size(); ++i) {
    if (!set_element(*tensor, static_cast<int64>(i), element_of(words[i], value.type)))
      return bad_value(value.pin, concat("element ", i, " cannot be read"), shown(words[i]),
                       DataTypeString(value.type));
  }
  return tensor;
}

Result<Tensor> read_binary(const EnuValue& value, const Shape& shape, std::string_view dat) {
  std::size_t position = 0;
  const string& text = value.pin.position;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), position);
  if (error != std::errc() || end != text.data() + text.size())
    return bad_value(value.pin, "the position in the .dat file cannot be read", shown(text), "a number of bytes");
  const Result<int64> count = element_count(shape);
  const std::size_t each = data_type_info(value.type)->bytes, left = dat.size() - std::min(position, dat.size());
  if (!count.ok() || static_cast<std::uint64_t>(*count) > left / each)
    return bad_value(value.pin, "the .dat file is too short", concat(left, " bytes from ", position),
                     concat(convgrad::to_text(shape), " of ", each, " bytes"));
  Result<Tensor> tensor = Tensor::make(value.type, shape);
  if (!tensor.ok()) return tensor;
  const auto bytes = static_cast<std::size_t>(tensor->TotalBytes());
  if (bytes > 0) std::memcpy(tensor->data(), dat.data() + position, bytes);
  auto* flags = static_cast<unsigned char*>(tensor->data());
  if (value.type == DT_BOOL) std::transform(flags, flags + bytes, flags, [](unsigned char flag) { return flag != 0; });
  return tensor;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n"), last = text.find_last_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : text.substr(first, last - first + 1);
}

// The end of the pair that starts the text: its ";" outside braces.
std::size_t pair_end(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}') --depth;
    if (text[i] == ';' && depth <= 0) return i;
  }
  return text.size();
}

bool all_ones(const AttrValue& value) {
  const auto& numbers = std::get<std::vector<int64>>(value);
  return std::all_of(numbers.begin(), numbers.end(), [](int64 number) { return number == 1; });
}

// enuSpace's 2-D blocks come with `dialtions_ = {1,1,1,1}`, which it never reads. Ones change nothing. Other numbers
// did nothing there either, and were meant to: whoever wrote them must say which.
convgrad::Status check_misspelt(const OpSpec& op, std::string_view value) {
  const Result<AttrValue> dilations = parse_attr(op, "dilations", value);
  if (!dilations.ok()) return dilations.status();
  if (all_ones(*dilations)) return {};
  return refuse(op.name, {.rule = Rule::graph_attr,
                          .argument = "dilations",
                          .reason = "attrs says 'dialtions_', which enuSpace does not read",
                          .got = shown(value),
                          .wanted = "dilations_ to dilate, or ones"});
}

convgrad::Status read_pair(const OpSpec& op, std::string_view pair, AttrMap& attrs) {
  const auto equals = pair.find('=');
  const std::string_view left = trimmed(pair.substr(0, equals));
  if (equals == std::string_view::npos || left.empty())
    return refuse(op.name, {.rule = Rule::graph_attr,
                            .argument = "attrs",
                            .reason = "the text of attrs cannot be read",
                            .got = shown(pair),
                            .wanted = "name_ = value;"});
  std::string_view value = trimmed(pair.substr(equals + 1));
  const string name(left.ends_with('_') ? left.substr(0, left.size() - 1) : left);
  if (name == "dialtions" && op.attr("dilations") != nullptr) return check_misspelt(op, value);
  const AttrSpec* spec = op.attr(name);
  if (spec == nullptr || spec->from_inputs || !spec->fallback) return unknown_attr(op, string(left));
  // The default of enuSpace's 3-D blocks, which TensorFlow takes from nobody: channels last is what it means.
  if (name == "data_format" && value == "NHWC" && same_value(*spec->fallback, AttrValue(string("NDHWC"))))
    value = "NDHWC";
  Result<AttrValue> read = parse_attr(op, name, value);
  if (!read.ok()) return read.status();
  if (attrs.emplace(name, std::move(*read)).second) return {};
  return refuse(op.name, {.rule = Rule::graph_attr,
                          .argument = name,
                          .reason = concat("attrs says '", left, "' twice"),
                          .got = shown(pair),
                          .wanted = "every name once"});
}

}  // namespace

std::optional<DataType> enu_type(std::string_view name) {
  if (name == "int") return DT_INT32;
  return data_type_from_name(name);
}

Result<Shape> read_shape(std::string_view text) {
  const Result<AttrValue> shape = parse_attr(*find_graph_op("Placeholder"), "shape", text);
  if (!shape.ok()) return shape.status();
  return std::get<PartialTensorShape>(*shape).sizes();
}

Result<Tensor> read_value(const EnuValue& value, std::string_view dat) {
  const Shape shape = value.shape ? *value.shape : nested_shape(value.pin.initial);
  return value.pin.save == "binary" ? read_binary(value, shape, dat) : read_text(value, shape);
}

convgrad::Status read_attrs_text(const OpSpec& op, std::string_view text, AttrMap& attrs) {
  while (!text.empty()) {
    const std::size_t end = pair_end(text);
    const std::string_view pair = trimmed(text.substr(0, end));
    if (!pair.empty()) CONVGRAD_RETURN_IF_ERROR(read_pair(op, pair, attrs));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

}  // namespace convgrad::graph
