// JSON as pages need it: members keep their order, integers and other numbers stay apart, and every number is written
// so that it reads back as the same one.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "convgrad/graph/types.h"
#include "convgrad/status.h"

namespace convgrad::graph {

struct JsonMember;

class Json {
 public:
  using List = std::vector<Json>;
  using Members = std::vector<JsonMember>;

  Json() = default;                                         // null
  Json(bool flag) : value_(flag) {}                         // NOLINT: values stand for themselves
  Json(int number) : value_(static_cast<int64>(number)) {}  // NOLINT
  Json(int64 number) : value_(number) {}                    // NOLINT
  Json(double number) : value_(number) {}                   // NOLINT: finite
  Json(std::string_view text) : value_(string(text)) {}     // NOLINT
  Json(string text) : value_(std::move(text)) {}            // NOLINT
  Json(const char* text) : value_(string(text)) {}          // NOLINT
  Json(List list) : value_(std::move(list)) {}              // NOLINT
  Json(Members members) : value_(std::move(members)) {}     // NOLINT
  static Json list() { return List(); }
  static Json object() { return Members(); }

  // Null when it is of another kind.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&value_);
  }
  const Json* find(std::string_view key) const;  // a member of an object
  Json& add(std::string_view key, Json value);   // to an object; the value there
  Json& add(Json value);                         // to a list
  std::string_view kind() const;                 // "an integer"

  std::uint32_t line = 0;  // where it starts in the text it was read from
  std::uint32_t column = 0;

 private:
  friend class JsonReader;
  std::variant<std::monostate, bool, int64, double, string, List, Members> value_;
};

struct JsonMember {
  string key;
  Json value;
};

constexpr int kJsonDepth = 64;                             // lists and objects inside each other
constexpr std::size_t kJsonBytes = std::size_t{1} << 30;   // of a text
constexpr std::size_t kJsonValues = std::size_t{1} << 24;  // in a text: about 1 GiB of memory

// Strict: UTF-8 (a byte order mark may stand first), no lone surrogates, no key twice, integers within 64 bits. `who`
// starts the sentence of a refusal, which tells line and column.
Result<Json> read_json(std::string_view text, std::string_view who);

// On one line: [1, 2], {"a": 1}.
string compact(const Json& value);
// Lists and objects that fit stand on one line of 120 columns, others take a line an entry, or as many numbers a line
// as fit. The first `open` levels are never on one line, unless empty.
string laid_out(const Json& value, int open);
// A number that reads back as the same one, and as no integer.
string number_text(double number);
// In quotes, with escapes.
string quoted(std::string_view text);
// The same for sentences: at most 60 characters of it.
string shown(std::string_view text);
string brief(const Json& value);

}  // namespace convgrad::graph
