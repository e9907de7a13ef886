// convgrad convert: a graph from one form to another.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/pages.h"

namespace convgrad::cli {
namespace {

using graph::CodeStyle;

// A form that graphs are written in: a program, or a page when there is no style.
struct Form {
  std::string_view name;
  std::optional<CodeStyle> style = {};
  std::vector<std::string_view> endings = {};
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {{"convgrad", {}, {".json"}},
                                        {"enuspace"},
                                        {"cpp", CodeStyle::cpp_graph, {".cc", ".cpp", ".cxx"}},
                                        {"cpp-eager", CodeStyle::cpp_eager},
                                        {"python", CodeStyle::python_convgrad, {".py"}},
                                        {"tensorflow", CodeStyle::python_tensorflow},
                                        {"dot", CodeStyle::graphviz, {".dot", ".gv"}}};
  return all;
}

Result<Form> form_of(const ConvertRequest& request) {
  for (const Form& form : forms()) {
    if (form.name == request.to) return form;
    const auto fits = [&](std::string_view ending) { return request.out.ends_with(ending); };
    if (request.to.empty() && std::any_of(form.endings.begin(), form.endings.end(), fits)) return form;
  }
  return complain({.rule = "problem-string",
                   .argument = "--to",
                   .reason = fmt::format("the ending of {} tells no form", in_quotes(request.out)),
                   .got = in_quotes(request.out),
                   .wanted = fmt::format("an ending that does, or --to {}", fmt::join(convert_forms(), ", "))});
}

}  // namespace

std::vector<std::string> convert_forms() {
  std::vector<std::string> names;
  for (const Form& form : forms()) names.emplace_back(form.name);
  return names;
}

int convert_command(const ConvertRequest& request) {
  const Result<Form> form = form_of(request);
  if (!form.ok()) return refuse(form.status());
  const Result<graph::Page> page = read_page(request.in);
  if (!page.ok()) return refuse(page.status());
  if (form->name == "convgrad") return write_page(*page, request.out == "-" ? "" : request.out);
  const Result<std::string> text = form->style ? graph::page_code(*page, *form->style) : graph::page_to_enuspace(*page);
  if (!text.ok()) return refuse(text.status());
  write_text(request.out == "-" ? "" : request.out, *text);
  return kOk;
}

}  // namespace convgrad::cli
