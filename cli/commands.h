// The commands: what each is asked, and the function that answers it with an exit code.
#pragma once

#include <string>
#include <vector>

namespace convgrad::cli {

struct Option;

enum Exit : int {
  kOk = 0,
  kFailed = 1,     // a file cannot be read or written, memory ran out, our own mistake
  kRefused = 2,    // the call or the command line is wrong
  kCancelled = 3,  // an interrupt
};

// Numbers stay text here, so that a wrong one gets our sentence and not the option parser's.
struct PolicyRequest {
  std::string engine;         // empty: the cheapest
  std::string threads = "0";  // 0: one a core
  std::string math = "standard";
};
// --engine, --threads and --math.
void add_policy(std::vector<Option>& options, PolicyRequest& policy);

struct RunRequest {
  std::string subject;             // a problem string, or a graph file
  std::string first, second, out;  // files; empty: random operands, no file written
  std::string seed = "0";
  std::vector<std::string> fetch, feed;
  PolicyRequest policy;
  bool json = false;
  bool dry_run = false;
};

struct ExplainRequest {
  std::string subject;
  PolicyRequest policy;
};

struct CheckRequest {
  std::vector<std::string> words;  // GRAPH, PROBLEM, or OP key=value ...
  std::string case_file;           // or a file of cases; "-" is standard input
  bool json = false;
};

struct InferRequest {
  std::string graph;
  bool json = false;
};

struct GradRequest {
  std::string graph;
  std::vector<std::string> of, wrt;
  std::string out;  // empty: standard output
};

struct GradcheckRequest {
  std::string graph;
  std::vector<std::string> of, wrt, feed;
  std::string tolerance;  // empty: the library's
  bool json = false;
};

struct ConvertRequest {
  std::string in, out;
  std::string to;  // empty: by out's ending
};
std::vector<std::string> convert_forms();

struct OpsRequest {
  std::string name;  // empty: a list of all
  bool json = false;
  bool markdown = false;
};

struct DoctorRequest {
  bool json = false;
};

struct CompletionRequest {
  std::string shell;
};
std::vector<std::string> completion_shells();

struct NoRequest {};

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

struct StudioRequest {
  std::string file;  // empty: an empty page
  std::string port = "0";
  std::string seconds = "300";
  std::string memory = "2048";  // in MiB
  std::string page;             // empty: the page inside the program
  bool no_open = false;
  bool verbose = false;
};

int run_command(const RunRequest& request);
int explain_command(const ExplainRequest& request);
int check_command(const CheckRequest& request);
int infer_command(const InferRequest& request);
int grad_command(const GradRequest& request);
int gradcheck_command(const GradcheckRequest& request);
int convert_command(const ConvertRequest& request);
int ops_command(const OpsRequest& request);
int schema_command(const NoRequest& request);
int doctor_command(const DoctorRequest& request);
int completion_command(const CompletionRequest& request);
int man_command(const NoRequest& request);
int bench_command(const BenchRequest& request);
int tune_command(const TuneRequest& request);
int studio_command(const StudioRequest& request);

}  // namespace convgrad::cli
