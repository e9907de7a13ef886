// convgrad studio: options, and the folder that the studio may use.
#include "cli/studio.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/numbers.h"
#include "studio/server/studio.h"

namespace convgrad::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kMostMemory = 0x1p40;  // MiB; more than any machine has

std::vector<Option> studio_options(StudioRequest& request) {
  return {{.name = "FILE", .value = "", .doc = "A graph file to open", .to = &request.file, .offer = Offer::files},
          {"--port", "N", "Left out: any that is free", &request.port},
          {"--no-open", "", "Print the address and start no browser", &request.no_open},
          {"--verbose", "", "Write a line of JSON for every request to stderr", &request.verbose},
          {"--seconds", "S", "Time of a run, and of each step of a loop; left out: 300", &request.seconds},
          {"--memory", "MIB", "Memory of the tensors of a run; left out: 2048", &request.memory},
          {"--page", "DIR", "Take the page from a folder, for those who work on it", &request.page, Offer::files}};
}

Status bad_port(const std::string& port) {
  return complain({.rule = "problem-string",
                   .argument = "--port",
                   .reason = "there is no such port",
                   .got = in_quotes(port),
                   .wanted = "0 to 65535"});
}

// The folder of the file that is named is the one that the studio may use; without one it is where it was started.
Result<studio::Options> options_of(const StudioRequest& request) {
  const Result<std::int64_t> port = parse_number("--port", request.port);
  if (!port.ok()) return port.status();
  if (*port < 0 || *port > 65535) return bad_port(request.port);
  const Result<double> seconds = parse_positive("--seconds", request.seconds);
  if (!seconds.ok()) return seconds.status();
  const Result<double> memory = parse_positive("--memory", request.memory);
  if (!memory.ok()) return memory.status();
  if (!request.file.empty()) expect_readable_file(request.file);
  const fs::path file = request.file;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  return studio::Options{.file = file.filename().string(),
                         .folder = fs::canonical(folder).string(),
                         .port = static_cast<int>(*port),
                         .open = !request.no_open,
                         .verbose = request.verbose,
                         .page = request.page,
                         .budgets = {.tensor_bytes = static_cast<std::int64_t>(std::min(*memory, kMostMemory) * 0x1p20),
                                     .seconds = *seconds}};
}

}  // namespace

std::vector<Command> studio_commands() {
  return {command<StudioRequest>({"studio", "Edit and run graphs as blocks in the browser",
                                  "  convgrad studio\n"
                                  "  convgrad studio net.json\n"
                                  "  convgrad studio --no-open --port 8080\n"},
                                 studio_options, studio_command)};
}

int studio_command(const StudioRequest& request) {
  const Result<studio::Options> options = options_of(request);
  return options.ok() ? studio::serve(*options) : refuse(options.status());
}

std::optional<studio::Budgets> worker_budgets(int argc, char** argv) {
  if (argc != 4 || std::string_view(argv[1]) != "studio-worker") return std::nullopt;
  studio::Budgets budgets;
  budgets.tensor_bytes = std::atoll(argv[2]);
  budgets.nodes = std::atoll(argv[3]);
  return budgets;
}

}  // namespace convgrad::cli
