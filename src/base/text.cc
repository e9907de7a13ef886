#include "base/text.h"

#include <algorithm>

namespace convgrad {

std::string to_text(Wide value) {
  const bool negative = value < 0;
  std::string digits;
  do {
    const int digit = static_cast<int>(value % 10);
    digits.push_back(static_cast<char>('0' + (digit < 0 ? -digit : digit)));
    value /= 10;
  } while (value != 0);
  if (negative) digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string to_text(std::span<const std::int64_t> numbers) {
  constexpr std::size_t kShown = 16;  // keeps a hostile list from filling the sentence
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(numbers.size(), kShown); ++i) {
    if (i > 0) text += ",";
    text += std::to_string(numbers[i]);
  }
  if (numbers.size() > kShown) text += ",...";
  return text + "]";
}

std::string_view beginning(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  while (bytes > 0 && continues(bytes)) --bytes;
  return text.substr(0, bytes);
}

std::string join(std::initializer_list<Piece> pieces) {
  std::string text;
  for (const Piece& piece : pieces) {
    if (piece.is_number_)
      text += to_text(piece.number_);
    else
      text += piece.text_;
  }
  return text;
}

}  // namespace convgrad
