// A scanner for the one kind of Python dict that stands in a .npy file.
#include "pages/npy_header.h"

#include <charconv>
#include <utility>

#include "base/text.h"

namespace convgrad::graph {
namespace {

constexpr std::size_t kMaxRank = 32;  // NumPy's own limit

// Every take_* moves past what it understands and answers whether it could.
class HeaderScanner {
 public:
  explicit HeaderScanner(std::string_view text) : rest_(text) {}

  bool take_dict(NpyHeader& header) {
    if (!take('{')) return false;
    while (!take('}')) {
      if (!take_entry(header) || !(take(',') || next_is('}'))) return false;
    }
    skip_space();
    return rest_.empty() && seen_descr_ && seen_order_ && seen_shape_;
  }

 private:
  static bool first(bool& seen) { return !std::exchange(seen, true); }

  void skip_space() {
    const std::size_t start = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(start == std::string_view::npos ? rest_.size() : start);
  }

  bool next_is(char wanted) {
    skip_space();
    return rest_.starts_with(wanted);
  }

  bool take(char wanted) {
    if (!next_is(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_word(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  bool take_text(string& text) {
    skip_space();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return false;
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return false;
    text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool take_bool(bool& value) {
    value = take_word("True");
    return value || take_word("False");
  }

  bool take_number(int64& value) {
    skip_space();
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    take('L');  // Python 2 wrote its long integers so
    return true;
  }

  bool take_shape(Shape& shape) {
    if (!take('(')) return false;
    while (!take(')')) {
      if (shape.size() == kMaxRank || !take_number(shape.emplace_back())) return false;
      if (!take(',') && !next_is(')')) return false;
    }
    return true;
  }

  bool take_entry(NpyHeader& header) {
    string key;
    if (!take_text(key) || !take(':')) return false;
    if (key == "descr") return first(seen_descr_) && take_text(header.descr);
    if (key == "fortran_order") return first(seen_order_) && take_bool(header.fortran_order);
    return key == "shape" && first(seen_shape_) && take_shape(header.shape);
  }

  std::string_view rest_;
  bool seen_descr_ = false, seen_order_ = false, seen_shape_ = false;
};

}  // namespace

std::optional<NpyHeader> parse_npy_header(std::string_view text) {
  NpyHeader header;
  if (!HeaderScanner(text).take_dict(header)) return std::nullopt;
  return header;
}

string npy_header_text(const NpyHeader& header) {
  string shape;
  for (int64 size : header.shape) shape += concat(shape.empty() ? "" : ", ", size);
  if (header.shape.size() == 1) shape += ",";
  return concat("{'descr': '", header.descr, "', 'fortran_order': ", header.fortran_order ? "True" : "False",
                ", 'shape': (", shape, "), }");
}

}  // namespace convgrad::graph
