// The commands: what each is asked, and the function that answers it with an exit code.
#pragma once

#include <string>
#include <vector>

namespace convgrad::cli {

enum Exit : int {
  kOk = 0,
  kFailed = 1,   // a file cannot be read or written, memory ran out, our own mistake
  kRefused = 2,  // the call or the command line is wrong
};

// Numbers stay text here, so that a wrong one gets our sentence and not the option parser's.
struct PolicyRequest {
  std::string engine;         // empty: the cheapest
  std::string threads = "0";  // 0: one a core
};

struct RunRequest {
  std::string problem;
  std::string first, second, out;  // .npy files; empty: random operands, no file written
  std::string seed = "0";
  PolicyRequest policy;
  bool json = false;
  bool dry_run = false;
};

struct ExplainRequest {
  std::string problem;
  PolicyRequest policy;
};

struct CheckRequest {
  std::vector<std::string> words;  // PROBLEM, or OP key=value ...
  std::string case_file;           // or a file of cases; "-" is standard input
  bool json = false;
};

// Layers of a shapes file, and how long each is timed.
struct CellsRequest {
  std::string shapes = "bench/shapes.json";
  std::string ops = "filter,input,forward";
  std::string dtypes = "f32,f64,bf16,f16";
  std::string layouts = "last,first";
  std::string match = {};       // only shapes with this in their name
  std::string isa = {};         // empty: the best of this CPU
  std::string seconds = "0.4";  // a cell
  PolicyRequest policy = {};
};

struct BenchRequest {
  CellsRequest cells;
  std::string json_file;
};

struct TuneRequest {
  CellsRequest cells = {.ops = "input,forward"};  // the others have no knobs
  std::string out;                                // empty: no file written
  bool other_bits = false;                        // try knobs that change results in their last bits, too
};

int run_command(const RunRequest& request);
int explain_command(const ExplainRequest& request);
int check_command(const CheckRequest& request);
int ops_command(bool json);
int doctor_command(bool json);
int bench_command(const BenchRequest& request);
int tune_command(const TuneRequest& request);

}  // namespace convgrad::cli
