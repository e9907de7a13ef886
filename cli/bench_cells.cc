// From the words of the command line and a shapes file to plans.
#include "cli/bench_cells.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <span>

#include "cli/answer.h"
#include "cli/bench_shapes.h"
#include "cli/bench_tensors.h"
#include "cli/files.h"
#include "cli/numbers.h"
#include "cli/policy.h"
#include "cli/suggest.h"

namespace convgrad::cli {
namespace {

template <class T>
struct Word {
  std::string_view text;
  T value;
};

constexpr Word<Direction> kOps[] = {
    {"filter", Direction::filter_grad}, {"input", Direction::input_grad}, {"forward", Direction::forward}};
constexpr Word<DType> kDTypes[] = {
    {"f32", DType::f32}, {"f64", DType::f64}, {"bf16", DType::bf16}, {"f16", DType::f16}};
constexpr Word<Layout> kLayouts[] = {{"last", Layout::channels_last}, {"first", Layout::channels_first}};

// An option whose value is words joined by commas.
template <class T>
struct WordOption {
  std::string_view name;
  std::string_view rule;
  std::span<const Word<T>> words;
};

template <class T>
Result<T> find_word(const WordOption<T>& option, std::string_view text) {
  std::vector<std::string> known;
  for (const Word<T>& word : option.words) {
    if (word.text == text) return word.value;
    known.emplace_back(word.text);
  }
  return complain({.rule = option.rule,
                   .argument = option.name,
                   .reason = fmt::format("{} takes no {}{}", option.name, in_quotes(text), did_you_mean(text, known)),
                   .got = in_quotes(text),
                   .wanted = fmt::format("{}", fmt::join(known, ", "))});
}

template <class T>
Result<std::vector<T>> find_words(const WordOption<T>& option, std::string_view text) {
  std::vector<T> values;
  while (true) {
    const std::size_t comma = text.find(',');
    const Result<T> value = find_word(option, text.substr(0, comma));
    if (!value.ok()) return value.status();
    values.push_back(*value);
    if (comma == std::string_view::npos) return values;
    text.remove_prefix(comma + 1);
  }
}

template <class T>
std::string_view text_of(std::span<const Word<T>> words, T value) {
  for (const Word<T>& word : words) {
    if (word.value == value) return word.text;
  }
  return "";
}

Result<std::vector<BenchShape>> matching_shapes(const CellsRequest& request) {
  Result<std::vector<BenchShape>> shapes = parse_shapes(read_text(request.shapes, kMaxShapesBytes));
  if (!shapes.ok()) return shapes;
  std::erase_if(*shapes, [&](const BenchShape& shape) { return shape.name.find(request.match) == std::string::npos; });
  if (!shapes->empty()) return shapes;
  return complain({.rule = "problem-string",
                   .argument = "--match",
                   .reason = fmt::format("{} has no such shape", in_quotes(request.shapes)),
                   .got = in_quotes(request.match),
                   .wanted = "a part of a shape's name"});
}

struct Asked {
  std::span<const Direction> ops;
  std::span<const DType> dtypes;
  std::span<const Layout> layouts;
};

Status add_cell(const BenchShape& shape, const ConvProblem& problem, const Policy& policy,
                std::vector<BenchCell>& cells) {
  Result<Plan> plan = make_plan(problem, policy);
  if (plan.ok()) cells.push_back({shape.name, to_text(problem), std::move(*plan)});
  return plan.status();
}

Status add_cells(const BenchShape& shape, const Asked& asked, const Policy& policy, std::vector<BenchCell>& cells) {
  ConvProblem problem = shape.problem;
  for (const DType dtype : asked.dtypes) {
    for (const Layout layout : asked.layouts) {
      for (const Direction op : asked.ops) {
        problem.dtype = dtype;
        problem.layout = layout;
        problem.direction = op;
        CONVGRAD_RETURN_IF_ERROR(add_cell(shape, problem, policy, cells));
      }
    }
  }
  return {};
}

Result<std::vector<BenchCell>> bench_cells(const CellsRequest& request, const Policy& policy) {
  const Result<std::vector<Direction>> ops = find_words<Direction>({"--ops", "op-name", kOps}, request.ops);
  if (!ops.ok()) return ops.status();
  const Result<std::vector<DType>> dtypes = find_words<DType>({"--dtypes", "dtype", kDTypes}, request.dtypes);
  if (!dtypes.ok()) return dtypes.status();
  const Result<std::vector<Layout>> layouts =
      find_words<Layout>({"--layouts", "format-name", kLayouts}, request.layouts);
  if (!layouts.ok()) return layouts.status();
  const Result<std::vector<BenchShape>> shapes = matching_shapes(request);
  if (!shapes.ok()) return shapes.status();
  std::vector<BenchCell> cells;
  for (const BenchShape& shape : *shapes) {
    CONVGRAD_RETURN_IF_ERROR(add_cells(shape, {*ops, *dtypes, *layouts}, policy, cells));
  }
  return cells;
}

}  // namespace

std::string_view op_word(Direction direction) { return text_of<Direction>(kOps, direction); }
std::string_view layout_word(Layout layout) { return text_of<Layout>(kLayouts, layout); }

Result<BenchWork> bench_work(const CellsRequest& request) {
  CONVGRAD_RETURN_IF_ERROR(use_isa(request.isa));
  const Result<Policy> policy = policy_of(request.policy);
  if (!policy.ok()) return policy.status();
  const Result<double> seconds = parse_positive("--seconds", request.seconds);
  if (!seconds.ok()) return seconds.status();
  const Result<std::vector<BenchCell>> cells = bench_cells(request, *policy);
  if (!cells.ok()) return cells.status();
  return BenchWork{*policy, *seconds, *cells};
}

}  // namespace convgrad::cli
