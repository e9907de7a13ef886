// From words to an op call. Only the form is looked at here; validate() judges the values.
#include "cli/call.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "cli/answer.h"
#include "cli/suggest.h"

namespace convgrad::cli {
namespace {

constexpr std::string_view kScalar = "scalar:";

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const OpInfo& row : all_ops()) names.emplace_back(row.name);
  return names;
}

std::vector<std::string> keys_of(Op op) {
  std::vector<std::string> keys = {"dtype"};
  for (std::string_view argument : tensor_arguments(info(op).direction)) keys.emplace_back(argument);
  for (const char* attribute : {"strides", "dilations", "padding", "explicit_paddings", "data_format"})
    keys.emplace_back(attribute);
  return keys;
}

Status unknown_key(Op op, std::string_view key) {
  const std::vector<std::string> keys = keys_of(op);
  return complain(
      {.rule = "problem-string",
       .argument = "check",
       .reason = fmt::format("{} has no argument {}{}", info(op).name, in_quotes(key), did_you_mean(key, keys)),
       .got = in_quotes(key),
       .wanted = fmt::format("{}", fmt::join(keys, ", "))});
}

Status set_sizes(OwnedCall& call, std::string_view name, std::string_view text) {
  const bool scalar = text.starts_with(kScalar);
  if (scalar) text.remove_prefix(kScalar.size());
  Result<NumberList> numbers = parse_numbers(name, text);
  if (!numbers.ok()) return numbers.status();
  call.sizes = std::move(*numbers);
  call.sizes_rank = scalar ? 0 : 1;
  return {};
}

Status set_field(OwnedCall& call, std::string_view key, std::string_view text) {
  if (key == "dtype") {
    const Result<DType> dtype = find_dtype(text);
    if (dtype.ok()) call.dtype = *dtype;
    return dtype.status();
  }
  if (is_size_vector(key)) return set_sizes(call, key, text);
  if (std::string* field = text_field(call, key)) {
    *field = text;
    return {};
  }
  Result<NumberList> numbers = parse_numbers(key, text);
  if (numbers.ok()) *list_field(call, key) = std::move(*numbers);
  return numbers.status();
}

Status set_word(OwnedCall& call, std::string_view word, std::set<std::string_view>& seen) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    return complain({.rule = "problem-string",
                     .argument = "check",
                     .reason = "an op's arguments are written key=value",
                     .got = in_quotes(word),
                     .wanted = "e.g. strides=1,2,2,1"});
  }
  const std::string_view key = word.substr(0, equals);
  const std::vector<std::string> keys = keys_of(call.op);
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) return unknown_key(call.op, key);
  if (!seen.insert(key).second) {
    return complain({.rule = "problem-string",
                     .argument = key,
                     .reason = fmt::format("{} is given twice", key),
                     .got = in_quotes(word),
                     .wanted = "each argument once"});
  }
  return set_field(call, key, word.substr(equals + 1));
}

}  // namespace

NumberList* list_field(OwnedCall& call, std::string_view name) {
  if (name == "input") return &call.input.emplace();
  if (name == "filter") return &call.filter.emplace();
  if (name == "out_backprop") return &call.out_backprop.emplace();
  if (name == "strides") return &call.strides;
  if (name == "dilations") return &call.dilations;
  if (name == "explicit_paddings") return &call.explicit_paddings;
  return nullptr;
}

std::string* text_field(OwnedCall& call, std::string_view name) {
  if (name == "padding") return &call.padding;
  return name == "data_format" ? &call.data_format : nullptr;
}

bool is_size_vector(std::string_view name) { return name == "input_sizes" || name == "filter_sizes"; }

bool resembles_op(std::string_view word) { return op_from_name(word) || !did_you_mean(word, op_names()).empty(); }

Result<Op> find_op(std::string_view name) {
  if (const std::optional<Op> op = op_from_name(name)) return *op;
  const std::vector<std::string> names = op_names();
  return complain({.rule = "op-name",
                   .argument = "op",
                   .reason = fmt::format("there is no op {}{}", in_quotes(name), did_you_mean(name, names)),
                   .got = in_quotes(name),
                   .wanted = fmt::format("{}", fmt::join(names, ", "))});
}

Result<DType> find_dtype(std::string_view name) {
  if (const std::optional<DType> dtype = dtype_from_name(name)) return *dtype;
  std::vector<std::string> names;
  for (const DTypeInfo& row : all_dtypes()) names.emplace_back(row.numpy_name);
  return complain({.rule = "dtype",
                   .argument = "dtype",
                   .reason = fmt::format("there is no element type {}{}", in_quotes(name), did_you_mean(name, names)),
                   .got = in_quotes(name),
                   .wanted = fmt::format("{}", fmt::join(names, ", "))});
}

Result<OwnedCall> parse_call(std::span<const std::string> words) {
  const Result<Op> op = find_op(words[0]);
  if (!op.ok()) return op.status();
  OwnedCall call = OwnedCall::of(*op);
  std::set<std::string_view> seen;
  for (const std::string& word : words.subspan(1)) CONVGRAD_RETURN_IF_ERROR(set_word(call, word, seen));
  return call;
}

}  // namespace convgrad::cli
