// Runs the convgrad program and keeps what it answered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace convgrad::test {

struct Outcome {
  int code = -1;    // exit code; -N when signal N ended it
  std::string out;  // stdout
  std::string err;  // stderr
  double milliseconds = 0;
};

// args may hold any bytes but NUL. Standard input is `input`.
Outcome program(const std::vector<std::string>& args, std::string_view input = "");

// The same with both outputs on one terminal; out has what arrives there, its line ends as the program wrote them.
Outcome program_on_terminal(const std::vector<std::string>& args);
// Interrupted as soon as it listens to interrupts.
Outcome program_interrupted(const std::vector<std::string>& args);

// A path in a folder of this test program's own.
std::string scratch(const std::string& name);
void write_file(const std::string& path, std::string_view bytes);
std::string read_file(const std::string& path);

// Every refusal looks like this: exit code 2, nothing on stdout, one line on stderr that starts with
// "convgrad: " and ends with the code and the rule.
void expect_refused(const Outcome& outcome, std::string_view rule, std::string_view part,
                    std::string_view code = "invalid_argument");
// A command line that makes no sense: exit code 2 and the part on stderr.
void expect_usage_error(const Outcome& outcome, std::string_view part);
// Exit code 1, one line on stderr with the part.
void expect_failed(const Outcome& outcome, std::string_view part);

}  // namespace convgrad::test
