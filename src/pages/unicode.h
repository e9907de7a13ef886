// UTF-8, and UTF-16 as enuSpace writes it.
#pragma once

#include <optional>

#include "convgrad/graph/types.h"

namespace convgrad::graph {

// The offset of the first byte that is no UTF-8; npos when there is none.
std::size_t bad_utf8(std::string_view text);
void append_utf8(string& text, char32_t code);

// UTF-8 of a text that starts with a byte order mark of UTF-16, either order; other texts as they are. No value for
// half a character or a lone surrogate.
std::optional<string> to_utf8(std::string_view bytes);
// UTF-16LE with its mark. The text is UTF-8.
string to_utf16(std::string_view text);

}  // namespace convgrad::graph
