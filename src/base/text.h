// Small pieces of text for error sentences.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace convgrad {

// Wide enough for any sum or product of two 64-bit sizes and a 32-bit stride.
__extension__ using Wide = __int128;

std::string to_text(Wide value);
std::string to_text(std::span<const std::int64_t> numbers);  // "[1,2,3]"

// Joins its arguments: strings as they are, integers in decimal.
inline std::string piece(std::string_view text) { return std::string(text); }
template <class Integer>
  requires std::is_integral_v<Integer>
std::string piece(Integer value) {
  return std::to_string(value);
}
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string text;
  ((text += piece(parts)), ...);
  return text;
}

}  // namespace convgrad
