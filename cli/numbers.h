// Integers from text, with a sentence when it is none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convgrad/status.h"

namespace convgrad::cli {

using NumberList = std::vector<std::int64_t>;

// The value is of another type than the argument takes.
Status not_an_integer(std::string_view argument, std::string_view got, std::string_view wanted = "an integer");
// The value is an integer that 64 bits do not hold.
Status beyond_64_bits(std::string_view argument, std::string got);

Result<std::int64_t> parse_number(std::string_view argument, std::string_view text);
Result<std::uint64_t> parse_seed(std::string_view text);
// Finite and above 0.
Result<double> parse_positive(std::string_view argument, std::string_view text);
// "1,2,3"; empty text is an empty list.
Result<NumberList> parse_numbers(std::string_view argument, std::string_view text);

}  // namespace convgrad::cli
