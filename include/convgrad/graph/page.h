// A page: a graph as its file, the command line and the studio know it. Unlike a Graph it may be wrong or unfinished.
//
// The file is UTF-8 JSON:
//   {
//     "convgrad": 1,
//     "nodes": [{"id": "x", "op": "Const", "attrs": {"value": {"dtype": "float", "shape": [2], "data": [1, 2]}}}, ...],
//     "edges": [[["x", "output"], ["conv", "input"]], ...],
//     "fetch": [["conv", "output"]],
//     "view": {...}
//   }
// Edges go from an output pin to an input pin; the pins of a list input are "inputs:0", "inputs:1", ... A control
// dependency is [["first", "^"], ["second", "^"]]. Attributes at their defaults, and the dtype of a Const, which its
// value tells, need not be written. A large tensor may lie beside the page: {"dtype": ..., "shape": ..., "npy":
// "x.npy"}. fetch is what a run shows, outputs that nobody reads when it is left out. view (positions, open windows) is
// kept and not looked at. The order of nodes and edges means nothing.
#ifndef CONVGRAD_GRAPH_PAGE_H_
#define CONVGRAD_GRAPH_PAGE_H_

#include <map>
#include <string>
#include <vector>

#include "convgrad/graph/scope.h"

namespace convgrad::graph {

struct PagePin {
  string node;  // its id
  string pin;
  friend bool operator==(const PagePin&, const PagePin&) = default;
  friend auto operator<=>(const PagePin&, const PagePin&) = default;
};

struct PageNode {
  string id;  // also the node's name in the graph
  string op;
  AttrMap attrs = {};
  string name = {};  // what a person calls it; empty: its id
};

struct PageEdge {
  PagePin from, to;
  friend bool operator==(const PageEdge&, const PageEdge&) = default;
};

struct Page {
  std::vector<PageNode> nodes = {};
  std::vector<PageEdge> edges = {};
  std::vector<PagePin> fetch = {};
  string view = {};  // JSON text; empty: none
};

// Where tensors of a page lie that are too large to stand in it: .npy files of one folder. Names with a path are
// refused.
struct PageFolder {
  string path = {};  // empty: there is none, and every tensor stands in the page
};

// Refuses text that is no page: a sentence with the line, or with the node and the pin. Ops and attributes are checked
// against the op table; what only a build can tell (types, shapes, cycles) is not.
CONVGRAD_API Result<Page> parse_page(std::string_view text, const PageFolder& folder = {});
// Keys in a fixed order, nodes and edges in the page's: page_text(parse_page(text)) is text again for every text that
// page_text wrote. With a folder, tensors of more than 64 elements go to files <id>.npy in it.
CONVGRAD_API Result<string> page_text(const Page& page, const PageFolder& folder = {});
CONVGRAD_API Result<Page> load_page(const string& path);
CONVGRAD_API convgrad::Status save_page(const Page& page, const string& path);

// The page as a graph: names are ids. Refuses duplicate ids, dangling wires, two wires to one pin, cycles, missing
// inputs, and all that Graph::add refuses; the status names node and pin.
struct PageGraph {
  Scope scope;
  std::map<string, Node*> nodes;
  std::vector<Output> fetch;
};
CONVGRAD_API Result<PageGraph> build_page(const Page& page);
CONVGRAD_API Page page_of(const Graph& graph);

// Every node as far as it can be known: one that is wrong, or depends on one that is, has a status and no outputs.
struct NodeReport {
  string id;
  convgrad::Status status = {};
  std::vector<WireInfo> outputs = {};
};
CONVGRAD_API std::vector<NodeReport> infer_page(const Page& page);

// The page as a program that computes and prints what it fetches.
enum class CodeStyle : int { cpp_graph, cpp_eager, python_convgrad, python_tensorflow, graphviz };
CONVGRAD_API Result<string> page_code(const Page& page, CodeStyle style);

// enuSpace's page JSON (UTF-16 of either byte order, or UTF-8) and its .dat file, if any. Unknown blocks, pins and
// attribute names are refused; so is a value with another number of elements than its shape.
CONVGRAD_API Result<Page> page_from_enuspace(std::string_view json, std::string_view dat = {});
// Where blocks lie in the drawing of such a page, an SVG file in either encoding; none of blocks that say no place.
struct PagePosition {
  string node;  // its id
  int64 x = 0, y = 0;
};
CONVGRAD_API Result<std::vector<PagePosition>> positions_from_enuspace(std::string_view svg);
// A page as enuSpace reads it: UTF-16LE with a byte order mark, blocks in dependency order.
CONVGRAD_API Result<string> page_to_enuspace(const Page& page);

// An element as page files write it, without quotes: the fewest digits that read back as the same one, "NaN", "true".
CONVGRAD_API string element_text(const Tensor& tensor, int64 index);

// The op table as JSON, and the JSON Schema of page files made from it.
CONVGRAD_API string ops_json();
CONVGRAD_API string page_schema();

}  // namespace convgrad::graph

#endif  // CONVGRAD_GRAPH_PAGE_H_
