// The reader: one pass, positions for messages, depth and counts bounded.
#include "pages/json.h"

#include <algorithm>
#include <charconv>

#include "base/rules.h"
#include "base/text.h"
#include "pages/unicode.h"

namespace convgrad::graph {

class JsonReader {
 public:
  JsonReader(std::string_view text, std::string_view who) : text_(text), who_(who) {}

  Result<Json> document() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = line_start_ = 3;
    Json value;
    if (!read(value, 0)) return error_;
    skip_blanks();
    if (at_ < text_.size() && !fail("there is text behind the end", shown_here(), "nothing")) return error_;
    return value;
  }

 private:
  bool fail(string reason, string got, string wanted) {
    error_ = refuse(who_, {.rule = Rule::graph_file,
                           .argument = "text",
                           .reason = concat("line ", line_, ", column ", column(), ": ", reason),
                           .got = std::move(got),
                           .wanted = std::move(wanted)});
    return false;
  }
  std::size_t column() const { return at_ - line_start_ + 1; }
  string shown_here() const { return at_ < text_.size() ? shown(text_.substr(at_, 20)) : "the end of the text"; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  bool read(Json& value, int depth) {
    skip_blanks();
    if (++values_ > kJsonValues)
      return fail("there are too many values", concat("more than ", kJsonValues), "large tensors in .npy files");
    value.line = static_cast<std::uint32_t>(line_);
    value.column = static_cast<std::uint32_t>(column());
    switch (peek()) {
      case '{': return read_object(value, depth);
      case '[': return read_list(value, depth);
      case '"': return read_string(value.value_.emplace<string>());
      case 't': return read_word("true", value, true);
      case 'f': return read_word("false", value, false);
      case 'n': return read_word("null", value, std::monostate());
      default: return read_number(value);
    }
  }

  template <class T>
  bool read_word(std::string_view word, Json& value, T meaning) {
    if (!text_.substr(at_).starts_with(word)) return fail("this is no JSON value", shown_here(), string(word));
    at_ += word.size();
    value.value_ = meaning;
    return true;
  }

  bool deeper(int depth) {
    return depth < kJsonDepth ||
           fail("lists and objects are too deep inside each other", concat(depth + 1), concat("at most ", kJsonDepth));
  }

  bool read_list(Json& value, int depth) {
    if (!deeper(depth)) return false;
    auto& list = value.value_.emplace<Json::List>();
    ++at_;
    skip_blanks();
    if (take(']')) return true;
    do {
      if (!read(list.emplace_back(), depth + 1)) return false;
      skip_blanks();
    } while (take(','));
    return take(']') || fail("a list does not go on like this", shown_here(), "',' or ']'");
  }

  bool read_object(Json& value, int depth) {
    if (!deeper(depth)) return false;
    auto& members = value.value_.emplace<Json::Members>();
    ++at_;
    skip_blanks();
    if (take('}')) return true;
    do {
      skip_blanks();
      JsonMember& member = members.emplace_back();
      if (peek() != '"') return fail("an object has no key here", shown_here(), "a key in quotes");
      if (!read_string(member.key)) return false;
      skip_blanks();
      if (!take(':')) return fail("a key has no value", shown_here(), "':'");
      if (!read(member.value, depth + 1)) return false;
      skip_blanks();
    } while (take(','));
    if (!take('}')) return fail("an object does not go on like this", shown_here(), "',' or '}'");
    return keys_differ(members);
  }

  bool keys_differ(const Json::Members& members) {
    std::vector<std::string_view> keys;
    for (const JsonMember& member : members) keys.push_back(member.key);
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    return twice == keys.end() || fail("an object has a key twice", shown(*twice), "every key once");
  }

  bool read_string(string& to) {
    ++at_;
    while (true) {
      const std::size_t start = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<unsigned char>(text_[at_]) >= 0x20)
        ++at_;
      to.append(text_, start, at_ - start);
      if (take('"')) return true;
      if (at_ >= text_.size()) return fail("a string does not end", "the end of the text", "'\"'");
      if (!take('\\')) return fail("a string holds a control character", shown_here(), "an escape such as \\n");
      if (!read_escape(to)) return false;
    }
  }

