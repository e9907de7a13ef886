// "Did you mean": the nearest known name to a mistyped one, for every face that takes names.
#ifndef CONVGRAD_NEAREST_H_
#define CONVGRAD_NEAREST_H_

#include <span>
#include <string>
#include <string_view>

#include "convgrad/export.h"

namespace convgrad {

// Letters to change, insert or delete between two names, capitals aside.
CONVGRAD_API std::size_t edit_distance(std::string_view a, std::string_view b);

// Null when none is near: more than a third of the word (at least two letters) to change, or nothing of it kept.
CONVGRAD_API const std::string* nearest_name(std::string_view word, std::span<const std::string> known);

}  // namespace convgrad

#endif  // CONVGRAD_NEAREST_H_
