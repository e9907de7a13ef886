#include "pages/utf16.h"

#include "pages/json.h"

namespace convgrad::graph {
namespace {

bool is_high(char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

char32_t byte_at(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

void append_unit(string& out, char32_t unit) {
  out += static_cast<char>(unit & 0xFF);
  out += static_cast<char>(unit >> 8);
}

// The character that starts at `at`, which moves behind it.
char32_t take_utf8(std::string_view text, std::size_t& at) {
  const char32_t lead = byte_at(text, at++);
  const int more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  char32_t code = more == 0 ? lead : lead & (0x3Fu >> more);
  for (int i = 0; i < more; ++i) code = code << 6 | (byte_at(text, at++) & 0x3F);
  return code;
}

}  // namespace

std::optional<string> to_utf8(std::string_view bytes) {
  const bool little = bytes.starts_with("\xFF\xFE"), big = bytes.starts_with("\xFE\xFF");
  if (!little && !big) return string(bytes);
  if (bytes.size() % 2 != 0) return std::nullopt;
  const auto unit = [&](std::size_t at) {
    return little ? byte_at(bytes, at) | byte_at(bytes, at + 1) << 8 : byte_at(bytes, at) << 8 | byte_at(bytes, at + 1);
  };
  string text;
  for (std::size_t at = 2; at < bytes.size(); at += 2) {
    char32_t code = unit(at);
    if (is_low(code)) return std::nullopt;
    if (is_high(code)) {
      at += 2;
      if (at >= bytes.size() || !is_low(unit(at))) return std::nullopt;
      code = 0x10000 + ((code - 0xD800) << 10) + (unit(at) - 0xDC00);
    }
    append_utf8(text, code);
  }
  return text;
}

string to_utf16(std::string_view text) {
  string out = "\xFF\xFE";
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code = take_utf8(text, at);
    if (code < 0x10000) {
      append_unit(out, code);
    } else {
      append_unit(out, 0xD800 + ((code - 0x10000) >> 10));
      append_unit(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
    }
  }
  return out;
}

}  // namespace convgrad::graph
