// nlohmann's values with a sentence for each wrong one.
#include "cli/json_fields.h"

#include <fmt/core.h>

#include <cmath>

#include "cli/answer.h"
#include "convgrad/geometry.h"

namespace convgrad::cli {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 32;  // a case is four deep

}  // namespace

Status not_of_form(const JsonForm& form, std::string reason, std::string got) {
  return complain({.rule = "problem-string",
                   .argument = form.argument,
                   .reason = std::move(reason),
                   .got = std::move(got),
                   .wanted = std::string(form.wanted)});
}

// Deep text is read without being kept, so that it costs no memory.
Result<json> parse_json(const JsonForm& form, std::string_view text) {
  bool too_deep = false;
  const auto shallow = [&](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > kMaxDepth;
    return depth <= kMaxDepth;
  };
  try {
    json root = json::parse(text, shallow);
    if (too_deep)
      return not_of_form(form, "the JSON is nested too deep", fmt::format("more than {} levels", kMaxDepth));
    return root;
  } catch (const json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, ...": the number is of no use here.
    const std::string_view what = error.what();
    const std::size_t end = what.find("] ");
    const std::string_view reason = end == std::string_view::npos ? what : what.substr(end + 2);
    return not_of_form(form, "the text is not JSON", in_quotes(printable(reason)));
  }
}

const json* member(const json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string shown(const json& value) {
  if (value.is_structured()) return fmt::format("an {}", value.type_name());
  return shortened(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

Status wrong_type(std::string_view argument, const json& got, std::string_view wanted) {
  return convgrad::wrong_type(argument, shown(got), wanted);
}

Result<std::int64_t> number_of(std::string_view argument, const json& value) {
  constexpr double kTwo63 = 0x1p63;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() >= std::uint64_t{1} << 63)
    return beyond_64_bits(argument, shown(value));
  if (value.is_number_integer()) return value.get<std::int64_t>();
  // The JSON reader keeps an integer of more than 64 bits as a float.
  if (value.is_number_float() && std::abs(value.get<double>()) >= kTwo63) return beyond_64_bits(argument, shown(value));
  return not_an_integer(argument, shown(value));
}

Result<NumberList> numbers_of(std::string_view argument, const json& value) {
  if (!value.is_array()) return wrong_type(argument, value, "a list of integers");
  NumberList numbers;
  for (const json& entry : value) {
    const Result<std::int64_t> number = number_of(argument, entry);
    if (!number.ok()) return number.status();
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace convgrad::cli
