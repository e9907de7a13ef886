// convgrad check: the library's verdict on a graph, a problem, an op call, or a file of cases.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cli/answer.h"
#include "cli/case_file.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/infer.h"
#include "cli/pages.h"
#include "convgrad/geometry.h"

namespace convgrad::cli {
namespace {

std::string result_text(const Geometry& geometry) {
  return fmt::format("result {} [{}]", info(geometry.dtype).id, fmt::join(result_shape(geometry), ","));
}

// problem: the text of a legal call as a problem string, or what the caller wrote as one.
Json verdict_json(const Result<Geometry>& verdict, std::string_view asked) {
  Json json = status_json(verdict.status());
  json["result_shape"] = verdict.ok() ? Json(result_shape(*verdict)) : Json();
  if (!asked.empty()) {
    json["problem"] = asked;
  } else {
    json["problem"] = verdict.ok() ? Json(to_text(problem_of(*verdict))) : Json();
  }
  return json;
}

int answer(const Result<Geometry>& verdict, std::string_view asked, bool json) {
  if (json) {
    print_json(verdict_json(verdict, asked));
  } else if (verdict.ok()) {
    print_line(fmt::format("ok {}", result_text(*verdict)));
  }
  return verdict.ok() ? static_cast<int>(kOk) : refuse(verdict.status());
}

Result<Geometry> judge(const Result<OwnedCall>& call) {
  return call.ok() ? validate(call->view()) : Result<Geometry>(call.status());
}

Result<Geometry> judge_problem(std::string_view text) {
  const Result<ConvProblem> problem = parse_problem(text);
  return problem.ok() ? validate(*problem) : Result<Geometry>(problem.status());
}

void answer_case(const Case& one, const Result<Geometry>& verdict, bool json) {
  if (json) {
    Json line = {{"id", one.id}};
    line.update(verdict_json(verdict, ""));
    print_json(line);
  } else if (verdict.ok()) {
    print_line(fmt::format("{} ok {}", one.id, result_text(*verdict)));
  } else {
    const Status& status = verdict.status();
    print_line(
        fmt::format("{} refused {} {} {}", one.id, name(status.code()), status.rule(), printable(status.message())));
  }
}

int check_cases(const CheckRequest& request) {
  const Result<std::vector<Case>> cases = parse_cases(read_text(request.case_file, kMaxCaseBytes));
  if (!cases.ok()) return answer(cases.status(), "", request.json);
  std::size_t refused = 0;
  Status last;
  for (const Case& one : *cases) {
    const Result<Geometry> verdict = judge(one.call);
    answer_case(one, verdict, request.json);
    refused += verdict.ok() ? 0 : 1;
    last = verdict.status();
  }
  if (refused == 0) return kOk;
  if (cases->size() == 1) return refuse(last);
  return refuse_usage(fmt::format("{} of {} cases are refused", refused, cases->size()));
}

}  // namespace

int check_command(const CheckRequest& request) {
  const std::vector<std::string>& words = request.words;
  if (!words.empty() && !request.case_file.empty())
    return refuse_usage("check takes a call or --case FILE.json, not both");
  if (!request.case_file.empty()) return check_cases(request);
  if (words.empty())
    return refuse_usage(
        "check needs a problem, a graph, an op with its arguments, or --case FILE.json; try 'convgrad check --help'");
  if (words.size() == 1 && names_page(words[0])) return check_graph(words[0], request.json);
  if (words.size() == 1 && !resembles_op(words[0])) return answer(judge_problem(words[0]), words[0], request.json);
  return answer(judge(parse_call(words)), "", request.json);
}

}  // namespace convgrad::cli
