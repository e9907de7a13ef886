#include "pages/unicode.h"

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

std::size_t bad_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t more = lead < 0x80   ? 0
                             : lead < 0xC2 ? 9
                             : lead < 0xE0 ? 1
                             : lead < 0xF0 ? 2
                             : lead < 0xF5 ? 3
                                           : 9;
    if (more >= text.size() - i) return i;
    for (std::size_t k = 1; k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      const bool overlong = k == 1 && ((lead == 0xE0 && next < 0xA0) || (lead == 0xF0 && next < 0x90));
      const bool beyond = k == 1 && ((lead == 0xED && next > 0x9F) || (lead == 0xF4 && next > 0x8F));
      if ((next & 0xC0) != 0x80 || overlong || beyond) return i;
    }
    i += more + 1;
  }
  return string::npos;
}

void append_utf8(string& text, char32_t code) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) return put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
  if (code < 0x10000) {
    put(0xE0 | code >> 12);
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
  }
  put(0x80 | (code >> 6 & 0x3F));
  put(0x80 | (code & 0x3F));
}

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
