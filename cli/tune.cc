// convgrad tune: times other ways to cut the work of each layer, and keeps the knobs that win.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "cli/answer.h"
#include "cli/bench_cells.h"
#include "cli/bench_report.h"
#include "cli/bench_tensors.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "convgrad/system.h"
#include "convgrad/version.h"

namespace convgrad::cli {
namespace {

constexpr int kLeastTurns = 5;
constexpr double kWorthKeeping = 0.97;  // of the time before: less gain than 3 % may be the machine's mood

struct Candidate {
  Knobs knobs;
  Plan plan;
  double least_ms = std::numeric_limits<double>::infinity();
};

// How candidates are looked for.
struct Search {
  Policy policy;
  double seconds;  // for each knob
  bool other_bits;
};

struct TunedCell {
  const BenchCell* cell;
  Knobs knobs;  // all 0: nothing won
  double before_ms, after_ms;
};

Result<Candidate> candidate(const Geometry& geometry, const Knobs& knobs, const Search& search) {
  Policy policy = search.policy;
  policy.knobs = knobs;
  Result<Plan> plan = make_plan(geometry, policy);
  if (!plan.ok()) return plan.status();
  return Candidate{knobs, std::move(*plan)};
}

// Knobs that no limit of the problem lets through leave the plan as it was.
bool same_cut(const Plan& a, const Plan& b) {
  return a.kernel == b.kernel && a.why == b.why && a.workspace_bytes == b.workspace_bytes;
}

// The start, then what other values of the knob make of it; those that get no plan are left out.
std::vector<Candidate> varied(const Candidate& start, const KnobInfo& knob, const Search& search) {
  std::vector<Candidate> all = {{start.knobs, start.plan}};
  for (const std::int64_t value : knob.tries) {
    Knobs knobs = start.knobs;
    knobs.*knob.field = value;
    Result<Candidate> other = candidate(start.plan.geometry, knobs, search);
    const auto same = [&](const Candidate& known) { return same_cut(known.plan, other->plan); };
    if (other.ok() && std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(*other));
  }
  return all;
}

// In turns, so that a busy moment of the machine falls on all of them.
Status time_in_turns(std::vector<Candidate>& candidates, CellTensors& tensors, const Search& search) {
  for (const Candidate& c : candidates) CONVGRAD_RETURN_IF_ERROR(tensors.grow_workspace(c.plan.workspace_bytes));
  double spent = 0;
  for (int turn = 0; turn < kLeastTurns || spent < search.seconds * 1e3; ++turn) {
    for (Candidate& c : candidates) {
      const Result<double> taken = timed_call(c.plan, tensors.args(c.plan), search.policy);
      if (!taken.ok()) return taken.status();
      spent += *taken;
      if (turn > 0) c.least_ms = std::min(c.least_ms, *taken);  // the first warms up
    }
  }
  return {};
}

// The fastest, if it is faster than the first by enough; else the first.
const Candidate& winner(const std::vector<Candidate>& candidates) {
  const Candidate& fastest =
      *std::min_element(candidates.begin(), candidates.end(),
                        [](const Candidate& a, const Candidate& b) { return a.least_ms < b.least_ms; });
  return fastest.least_ms < kWorthKeeping * candidates.front().least_ms ? fastest : candidates.front();
}

Result<Candidate> found(const Candidate& own, CellTensors& tensors, const Search& search) {
  Candidate best = own;
  for (const KnobInfo& knob : all_knobs()) {
    if (!knob.keeps_bits && !search.other_bits) continue;
    std::vector<Candidate> candidates = varied(best, knob, search);
    if (candidates.size() == 1) continue;
    CONVGRAD_RETURN_IF_ERROR(time_in_turns(candidates, tensors, search));
    best = winner(candidates);
  }
  return best;
}

// What both plans make of the same operands; knobs that keep bits and do not are our mistake.
Status same_bits(const Candidate& a, const Candidate& b, CellTensors& tensors, const Search& search) {
  CONVGRAD_RETURN_IF_ERROR(run(a.plan, tensors.args(a.plan), search.policy));
  const Result<Tensor> wanted = tensors.result.clone();
  if (!wanted.ok()) return wanted.status();
  CONVGRAD_RETURN_IF_ERROR(run(b.plan, tensors.args(b.plan), search.policy));
  if (std::memcmp(wanted->data(), tensors.result.data(), static_cast<std::size_t>(wanted->bytes())) != 0)
    throw std::runtime_error(
        fmt::format("{} changes the bits of {}", to_text(b.knobs), to_text(problem_of(a.plan.geometry))));
  return {};
}

Result<TunedCell> tune_cell(const BenchCell& cell, const Search& search) {
  Result<CellTensors> tensors = tensors_of(cell.plan);
  if (!tensors.ok()) return tensors.status();
  const Result<Candidate> own = candidate(cell.plan.geometry, Knobs{}, search);
  if (!own.ok()) return own.status();
  const Result<Candidate> best = found(*own, *tensors, search);
  if (!best.ok()) return best.status();
  // Once more, these two alone: the least of many candidates is lucky as well as fast.
  std::vector<Candidate> last = {{Knobs{}, own->plan}};
  if (best->knobs != Knobs{}) last.push_back({best->knobs, best->plan});
  CONVGRAD_RETURN_IF_ERROR(time_in_turns(last, *tensors, search));
  const Candidate& kept = winner(last);
  if (!search.other_bits) CONVGRAD_RETURN_IF_ERROR(same_bits(last.front(), kept, *tensors, search));
  return TunedCell{&cell, kept.knobs, last.front().least_ms, kept.least_ms};
}

void print_tuned(const TunedCell& tuned) {
  fmt::print("{:<26} {} {:>10.3f} {:>10.3f} {:>7.1f}  {}\n", tuned.cell->shape, kind_of(tuned.cell->plan.geometry),
             tuned.before_ms, tuned.after_ms, 100 * (tuned.before_ms / tuned.after_ms - 1), to_text(tuned.knobs));
  std::fflush(stdout);  // a run takes minutes and is watched
}

Result<std::vector<TunedCell>> tune_all(const std::vector<BenchCell>& cells, const Search& search) {
  std::vector<TunedCell> all;
  fmt::print("{:<26} {:<18} {:>10} {:>10} {:>7}  knobs\n", "shape", "cell", "before ms", "after ms", "gain %");
  for (const BenchCell& cell : cells) {
    const Result<TunedCell> tuned = tune_cell(cell, search);
    if (!tuned.ok()) return tuned.status();
    print_tuned(*tuned);
    all.push_back(*tuned);
  }
  return all;
}

std::string file_text(const std::vector<TunedCell>& all, int threads) {
  std::string text = fmt::format("# convgrad {} tune --threads {}, {}\n", CONVGRAD_VERSION_STRING, threads,
                                 printable(system_info().cpu));
  for (const TunedCell& tuned : all) {
    if (tuned.knobs != Knobs{}) text += tune_line(tuned.cell->plan.geometry, tuned.knobs) + "\n";
  }
  return text;
}

}  // namespace

int tune_command(const TuneRequest& request) {
  const Result<BenchWork> work = bench_work(request.cells);
  if (!work.ok()) return refuse(work.status());
  const Result<std::vector<TunedCell>> all = tune_all(work->cells, {work->policy, work->seconds, request.other_bits});
  if (!all.ok()) return refuse(all.status());
  if (!request.out.empty()) write_parts(request.out, {file_text(*all, work->policy.threads)});
  return kOk;
}

}  // namespace convgrad::cli
