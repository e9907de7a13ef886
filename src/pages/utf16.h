// enuSpace writes UTF-16 with a byte order mark.
#pragma once

#include <optional>

#include "convgrad/graph/types.h"

namespace convgrad::graph {

// UTF-8 of a text that starts with a byte order mark of UTF-16, either order; other texts as they are. No value for
// half a character or a lone surrogate.
std::optional<string> to_utf8(std::string_view bytes);
// UTF-16LE with its mark. The text is UTF-8.
string to_utf16(std::string_view text);

}  // namespace convgrad::graph
