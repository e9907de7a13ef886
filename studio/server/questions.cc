#include "studio/server/questions.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <optional>

#include "cli/gradients.h"
#include "cli/graph_plan.h"
#include "cli/inferred.h"
#include "cli/pages.h"
#include "convgrad/npy.h"
#include "studio/server/fixes.h"
#include "studio/server/tensors.h"
#include "studio/server/test_case.h"

namespace convgrad::studio {
namespace {

using graph::CodeStyle;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Result<std::string> infer(std::string_view text, const Budgets& budgets) {
  const Result<Body> body = Body::read(text, {"page"});
  if (!body.ok()) return body.status();
  Result<graph::Page> page = body->page(budgets.nodes);
  if (!page.ok()) return page.status();
  const cli::InferredPage inferred = cli::inferred(std::move(*page));
  Json json = cli::inferred_json(inferred);
  add_fixes(json, inferred);
  return text_of(json);
}

// A page, its graph, and outputs of it that a body names.
struct Differentiated {
  graph::Page page;
  graph::PageGraph graph;
  cli::Derivative derivative;
};

Result<std::vector<graph::Output>> outputs_of(const graph::PageGraph& graph, const Body& body, std::string_view name) {
  const Result<std::vector<graph::PagePin>> pins = body.pins(name);
  if (!pins.ok()) return pins.status();
  if (pins->empty()) return refused_member(name, "nothing", "one output or more");
  std::vector<graph::Output> outputs;
  for (const graph::PagePin& pin : *pins) {
    const Result<graph::Output> output = cli::find_output(graph, pin, name);
    if (!output.ok()) return output.status();
    outputs.push_back(*output);
  }
  return outputs;
}

Result<Differentiated> differentiated(std::string_view text, const Budgets& budgets) {
  const Result<Body> body = Body::read(text, {"page", "outputs", "inputs"});
  if (!body.ok()) return body.status();
  Result<graph::Page> page = body->page(budgets.nodes);
  if (!page.ok()) return page.status();
  Result<graph::PageGraph> graph = graph::build_page(*page);
  if (!graph.ok()) return graph.status();
  Result<std::vector<graph::Output>> of = outputs_of(*graph, *body, "outputs");
  if (!of.ok()) return of.status();
  Result<std::vector<graph::Output>> wrt = outputs_of(*graph, *body, "inputs");
  if (!wrt.ok()) return wrt.status();
  return Differentiated{std::move(*page), std::move(*graph), {std::move(*of), std::move(*wrt)}};
}

Json pins_json(const std::vector<graph::PagePin>& pins) {
  Json json = Json::array();
  for (const graph::PagePin& pin : pins) json.push_back(Json::array({pin.node, pin.pin}));
  return json;
}

Result<std::string> differentiate(std::string_view text, const Budgets& budgets) {
  Result<Differentiated> made = differentiated(text, budgets);
  if (!made.ok()) return made.status();
  const std::size_t before = made->page.nodes.size();
  const Result<std::vector<graph::PagePin>> gradients = cli::add_gradients(made->page, made->graph, made->derivative);
  if (!gradients.ok()) return gradients.status();
  Json added = Json::array();
  for (std::size_t i = before; i < made->page.nodes.size(); ++i) added.push_back(made->page.nodes[i].id);
  const Result<std::string> page = graph::page_text(made->page);
  if (!page.ok()) return page.status();
  return fmt::format(R"({{"page":{},"added":{},"gradients":{}}})", *page, text_of(added),
                     text_of(pins_json(*gradients)));
}

Json check_json(const graph::GradientCheck& check) {
  return {
      {"ok", check.passed()}, {"error", check.max_error}, {"tolerance", check.tolerance}, {"largest", check.largest}};
}

Result<std::string> gradcheck(std::string_view text, const Budgets& budgets) {
  const Result<Differentiated> made = differentiated(text, budgets);
  if (!made.ok()) return made.status();
  bool ok = true;
  double error = 0;
  Json by_input = Json::array();
  for (const graph::Output& input : made->derivative.wrt) {
    const Result<graph::GradientCheck> check = cli::check_gradients(made->graph, {made->derivative.of, {input}});
    if (!check.ok()) return check.status();
    ok = ok && check->passed();
    error = std::max(error, check->max_error);
    Json one = {{"input", Json::array({input.node()->name(), cli::pin_name(input)})}};
    one.update(check_json(*check));
    by_input.push_back(std::move(one));
  }
  return text_of({{"ok", ok}, {"error", error}, {"by_input", by_input}});
}

Status not_a_convolution(const std::string& node) {
  return cli::complain({.rule = "graph-fetch",
                        .argument = "node",
                        .reason = "the block is no convolution",
                        .got = cli::in_quotes(cli::printable(node)),
                        .wanted = "a convolution or a gradient of one"});
}

Result<std::string> plan(std::string_view text, const Budgets& budgets) {
  const Result<Body> body = Body::read(text, {"page", "node", "engine"});
  if (!body.ok()) return body.status();
  const Result<graph::Page> page = body->page(budgets.nodes);
  if (!page.ok()) return page.status();
  const Result<std::string> node = body->string("node");
  if (!node.ok()) return node.status();
  const Result<std::string> engine = body->engine();
  if (!engine.ok()) return engine.status();
  const Result<graph::PageGraph> graph = graph::build_page(*page);
  if (!graph.ok()) return graph.status();
  const auto found = graph->nodes.find(*node);
  if (found == graph->nodes.end()) return not_a_convolution(*node);
  const Result<std::optional<cli::PlannedNode>> planned = cli::plan_node(*found->second, {.engine = *engine});
  if (!planned.ok()) return planned.status();
  if (!planned->has_value()) return not_a_convolution(*node);
  return text_of(cli::plan_json(**planned));
}

// What a page is exported as. No style: enuSpace's page, or a test case.
struct Export {
  std::string_view style;
  std::string_view file;
  std::optional<CodeStyle> code = {};
};
constexpr Export kExports[] = {{"cpp_graph", "page.cc", CodeStyle::cpp_graph},
                               {"cpp_eager", "page_eager.cc", CodeStyle::cpp_eager},
                               {"python_convgrad", "page.py", CodeStyle::python_convgrad},
                               {"python_tensorflow", "page_tensorflow.py", CodeStyle::python_tensorflow},
                               {"graphviz", "page.dot", CodeStyle::graphviz},
                               {"enuspace", "page_enuspace.json"},
                               {"test_case", "page_test.json"}};

Result<std::string> exported_text(const graph::Page& page, const Export& wanted) {
  if (wanted.code) return graph::page_code(page, *wanted.code);
  if (wanted.style == "test_case") return test_case_text(page);
  const Result<std::string> bytes = graph::page_to_enuspace(page);
  return bytes.ok() ? Result<std::string>(to_base64(*bytes)) : bytes.status();
}

Result<std::string> export_page(std::string_view text, const Budgets& budgets) {
  const Result<Body> body = Body::read(text, {"page", "style"});
  if (!body.ok()) return body.status();
  const Result<graph::Page> page = body->page(budgets.nodes);
  if (!page.ok()) return page.status();
  const Result<std::string> style = body->string("style");
  if (!style.ok()) return style.status();
  std::vector<std::string_view> styles;
  for (const Export& row : kExports) {
    styles.push_back(row.style);
    if (row.style != *style) continue;
    const Result<std::string> made = exported_text(*page, row);
    if (!made.ok()) return made.status();
    return text_of({{"name", row.file}, {"text", *made}});
  }
  return refused_member("style", cli::in_quotes(cli::printable(*style)), fmt::format("{}", fmt::join(styles, ", ")));
}

Result<std::string> bytes_of(const Body& body, std::string_view name) {
  if (!body.has(name)) return std::string();
  const Result<std::string> text = body.string(name);
  return text.ok() ? from_base64(name, *text) : text.status();
}

Result<std::string> import_page(std::string_view text, const Budgets&) {
  const Result<Body> body = Body::read(text, {"json", "svg", "dat"});
  if (!body.ok()) return body.status();
  if (!body->has("json")) return refused_member("json", "nothing", "an enuSpace page in base64");
  const Result<std::string> json = bytes_of(*body, "json"), svg = bytes_of(*body, "svg"), dat = bytes_of(*body, "dat");
  for (const Result<std::string>* part : {&json, &svg, &dat}) {
    if (!part->ok()) return part->status();
  }
  Result<graph::Page> page = graph::page_from_enuspace(*json, *dat);
  if (!page.ok()) return page.status();
  if (!svg->empty()) {
    const Result<std::vector<graph::PagePosition>> positions = graph::positions_from_enuspace(*svg);
    if (!positions.ok()) return positions.status();
    Json at = Json::object();
    for (const graph::PagePosition& one : *positions) at[one.node] = Json::array({one.x, one.y});
    page->view = text_of({{"studio", 1}, {"at", at}});
  }
  const Result<std::string> made = graph::page_text(*page);
  if (!made.ok()) return made.status();
  return fmt::format(R"({{"page":{}}})", *made);
}

Result<std::string> read_npy(std::string_view bytes, const Budgets&) {
  const Result<graph::Tensor> tensor = graph::parse_npy(bytes);
  if (!tensor.ok()) return tensor.status();
  return text_of({{"dtype", graph::DataTypeString(tensor->dtype())},
                  {"shape", tensor->shape().dim_sizes()},
                  {"data", head_json(*tensor, tensor->NumElements())}});
}

constexpr std::pair<std::string_view, Question> kQuestions[] = {
    {"infer", infer},        {"differentiate", differentiate}, {"gradcheck", gradcheck}, {"plan", plan},
    {"export", export_page}, {"import", import_page},          {"npy", read_npy}};

}  // namespace

Question find_question(std::string_view name) {
  for (const auto& [known, question] : kQuestions) {
    if (known == name) return question;
  }
  return nullptr;
}

Result<std::string> opened_page(std::string_view text, const std::string& folder) {
  const Result<graph::Page> page = cli::page_from_text(text, {folder});
  return page.ok() ? graph::page_text(*page) : page.status();
}

Result<std::string> saved_page(std::string_view text, const Budgets& budgets) {
  const Result<Body> body = Body::read(text, {"page", "stamp"});
  if (!body.ok()) return body.status();
  const Result<graph::Page> page = body->page(budgets.nodes);
  return page.ok() ? graph::page_text(*page) : page.status();
}

}  // namespace convgrad::studio
