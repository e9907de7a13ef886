// std::from_chars with a sentence.
#include "cli/numbers.h"

#include <charconv>
#include <cmath>

#include "cli/answer.h"
#include "convgrad/geometry.h"

namespace convgrad::cli {
namespace {

template <class Integer>
Result<Integer> parse_integer(std::string_view argument, std::string_view text) {
  Integer value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || stop != text.data() + text.size())
    return not_an_integer(argument, in_quotes(text));
  if (error == std::errc::result_out_of_range) return beyond_64_bits(argument, shortened(text));
  return value;
}

}  // namespace

Status not_an_integer(std::string_view argument, std::string_view got, std::string_view wanted) {
  return wrong_type(argument, got, wanted);
}

Status beyond_64_bits(std::string_view argument, std::string got) {
  const std::string_view rule = argument == "strides"     ? "stride-range"
                                : argument == "dilations" ? "dilation-range"
                                                          : "overflow";
  return complain({.rule = rule,
                   .argument = argument,
                   .reason = std::string(argument) + " has a number that 64 bits do not hold",
                   .got = std::move(got),
                   .wanted = "a 64-bit number"});
}

Result<std::int64_t> parse_number(std::string_view argument, std::string_view text) {
  return parse_integer<std::int64_t>(argument, text);
}

Result<std::uint64_t> parse_seed(std::string_view text) {
  if (text.starts_with('-')) return not_an_integer("--seed", in_quotes(text), "an integer of 0 or more");
  return parse_integer<std::uint64_t>("--seed", text);
}

Result<double> parse_positive(std::string_view argument, std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || !std::isfinite(value) || value <= 0)
    return wrong_type(argument, in_quotes(text), "a number above 0");
  return value;
}

Result<NumberList> parse_numbers(std::string_view argument, std::string_view text) {
  NumberList numbers;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const Result<std::int64_t> number = parse_number(argument, text.substr(0, comma));
    if (!number.ok()) return number.status();
    numbers.push_back(*number);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return not_an_integer(argument, "nothing after the last comma");
  }
  return numbers;
}

}  // namespace convgrad::cli
