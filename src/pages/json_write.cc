// The writer: what fits stands on one line, the rest a line an entry, so that files compare well.
#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "pages/json.h"

namespace convgrad::graph {
namespace {

constexpr std::size_t kColumns = 120;

void append_scalar(string& out, const Json& value) {
  if (const bool* flag = value.as<bool>()) {
    out += *flag ? "true" : "false";
  } else if (const int64* whole = value.as<int64>()) {
    out += std::to_string(*whole);
  } else if (const double* number = value.as<double>()) {
    out += number_text(*number);
  } else if (const string* text = value.as<string>()) {
    out += quoted(*text);
  } else {
    out += "null";
  }
}

bool is_scalar(const Json& value) { return !value.as<Json::List>() && !value.as<Json::Members>(); }

// On one line; stops soon after `out` is longer than `limit`, and says whether it is not.
bool append_compact(string& out, const Json& value, std::size_t limit) {
  if (const auto* list = value.as<Json::List>()) {
    out += '[';
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (i > 0) out += ", ";
      if (!append_compact(out, (*list)[i], limit)) return false;
    }
    out += ']';
  } else if (const auto* members = value.as<Json::Members>()) {
    out += '{';
    for (std::size_t i = 0; i < members->size(); ++i) {
      if (i > 0) out += ", ";
      out += quoted((*members)[i].key) + ": ";
      if (!append_compact(out, (*members)[i].value, limit)) return false;
    }
    out += '}';
  } else {
    append_scalar(out, value);
  }
  return out.size() <= limit;
}

constexpr std::size_t kShown = 60;

// As much as sentences hold, cut between characters.
std::string_view start_of(std::string_view text) {
  if (text.size() <= kShown) return text;
  std::size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

class Layout {
 public:
  string text(const Json& value, int open) {
    write(value, open);
    return std::move(out_) + "\n";
  }

 private:
  // One column is kept for a comma.
  std::size_t line_end() const { return line_start_ + kColumns - 1; }

  void new_line() {
    out_ += '\n';
    line_start_ = out_.size();
    out_.append(2 * indent_, ' ');
  }

  void write(const Json& value, int open) {
    const std::size_t before = out_.size();
    if (is_scalar(value)) return append_scalar(out_, value);
    const auto* list = value.as<Json::List>();
    const auto* members = value.as<Json::Members>();
    const bool empty = list != nullptr ? list->empty() : members->empty();
    if ((open <= 0 || empty) && append_compact(out_, value, line_end())) return;
    if (empty) return;
    out_.resize(before);
    out_ += list != nullptr ? '[' : '{';
    ++indent_;
    if (list != nullptr)
      write_list(*list, open - 1);
    else
      write_members(*members, open - 1);
    --indent_;
    new_line();
    out_ += list != nullptr ? ']' : '}';
  }

  void write_members(const Json::Members& members, int open) {
    for (const JsonMember& member : members) {
      if (&member != &members.front()) out_ += ',';
      new_line();
      out_ += quoted(member.key) + ": ";
      write(member.value, open);
    }
  }

  void write_list(const Json::List& list, int open) {
    const bool fill = std::all_of(list.begin(), list.end(), is_scalar);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) out_ += ',';
      if (!fill || i == 0) {
        new_line();
        write(list[i], open);
        continue;
      }
      string entry;
      append_scalar(entry, list[i]);
      if (out_.size() + 1 + entry.size() > line_end())
        new_line();
      else
        out_ += ' ';
      out_ += entry;
    }
  }

  string out_;
  std::size_t line_start_ = 0, indent_ = 0;
};

}  // namespace

string compact(const Json& value) {
  string text;
  append_compact(text, value, string::npos);
  return text;
}

string laid_out(const Json& value, int open) { return Layout().text(value, open); }

string number_text(double number) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof(text), number).ptr;
  const std::string_view digits(text, static_cast<std::size_t>(end - text));
  return digits.find_first_of(".e") == std::string_view::npos ? concat(digits, ".0") : string(digits);
}

string quoted(std::string_view text) {
  constexpr std::string_view kPlain = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt", kHex = "0123456789abcdef";
  string out = "\"";
  for (const char c : text) {
    const auto found = kPlain.find(c);
    if (found != std::string_view::npos) {
      out += {'\\', kLetters[found]};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += concat("\\u00", kHex.substr(static_cast<unsigned char>(c) >> 4, 1), kHex.substr(c & 15, 1));
    } else {
      out += c;
    }
  }
  return out + '"';
}

string shown(std::string_view text) {
  const std::string_view start = start_of(text);
  return start.size() == text.size() ? quoted(text) : quoted(start) + "...";
}

string brief(const Json& value) {
  string text;
  append_compact(text, value, kShown);
  const std::string_view start = start_of(text);
  return start.size() == text.size() ? text : concat(start, "...");
}

}  // namespace convgrad::graph
