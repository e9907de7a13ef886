// ConvProblem to text and back; the grammar stands in convgrad/problem.h.
#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/rules.h"
#include "base/text.h"
#include "convgrad/problem.h"

namespace convgrad {
namespace {

constexpr std::string_view kInLetters = "dhw";
constexpr std::string_view kFilterLetters = "trs";

std::string joined(const Extents& values, int rank) {
  std::string text = std::to_string(values[0]);
  bool equal = true;
  for (int i = 1; i < rank; ++i) equal = equal && values[i] == values[0];
  for (int i = 1; i < rank && !equal; ++i) text += concat("x", values[i]);
  return text;
}

std::string padding_text(const ConvProblem& p) {
  if (p.padding == PaddingKind::same) return "same";
  if (p.padding == PaddingKind::valid) return "valid";
  std::string text = "pad";
  for (int i = 0; i < p.rank; ++i) {
    text += concat(i > 0 ? "x" : "", p.pads[i].first, ".", p.pads[i].second);
  }
  return text;
}

std::string groups_text(const ConvProblem& p) {
  const bool whole = p.filter_c > 0 && p.c_in > 0 && p.c_in % p.filter_c == 0;
  return whole ? concat("g", p.c_in / p.filter_c) : concat("fc", p.filter_c);
}

std::string sizes_text(const Extents& sizes, int rank, std::string_view letters) {
  std::string text;
  for (int i = 0; i < rank; ++i) {
    text += letters[static_cast<std::size_t>(3 - rank + i)];
    text += std::to_string(sizes[i]);
  }
  return text;
}

// Reads a problem string part by part. Every read_* takes what it understands off the front of its
// argument and answers whether it could.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<ConvProblem> parse() {
    std::string_view rest = text_;
    if (!take_direction(rest))
      return fail(rest, "a direction at the end: forward, input_grad, filter_grad or bias_grad");
    if (!read_image(next_part(rest))) return fail(part_, "n<batch>c<channels>[d<depth>][h<height>]w<width>");
    if (!read_filter(next_part(rest)))
      return fail(part_, "k<channels>[t<depth>][r<height>]s<width>, as many sizes as the input");
    while (!rest.empty()) {
      if (!read_part(next_part(rest)))
        return fail(part_, "st, di, same, valid, pad, g, fc, chlast, chfirst, out or a dtype, each once");
    }
    if (!seen_padding_) return fail(text_, "a padding: same, valid or pad<before>.<after>");
    if (groups_) {
      // A group count that does not divide c has no filter_c; fc says such a problem instead.
      if (*groups_ <= 0 || problem_.c_in % *groups_ != 0) {
        return fail(concat("g", *groups_), "a group count of 1 or more that divides c, or fc<filter channels>");
      }
      problem_.filter_c = problem_.c_in / *groups_;
    } else if (!seen_filter_c_) {
      problem_.filter_c = problem_.c_in;
    }
    return problem_;
  }

 private:
  Status fail(std::string_view got, std::string_view wanted) const {
    return refuse("problem", {.rule = Rule::problem_string,
                              .argument = "problem",
                              .reason = concat("'", shortened(text_), "' is not a problem string"),
                              .got = concat("'", shortened(got), "'"),
                              .wanted = std::string(wanted)});
  }

  static std::string shortened(std::string_view text) {
    return text.size() <= 120 ? std::string(text) : concat(beginning(text, 117), "...");
  }

  bool take_direction(std::string_view& rest) {
    for (Direction direction :
         {Direction::forward, Direction::input_grad, Direction::filter_grad, Direction::bias_grad}) {
      const std::string ending = concat("_", name(direction));
      if (rest.size() > ending.size() && rest.ends_with(ending)) {
        rest.remove_suffix(ending.size());
        problem_.direction = direction;
        return true;
      }
    }
    return false;
  }

  std::string_view next_part(std::string_view& rest) {
    const std::size_t end = rest.find('_');
    part_ = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    // "a__b" and "a_" leave an empty part, which no reader accepts.
    if (end != std::string_view::npos && rest.empty()) part_ = {};
    return part_;
  }

