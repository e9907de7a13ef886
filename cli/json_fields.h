// JSON that a user wrote, read field by field. It may be anything: every access looks at the type
// first, and no value of unknown depth is copied or printed, which would recurse.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/numbers.h"

namespace convgrad::cli {

// What the text was meant to be: the argument that gave it, and its right form in words.
struct JsonForm {
  std::string_view argument;
  std::string_view wanted;
};

Status not_of_form(const JsonForm& form, std::string reason, std::string got);
// Refuses text that is no JSON, or JSON nested deeper than any form of ours.
Result<nlohmann::json> parse_json(const JsonForm& form, std::string_view text);

// nullptr when the object has no such key.
const nlohmann::json* member(const nlohmann::json& object, std::string_view key);
// A value as a message shows it.
std::string shown(const nlohmann::json& value);
Status wrong_type(std::string_view argument, const nlohmann::json& got, std::string_view wanted);

Result<std::int64_t> number_of(std::string_view argument, const nlohmann::json& value);
Result<NumberList> numbers_of(std::string_view argument, const nlohmann::json& value);

}  // namespace convgrad::cli
