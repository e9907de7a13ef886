// Small pieces of text for error sentences.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace convgrad {

// Wide enough for any sum or product of two 64-bit sizes and a 32-bit stride.
__extension__ using Wide = __int128;

std::string to_text(Wide value);
std::string to_text(std::span<const std::int64_t> numbers);  // "[1,2,3]"

// A part of a sentence: text as it is, an integer in decimal. It does not own its text.
class Piece {
 public:
  Piece(std::string_view text) : text_(text) {}    // NOLINT: all of these are pieces
  Piece(const std::string& text) : text_(text) {}  // NOLINT
  Piece(const char* text) : text_(text) {}         // NOLINT
  template <class Integer>
    requires std::is_integral_v<Integer>
  Piece(Integer value) : number_(value), is_number_(true) {}  // NOLINT

 private:
  friend std::string join(std::initializer_list<Piece> pieces);
  std::string_view text_ = {};
  Wide number_ = 0;
  bool is_number_ = false;
};

// One function for all sentences: written into each of their places, joining made half of the validator's code.
std::string join(std::initializer_list<Piece> pieces);

// At most the first `bytes`, without the pieces of a character that would be cut.
std::string_view beginning(std::string_view text, std::size_t bytes);

template <class... Parts>
std::string concat(const Parts&... parts) {
  return join({parts...});
}

}  // namespace convgrad