  bool read_escape(string& to) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    const char letter = peek();
    ++at_;
    if (letter == 'u') return read_code(to);
    const auto found = letter == '\0' ? std::string_view::npos : kLetters.find(letter);
    if (found == std::string_view::npos)
      return --at_, fail("there is no such escape", shown_here(), "one of \"\\/bfnrtu");
    to += kMeant[found];
    return true;
  }

  bool read_hex(char32_t& code) {
    std::uint32_t number = 0;
    const char* first = text_.data() + at_;
    const char* last = first + std::min<std::size_t>(4, text_.size() - std::min(at_, text_.size()));
    const auto [end, error] = std::from_chars(first, last, number, 16);
    if (error != std::errc() || end != first + 4) return fail("\\u lacks its digits", shown_here(), "four of 0-9a-f");
    at_ += 4;
    code = number;
    return true;
  }

  bool read_code(string& to) {
    char32_t code = 0, low = 0;
    if (!read_hex(code)) return false;
    const auto alone = [&] { return fail("a surrogate stands alone", "\\u escape", "a pair of them"); };
    if (code >= 0xDC00 && code < 0xE000) return alone();
    if (code >= 0xD800 && code < 0xDC00) {
      if (!text_.substr(at_).starts_with("\\u")) return alone();
      at_ += 2;
      if (!read_hex(low)) return false;
      if (low < 0xDC00 || low >= 0xE000) return alone();
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(to, code);
    return true;
  }

  std::size_t digits_from(std::size_t at) const {
    while (at < text_.size() && text_[at] >= '0' && text_[at] <= '9') ++at;
    return at;
  }

  // The end of the number that starts here, by JSON's grammar; where it starts when there is none.
  std::size_t number_end(bool& integer) const {
    std::size_t at = at_ + (peek() == '-' ? 1 : 0), end = digits_from(at);
    if (end == at || (text_[at] == '0' && end > at + 1)) return at_;
    integer = true;
    if (end < text_.size() && text_[end] == '.') {
      integer = false;
      at = end + 1;
      if ((end = digits_from(at)) == at) return at_;
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      integer = false;
      at = end + 1;
      if (at < text_.size() && (text_[at] == '+' || text_[at] == '-')) ++at;
      if ((end = digits_from(at)) == at) return at_;
    }
    return end;
  }

  bool read_number(Json& value) {
    bool integer = false;
    const std::size_t end = number_end(integer);
    if (end == at_) return fail("this is no JSON value", shown_here(), "a value");
    const char *first = text_.data() + at_, *last = text_.data() + end;
    int64 whole = 0;
    double number = 0;
    if (integer && std::string_view(first, last) != "-0") {
      if (std::from_chars(first, last, whole).ec != std::errc())
        return fail("an integer does not fit 64 bits", shown_here(), "a smaller one, or one with an exponent");
      value.value_ = whole;
    } else {
      const std::errc error = std::from_chars(first, last, number).ec;
      if (error == std::errc::result_out_of_range && too_small(std::string_view(first, last)))
        number = *first == '-' ? -0.0 : 0.0;
      else if (error != std::errc())
        return fail("a number does not fit a double", shown_here(), "a smaller one");
      value.value_ = number;
    }
    at_ = end;
    return true;
  }

  // Of a number out of range: whether its exponent, or a zero before the point, says that it is next to nothing.
  static bool too_small(std::string_view number) {
    const auto exponent = number.find_first_of("eE");
    if (exponent == std::string_view::npos) return number.starts_with("0.") || number.starts_with("-0.");
    return number[exponent + 1] == '-';
  }

  std::string_view text_, who_;
  std::size_t at_ = 0, line_ = 1, line_start_ = 0, values_ = 0;
  convgrad::Status error_;
};

const Json* Json::find(std::string_view key) const {
  const Members* members = as<Members>();
  if (members == nullptr) return nullptr;
  for (const JsonMember& member : *members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

Json& Json::add(std::string_view key, Json value) {
  return std::get<Members>(value_).emplace_back(string(key), std::move(value)).value;
}

Json& Json::add(Json value) { return std::get<List>(value_).emplace_back(std::move(value)); }

std::string_view Json::kind() const {
  constexpr std::string_view kKinds[] = {"null",     "true or false", "an integer", "a number",
                                         "a string", "a list",        "an object"};
  return kKinds[value_.index()];
}

Result<Json> read_json(std::string_view text, std::string_view who) {
  const auto bad = [&](string reason, string got, string wanted) {
    return refuse(who, {.rule = Rule::graph_file,
                        .argument = "text",
                        .reason = std::move(reason),
                        .got = std::move(got),
                        .wanted = std::move(wanted)});
  };
  if (text.size() > kJsonBytes)
    return bad("the text is too long", concat(text.size(), " bytes"), concat("at most ", kJsonBytes));
  const std::size_t offset = bad_utf8(text);
  if (offset != string::npos) return bad("the text is not UTF-8", concat("byte ", offset), "UTF-8");
  return JsonReader(text, who).document();
}

}  // namespace convgrad::graph
