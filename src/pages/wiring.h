// The wires of a page, resolved: who reads what, in which order nodes can be built, and what is wrong with each.
#pragma once

#include <map>

#include "convgrad/graph/page.h"
#include "pages/refusals.h"

namespace convgrad::graph {

constexpr int kNobody = -1;

// An output pin by numbers.
struct PinSource {
  int node = kNobody;
  int output = 0;
};

struct WiredNode {
  const PageNode* page = nullptr;
  const OpSpec* op = nullptr;
  convgrad::Status status = {};          // what is wrong with the node itself
  std::vector<PinSource> inputs = {};    // one a pin, a list's pins one after the other
  std::vector<int> control_inputs = {};  // nodes
};

struct Wiring {
  std::vector<WiredNode> nodes = {};
  std::map<std::string_view, int, std::less<>> by_id = {};
  std::vector<int> order = {};                 // those not in or behind a cycle, inputs before readers
  std::vector<convgrad::Status> nowhere = {};  // of wires and fetches that lead to no node
  std::vector<PinSource> fetch = {};

  // Of all, the first by the page's order.
  convgrad::Status first_error() const;
};

// Views the page, which must stay as it is.
Wiring wire(const Page& page);

// The number of an output pin; -1 when there is none of that name.
int output_index(const OpSpec& op, std::string_view pin);
// The pin of an input by its number: "filter", "inputs:1".
string input_name(const OpSpec& op, std::size_t input);

}  // namespace convgrad::graph
