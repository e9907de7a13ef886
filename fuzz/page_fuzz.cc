// Bytes as a page, ours or enuSpace's: what is read must survive the way to text and back, and building, inferring and
// exporting must answer. How to build and run: fuzz/CMakeLists.txt.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "convgrad/graph/page.h"
#include "convgrad/npy.h"

namespace {

using namespace convgrad::graph;
using convgrad::Result;

void demand(bool fact, const char* what, const std::string& text) {
  if (fact) return;
  std::fprintf(stderr, "%s: %s\n", what, text.c_str());
  std::abort();
}

void refusal_is_complete(const convgrad::Status& status) {
  demand(!status.message().empty() && !status.rule().empty(), "an empty refusal", status.message());
}

bool same_nodes(const Page& a, const Page& b) {
  if (a.nodes.size() != b.nodes.size()) return false;
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    const PageNode &left = a.nodes[i], &right = b.nodes[i];
    if (left.id != right.id || left.op != right.op || left.name != right.name) return false;
    for (const auto& [name, value] : right.attrs) {  // those at their defaults are gone
      const auto found = left.attrs.find(name);
      if (found == left.attrs.end() || !same_value(found->second, value)) return false;
    }
  }
  return true;
}

bool same_page(const Page& a, const Page& b) {
  return same_nodes(a, b) && a.edges == b.edges && a.fetch == b.fetch && a.view == b.view;
}

void survives_text(const Page& page) {
  const Result<string> text = page_text(page);
  demand(text.ok(), "a page that was read cannot be written", text.status().message());
  const Result<Page> back = parse_page(*text);
  demand(back.ok(), "page_text() gives text that does not parse", *text);
  demand(same_page(page, *back), "text and back gives another page", *text);
  demand(page_text(*back).value() == *text, "text and back gives another text", *text);
}

void has_answers(const Page& page) {
  const Result<PageGraph> built = build_page(page);
  bool all_good = true;
  const std::vector<NodeReport> reports = infer_page(page);
  demand(reports.size() >= page.nodes.size(), "a node has no report", page_text(page).value());
  for (const NodeReport& report : reports) {
    all_good = all_good && report.status.ok();
    if (!report.status.ok()) refusal_is_complete(report.status);
  }
  demand(built.ok() == all_good, "build and infer disagree", page_text(page).value());
  if (!built.ok()) refusal_is_complete(built.status());
  for (int style = 0; style < 5; ++style) {
    const Result<string> code = page_code(page, static_cast<CodeStyle>(style));
    if (!code.ok()) refusal_is_complete(code.status());
  }
  if (built.ok())
    demand(build_page(page_of(*built->scope.graph())).ok(), "a graph gives no page", page_text(page).value());
}

void survives_enuspace(const Page& page) {
  const Result<string> bytes = page_to_enuspace(page);
  if (!bytes.ok()) return refusal_is_complete(bytes.status());
  static_cast<void>(page_from_enuspace(*bytes));  // attributes that only a build refuses may be refused here
}

void read_as_page(const Result<Page>& page) {
  if (!page.ok()) return refusal_is_complete(page.status());
  survives_text(*page);
  has_answers(*page);
  survives_enuspace(*page);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_as_page(parse_page(bytes));
  // The .dat file is what follows the first zero byte, where there is one.
  const std::size_t end = bytes.find('\0');
  const bool utf16 = bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
  if (utf16 || end == std::string_view::npos)
    read_as_page(page_from_enuspace(bytes));
  else
    read_as_page(page_from_enuspace(bytes.substr(0, end), bytes.substr(end + 1)));
  const Result<Tensor> tensor = parse_npy(bytes);
  if (tensor.ok())
    demand(same_value(parse_npy(npy_bytes(*tensor).value()).value(), *tensor), "a .npy file gives another tensor", "");
  return 0;
}