  static bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
  }

  static bool take_number(std::string_view& text, std::int64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
  }

  static bool take_sizes(std::string_view& text, std::string_view letters, int rank, Extents& sizes) {
    for (int i = 0; i < rank; ++i) {
      const std::string_view letter = letters.substr(static_cast<std::size_t>(3 - rank + i), 1);
      if (!take(text, letter) || !take_number(text, sizes[i])) return false;
    }
    return text.empty();
  }

  bool read_image(std::string_view text) {
    if (!take(text, "n") || !take_number(text, problem_.n)) return false;
    if (!take(text, "c") || !take_number(text, problem_.c_in)) return false;
    problem_.rank = text.starts_with("d") ? 3 : text.starts_with("h") ? 2 : 1;
    return take_sizes(text, kInLetters, problem_.rank, problem_.in);
  }

  bool read_filter(std::string_view text) {
    return take(text, "k") && take_number(text, problem_.c_out) &&
           take_sizes(text, kFilterLetters, problem_.rank, problem_.filter);
  }

  // One number for all dimensions, or one a dimension.
  bool read_extents(std::string_view text, Extents& values) const {
    int count = 0;
    do {
      if (count == problem_.rank || !take_number(text, values[count])) return false;
      ++count;
    } while (take(text, "x"));
    for (int i = count; i < problem_.rank && count == 1; ++i) values[i] = values[0];
    return text.empty() && (count == 1 || count == problem_.rank);
  }

  bool read_pads(std::string_view text) {
    int count = 0;
    do {
      if (count == problem_.rank) return false;
      PadPair& pair = problem_.pads[count];
      if (!take_number(text, pair.first) || !take(text, ".") || !take_number(text, pair.second)) return false;
      ++count;
    } while (take(text, "x"));
    for (int i = count; i < problem_.rank && count == 1; ++i) problem_.pads[i] = problem_.pads[0];
    return text.empty() && (count == 1 || count == problem_.rank);
  }

  bool read_padding_kind(PaddingKind kind) {
    problem_.padding = kind;
    return first(seen_padding_);
  }

  bool read_part(std::string_view text) {
    if (text == "same") return read_padding_kind(PaddingKind::same);
    if (text == "valid") return read_padding_kind(PaddingKind::valid);
    if (text == "chlast" || text == "chfirst") {
      problem_.layout = text == "chlast" ? Layout::channels_last : Layout::channels_first;
      return first(seen_layout_);
    }
    if (const std::optional<DType> dtype = dtype_from_id(text)) {
      problem_.dtype = *dtype;
      return first(seen_dtype_);
    }
    if (take(text, "st")) return first(seen_stride_) && read_extents(text, problem_.stride);
    if (take(text, "di")) return first(seen_dilation_) && read_extents(text, problem_.dilation);
    if (take(text, "pad")) return read_padding_kind(PaddingKind::explicit_pairs) && read_pads(text);
    if (take(text, "out")) return first(seen_out_) && read_extents(text, problem_.out.emplace(Extents{1, 1, 1}));
    if (take(text, "fc"))
      return first(seen_groups_) && first(seen_filter_c_) && take_number(text, problem_.filter_c) && text.empty();
    if (take(text, "g")) return first(seen_groups_) && take_number(text, groups_.emplace()) && text.empty();
    return false;
  }

  static std::optional<DType> dtype_from_id(std::string_view text) {
    const std::optional<DType> dtype = dtype_from_name(text);
    return dtype && info(*dtype).id == text ? dtype : std::nullopt;
  }

  static bool first(bool& seen) { return !std::exchange(seen, true); }

  std::string_view text_;
  std::string_view part_;
  ConvProblem problem_;
  std::optional<std::int64_t> groups_;
  bool seen_padding_ = false, seen_layout_ = false, seen_dtype_ = false, seen_stride_ = false, seen_dilation_ = false,
       seen_out_ = false, seen_groups_ = false, seen_filter_c_ = false;
};

}  // namespace

std::string to_text(const ConvProblem& problem) {
  ConvProblem p = problem;
  p.rank = std::clamp(p.rank, 1, 3);                                          // there are letters for three sizes
  return concat("n", p.n, "c", p.c_in, sizes_text(p.in, p.rank, kInLetters),  //
                "_k", p.c_out, sizes_text(p.filter, p.rank, kFilterLetters),  //
                "_st", joined(p.stride, p.rank), "_di", joined(p.dilation, p.rank),  //
                "_", padding_text(p), "_", groups_text(p),                           //
                p.layout == Layout::channels_first ? "_chfirst" : "",                //
                p.out ? concat("_out", joined(*p.out, p.rank)) : "",                 //
                "_", info(p.dtype).id, "_", name(p.direction));
}

Result<ConvProblem> parse_problem(std::string_view text) { return Parser(text).parse(); }

}  // namespace convgrad
