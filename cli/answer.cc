// Refusals, sentences and JSON.
#include "cli/answer.h"

#include <fmt/core.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/terminal.h"

namespace convgrad::cli {
namespace {

// Bytes of the UTF-8 sequence at the front of text, 0 when there is none. Overlong forms pass: this
// guards the terminal, not a parser.
std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  return length;
}

void complain_aloud(std::string_view text) {
  fmt::print(stderr, "{} {}\n", coloured(Colour::red, "convgrad:", stderr), text);
}

bool is_control(unsigned char byte) { return byte < 0x20 || byte == 0x7F; }

}  // namespace

Status complain(const Complaint& c) {
  std::string message = fmt::format("{} ({}: got {}, wanted {})", c.reason, c.argument, c.got, c.wanted);
  return Status(ErrorDetail{StatusCode::invalid_argument, std::move(message), std::string(c.argument), c.got, c.wanted,
                            std::string(c.rule)});
}

std::string sentence(const Status& status) {
  // A graph's refusals end with the node on a line of its own, as TensorFlow's do; here it stands in front.
  const std::string_view message = status.message();
  const std::string_view text = status.node().empty() ? message : message.substr(0, message.find("\n\t [["));
  const std::string node = status.node().empty() ? std::string() : fmt::format("node {}: ", in_quotes(status.node()));
  return fmt::format("{} [{}, rule {}]", printable(node + std::string(text)), name(status.code()), status.rule());
}

int refuse(const Status& status) {
  complain_aloud(sentence(status));
  if (status.code() == StatusCode::cancelled) return kCancelled;
  return status.code() == StatusCode::internal ? kFailed : kRefused;
}

int refuse_usage(std::string_view text) {
  complain_aloud(printable(text));
  return kRefused;
}

Json status_json(const Status& status) {
  Json json = {{"ok", status.ok()},          {"code", name(status.code())},
               {"rule", status.rule()},      {"argument", status.argument()},
               {"got", status.got()},        {"wanted", status.wanted()},
               {"message", status.message()}};
  if (!status.node().empty()) json["node"] = status.node();
  return json;
}

void print_line(std::string_view text) { fmt::print("{}\n", text); }

void print_json(const Json& json) {
  // Bytes of the caller's that are not UTF-8 must not throw here.
  print_line(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || is_control(static_cast<unsigned char>(text[0]))) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t limit) {
  return text.size() <= limit ? std::string(text) : fmt::format("{}...", text.substr(0, limit - 3));
}

std::string in_quotes(std::string_view text) { return fmt::format("'{}'", shortened(text)); }

}  // namespace convgrad::cli
