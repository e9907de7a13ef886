// What only a terminal gets. Files and pipes get plain text.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace convgrad::cli {

bool is_terminal(std::FILE* stream);
// A terminal that is not TERM=dumb, unless NO_COLOR is set to anything (no-color.org).
bool has_colour(std::FILE* stream);

enum class Colour { red, green };
// The text as it is where the stream has no colour.
std::string coloured(Colour colour, std::string_view text, std::FILE* stream);

}  // namespace convgrad::cli
