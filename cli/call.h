// An op call filled from `OP key=value ...` words or from a case file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/numbers.h"
#include "convgrad/geometry.h"

namespace convgrad::cli {

// The list field of that name, made if it was absent; nullptr when there is none.
NumberList* list_field(OwnedCall& call, std::string_view name);
// padding or data_format; nullptr for another name.
std::string* text_field(OwnedCall& call, std::string_view name);
bool is_size_vector(std::string_view name);

// Whether a word is an op's name, or so near to one that its writer meant one.
bool resembles_op(std::string_view word);
Result<Op> find_op(std::string_view name);
Result<DType> find_dtype(std::string_view name);

// words[0] is the op, the others are key=value.
Result<OwnedCall> parse_call(std::span<const std::string> words);

}  // namespace convgrad::cli
