// Bytes as a problem string: what parses must survive the way to text and back, and validate() must answer.
// How to build and run: fuzz/CMakeLists.txt.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "convgrad/convgrad.h"

namespace {

using namespace convgrad;

void demand(bool fact, const char* what, const std::string& text) {
  if (fact) return;
  std::fprintf(stderr, "%s: %s\n", what, text.c_str());
  std::abort();
}

bool equal(const Extents& a, const Extents& b, int rank) {
  for (int i = 0; i < rank; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

bool equal_pads(const ConvProblem& a, const ConvProblem& b) {
  if (a.padding != b.padding) return false;
  for (int i = 0; i < a.rank && a.padding == PaddingKind::explicit_pairs; ++i) {
    if (a.pads[i] != b.pads[i]) return false;
  }
  return true;
}

bool equal(const ConvProblem& a, const ConvProblem& b) {
  return a.direction == b.direction && a.rank == b.rank && a.dtype == b.dtype && a.layout == b.layout && a.n == b.n &&
         a.c_in == b.c_in && a.filter_c == b.filter_c && a.c_out == b.c_out && equal(a.in, b.in, a.rank) &&
         equal(a.filter, b.filter, a.rank) && equal(a.stride, b.stride, a.rank) &&
         equal(a.dilation, b.dilation, a.rank) && equal_pads(a, b) && a.out.has_value() == b.out.has_value() &&
         (!a.out || equal(*a.out, *b.out, a.rank));
}

void refusal_is_complete(const Status& status, const std::string& text) {
  demand(!status.message().empty() && !status.argument().empty() && !status.rule().empty(), "an empty refusal", text);
}

void validates_to_itself(const ConvProblem& problem, const std::string& text) {
  const Result<Geometry> geometry = validate(problem);
  if (!geometry.ok()) return refusal_is_complete(geometry.status(), text);
  const Extents& filter = geometry->filter;
  // SAME around a filter of size 0 has an output size that no explicit padding gives.
  if (filter[0] == 0 || filter[1] == 0 || filter[2] == 0) return;
  const Result<Geometry> again = validate(problem_of(*geometry));
  demand(again.ok(), "problem_of() gives a problem that is refused", text);
  demand(*again == *geometry, "problem_of() gives another geometry", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<ConvProblem> problem = parse_problem(bytes);
  if (!problem.ok()) {
    refusal_is_complete(problem.status(), std::string(bytes));
    return 0;
  }
  const std::string text = to_text(*problem);
  const Result<ConvProblem> back = parse_problem(text);
  demand(back.ok(), "to_text() gives text that does not parse", text);
  demand(equal(*problem, *back), "text and back gives another problem", text);
  demand(to_text(*back) == text, "text and back gives another text", text);
  validates_to_itself(*problem, text);
  return 0;
}
