// bench and tune: their options.
#include <fmt/core.h>

#include "cli/command.h"
#include "cli/commands.h"

namespace convgrad::cli {
namespace {

std::vector<Option> cells_options(CellsRequest& request, std::string seconds_doc) {
  std::vector<Option> options = {
      {"SHAPES.json", "", "Layers to time; left out: bench/shapes.json", &request.shapes, Offer::files},
      {"--ops", "A,B", fmt::format("Of filter, input and forward; left out: {}", request.ops), &request.ops},
      {"--dtypes", "A,B", "Of f32, f64, bf16 and f16; left out: all", &request.dtypes},
      {"--layouts", "A,B", "Channels last, first or both; left out: both", &request.layouts},
      {"--match", "TEXT", "Only shapes with this text in their name", &request.match},
      {"--isa", "NAME", "Instruction set to run, as CONVGRAD_ISA names it", &request.isa}};
  add_policy(options, request.policy);
  options.push_back({"--seconds", "S", std::move(seconds_doc), &request.seconds});
  return options;
}

std::vector<Option> bench_options(BenchRequest& request) {
  std::vector<Option> options = cells_options(request.cells, "Time spent on a cell; left out: 0.4");
  options.push_back({"--json", "FILE", "Write machine and rows there", &request.json_file, Offer::files});
  return options;
}

std::vector<Option> tune_options(TuneRequest& request) {
  std::vector<Option> options = cells_options(request.cells, "Time spent on each knob of a cell; left out: 0.4");
  options.push_back(
      {"--out", "FILE", "Write what won by more than 3 % there, for CONVGRAD_TUNE_FILE", &request.out, Offer::files});
  options.push_back({"--allow-other-bits", "", "Try knobs that change the order of sums, too", &request.other_bits});
  return options;
}

}  // namespace

std::vector<Command> measure_commands() {
  return {
      command<BenchRequest>({"bench", "Verify and time the layers of a shapes file",
                             "  convgrad bench --ops filter,input --dtypes f32 --layouts last --threads 1\n"
                             "  convgrad bench shapes.json --match rn50 --isa avx2 --seconds 1 --json rows.json\n"},
                            bench_options, bench_command),
      command<TuneRequest>({"tune", "Find faster ways to cut the work of a shapes file's layers",
                            "  convgrad tune shapes.json --dtypes f32 --layouts last --threads 1 --out tuned.txt\n"
                            "  CONVGRAD_TUNE_FILE=tuned.txt convgrad explain n8c64h56w56_k64r3s3_same_f32_forward\n"},
                           tune_options, tune_command)};
}

}  // namespace convgrad::cli
