#include "studio/server/body.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "cli/json_fields.h"
#include "convgrad/plan.h"

namespace convgrad::studio {
namespace {

using cli::complain;
using cli::in_quotes;
using cli::printable;

constexpr std::string_view kSpace = " \t\r\n";

// Walks the top level of an object without looking into its members. Inside of them only strings and brackets count;
// whoever reads a member judges it.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool take(char wanted) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  bool at_end() {
    skip_space();
    return at_ >= text_.size();
  }
  // A string with its quotes; empty when there is none.
  std::string_view string() {
    skip_space();
    const std::size_t start = at_;
    return skip_string() ? text_.substr(start, at_ - start) : std::string_view();
  }
  // Everything up to the comma or bracket that ends it; empty when there is nothing, or it does not end.
  std::string_view value() {
    skip_space();
    const std::size_t start = at_;
    for (std::int64_t depth = 0; at_ < text_.size();) {
      const char c = text_[at_];
      if (c == '"') {
        if (!skip_string()) return {};
        continue;
      }
      if (depth == 0 && (c == ',' || c == '}')) return text_.substr(start, at_ - start);
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
      if (depth < 0) return {};
      ++at_;
    }
    return {};
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && kSpace.find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool skip_string() {
    if (at_ >= text_.size() || text_[at_] != '"') return false;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        ++at_;
        return true;
      }
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Status refused_body(std::string reason, std::string got, std::string wanted) {
  return complain({.rule = "graph-file",
                   .argument = "body",
                   .reason = std::move(reason),
                   .got = std::move(got),
                   .wanted = std::move(wanted)});
}

Status no_object() { return refused_body("the body is not a JSON object", "other text", "{\"name\": value, ...}"); }

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool is_pin(const Json& json) {
  return json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_string();
}

}  // namespace

Status refused_member(std::string_view name, std::string got, std::string wanted) {
  return complain({.rule = "graph-file",
                   .argument = name,
                   .reason = fmt::format("the member {} is not what the request takes", in_quotes(name)),
                   .got = std::move(got),
                   .wanted = std::move(wanted)});
}

Result<Body> Body::read(std::string_view text, std::vector<std::string_view> members) {
  Scanner scanner(text);
  Body body;
  if (!scanner.take('{')) return no_object();
  if (scanner.take('}')) return scanner.at_end() ? Result<Body>(body) : no_object();
  do {
    const std::string_view quoted = scanner.string();
    if (quoted.empty() || !scanner.take(':')) return no_object();
    const std::string name(quoted.substr(1, quoted.size() - 2));
    if (std::find(members.begin(), members.end(), name) == members.end())
      return refused_body("the body has a member that the request does not take", in_quotes(printable(name)),
                          fmt::format("{}", fmt::join(members, ", ")));
    const std::string_view value = scanner.value();
    if (value.empty()) return no_object();
    if (!body.members_.emplace(name, value).second)
      return refused_body("the body has a member twice", in_quotes(name), "each once");
  } while (scanner.take(','));
  if (!scanner.take('}') || !scanner.at_end()) return no_object();
  return body;
}

std::string_view Body::text(std::string_view name) const {
  const auto found = members_.find(name);
  return found == members_.end() ? std::string_view() : found->second;
}

Result<Json> Body::value(std::string_view name) const {
  if (!has(name)) return refused_member(name, "nothing", "a value");
  const Result<nlohmann::json> parsed = cli::parse_json({name, "JSON"}, text(name));
  if (!parsed.ok()) return parsed.status();
  return Json(*parsed);
}

Result<std::string> Body::string(std::string_view name) const {
  const Result<Json> json = value(name);
  if (!json.ok()) return json.status();
  if (!json->is_string()) return refused_member(name, json->type_name(), "a string");
  return json->get<std::string>();
}

Result<std::int64_t> Body::integer(std::string_view name) const {
  const Result<Json> json = value(name);
  if (!json.ok()) return json.status();
  return cli::number_of(name, nlohmann::json(*json));
}

Result<std::vector<std::int64_t>> Body::integers(std::string_view name) const {
  const Result<Json> json = value(name);
  if (!json.ok()) return json.status();
  return cli::numbers_of(name, nlohmann::json(*json));
}

Result<graph::PagePin> Body::pin(std::string_view name) const {
  const Result<Json> json = value(name);
  if (!json.ok()) return json.status();
  if (!is_pin(*json)) return refused_member(name, json->type_name(), "[node, pin]");
  return graph::PagePin{(*json)[0], (*json)[1]};
}

Result<std::vector<graph::PagePin>> Body::pins(std::string_view name) const {
  const Result<Json> json = value(name);
  if (!json.ok()) return json.status();
  if (!json->is_array() || !std::all_of(json->begin(), json->end(), is_pin))
    return refused_member(name, json->type_name(), "[[node, pin], ...]");
  std::vector<graph::PagePin> pins;
  for (const Json& one : *json) pins.push_back({one[0], one[1]});
  return pins;
}

Result<graph::Page> Body::page(std::int64_t most_nodes) const {
  if (!has("page")) return refused_member("page", "nothing", "a page");
  Result<graph::Page> page = graph::parse_page(text("page"));
  if (!page.ok() || static_cast<std::int64_t>(page->nodes.size()) <= most_nodes) return page;
  return complain({.rule = "resource",
                   .argument = "nodes",
                   .reason = "the page has more blocks than the studio takes",
                   .got = std::to_string(page->nodes.size()),
                   .wanted = fmt::format("at most {}", most_nodes)});
}

Result<std::string> Body::engine() const {
  if (!has("engine")) return std::string();
  Result<std::string> name = string("engine");
  if (!name.ok()) return name;
  const Status known = check_engine(*name);
  return known.ok() ? name : Result<std::string>(known);
}

Result<std::string> from_base64(std::string_view name, std::string_view text) {
  std::string bytes;
  std::uint32_t group = 0;
  int held = 0;
  std::size_t end = text.size();
  while (end > 0 && text[end - 1] == '=' && text.size() - end < 2) --end;
  for (const char c : text.substr(0, end)) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return refused_member(name, "other characters", "base64");
    group = group << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>(group >> held & 0xFF));
  }
  if (text.size() % 4 != 0) return refused_member(name, fmt::format("{} characters", text.size()), "base64");
  return bytes;
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace convgrad::studio
