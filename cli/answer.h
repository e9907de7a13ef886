// How the command line speaks: refusals on stderr, data on stdout, text that is safe to print.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "convgrad/status.h"

namespace convgrad::cli {

using Json = nlohmann::ordered_json;

// What a refusal of the command line's own says, in the library's words.
struct Complaint {
  std::string_view rule;
  std::string_view argument;
  std::string reason;
  std::string got;
  std::string wanted;
};
Status complain(const Complaint& complaint);

// "<message> [<code>, rule <id>]", on one line, with the node in front where there is one.
std::string sentence(const Status& status);

// Says the sentence on stderr and answers the exit code for it.
int refuse(const Status& status);
// The same for a command line that makes no sense, where there is no Status.
int refuse_usage(std::string_view text);

// ok, code, rule, argument, got, wanted, message; node where there is one.
Json status_json(const Status& status);

void print_line(std::string_view text);
void print_json(const Json& json);

// Control characters and bytes that are not UTF-8 as \xNN: a message stays one line.
std::string printable(std::string_view text);
// At most limit bytes, "..." included.
std::string shortened(std::string_view text, std::size_t limit = 120);
// "'text'", shortened.
std::string in_quotes(std::string_view text);

}  // namespace convgrad::cli
