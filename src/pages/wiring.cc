#include "pages/wiring.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "pages/build_order.h"

namespace convgrad::graph {
namespace {

constexpr std::string_view kControl = "^";

std::vector<string> names_of(const std::vector<PinSpec>& pins) {
  std::vector<string> names;
  for (const PinSpec& pin : pins) names.push_back(pin.list ? pin.name + ":0" : pin.name);
  return names;
}

// A pin of an op: its row, and the entry of a list.
struct InputPin {
  std::size_t row = 0;
  std::size_t entry = 0;
};

// The entry of "inputs:3" for the list `name`.
std::optional<std::size_t> list_entry(std::string_view pin, std::string_view name) {
  if (pin.size() <= name.size() + 1 || !pin.starts_with(name) || pin[name.size()] != ':') return std::nullopt;
  const std::string_view digits = pin.substr(name.size() + 1);
  std::size_t entry = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), entry);
  const bool canonical = digits == "0" || digits[0] != '0';
  if (error != std::errc() || end != digits.data() + digits.size() || !canonical) return std::nullopt;
  return entry;
}

std::optional<InputPin> find_input(const OpSpec& op, std::string_view pin) {
  for (std::size_t row = 0; row < op.inputs.size(); ++row) {
    if (!op.inputs[row].list && op.inputs[row].name == pin) return InputPin{row, 0};
    if (!op.inputs[row].list) continue;
    if (const std::optional<std::size_t> entry = list_entry(pin, op.inputs[row].name)) return InputPin{row, *entry};
  }
  return std::nullopt;
}

struct Pinned {
  InputPin pin;
  PinSource source;
  const PageEdge* edge;
};

class Wirer {
 public:
  explicit Wirer(const Page& page) : page_(page), pinned_(page.nodes.size()) {}

  Wiring wire() {
    for (const PageNode& node : page_.nodes) add_node(node);
    for (const PageEdge& edge : page_.edges) add_edge(edge);
    for (std::size_t i = 0; i < pinned_.size(); ++i) fill_pins(i);
    find_order();
    add_fetches();
    return std::move(wiring_);
  }

 private:
  WiredNode& at(int node) { return wiring_.nodes[static_cast<std::size_t>(node)]; }

  // The first thing that is wrong with a node is the one that stays.
  void blame(int node, const convgrad::Status& status) {
    WiredNode& wired = at(node);
    if (wired.status.ok()) wired.status = at_node(status, wired.page->id);
  }

  void add_node(const PageNode& node) {
    const int index = static_cast<int>(wiring_.nodes.size());
    wiring_.nodes.push_back({.page = &node, .op = find_graph_op(node.op)});
    if (node.id.empty())
      return blame(index, refuse("page", {.rule = Rule::graph_name,
                                          .argument = "id",
                                          .reason = "a node has no id",
                                          .got = "''",
                                          .wanted = "an id of its own"}));
    if (!wiring_.by_id.emplace(node.id, index).second)
      blame(index, refuse("page", {.rule = Rule::graph_name,
                                   .argument = "id",
                                   .reason = concat("two nodes have the id ", shown(node.id)),
                                   .got = shown(node.id),
                                   .wanted = "an id of its own"}));
    if (at(index).op == nullptr) blame(index, unknown_op(node.op));
  }

  int find(const string& id) const {
    const auto found = wiring_.by_id.find(id);
    return found == wiring_.by_id.end() ? kNobody : found->second;
  }

  static convgrad::Status no_node(const PagePin& missing, std::string_view what) {
    return at_node(refuse("page", {.rule = Rule::graph_input,
                                   .argument = missing.pin,
                                   .reason = concat(what, " pin ", shown(missing.pin), " of node ", shown(missing.node),
                                                    ", and there is no such node"),
                                   .got = shown(missing.node),
                                   .wanted = "the id of a node"}),
                   missing.node);
  }

  static convgrad::Status no_input(const OpSpec& op, const PagePin& pin) {
    return refuse(op.name, {.rule = Rule::graph_input,
                            .argument = pin.pin,
                            .reason = concat("node ", shown(pin.node), " has no input ", shown(pin.pin)),
                            .got = shown(pin.pin),
                            .wanted = meant(pin.pin, names_of(op.inputs))});
  }

  // A wire into `to` whose other end does not exist.
  void blame_source(int to, const PageEdge& edge, std::string_view missing, string got, string wanted) {
    blame(to, refuse("page", {.rule = Rule::graph_input,
                              .argument = edge.to.pin,
                              .reason = concat("input ", shown(edge.to.pin), " is wired to ", shown(edge.from.pin),
                                               " of ", shown(edge.from.node), ", and there is no such ", missing),
                              .got = std::move(got),
                              .wanted = std::move(wanted)}));
  }

  void add_edge(const PageEdge& edge) {
    const int from = find(edge.from.node), to = find(edge.to.node);
    if (to == kNobody) return wiring_.nowhere.push_back(no_node(edge.to, "a wire goes to"));
    if (from == kNobody) return blame_source(to, edge, "node", shown(edge.from.node), "the id of a node");
    const OpSpec *op = at(to).op, *source = at(from).op;
    const bool control = edge.to.pin == kControl, any = source == nullptr || (control && edge.from.pin == kControl);
    const int output = any ? 0 : output_index(*source, edge.from.pin);
    if (output < 0)
      return blame_source(to, edge, "output", shown(edge.from.pin), meant(edge.from.pin, names_of(source->outputs)));
    // Of an op that is not known pins are not either; but it waits.
    if (control || op == nullptr) return at(to).control_inputs.push_back(from);
    const std::optional<InputPin> input = find_input(*op, edge.to.pin);
    if (!input) return blame(to, no_input(*op, edge.to));
    pinned_[static_cast<std::size_t>(to)].push_back({*input, {from, output}, &edge});
  }

  void fill_pins(std::size_t index) {
    WiredNode& node = wiring_.nodes[index];
    if (node.op == nullptr) return;
    std::vector<Pinned>& pins = pinned_[index];
    std::sort(pins.begin(), pins.end(), [](const Pinned& a, const Pinned& b) {
      return std::tuple(a.pin.row, a.pin.entry, a.edge) < std::tuple(b.pin.row, b.pin.entry, b.edge);
    });
    for (const Pinned& pinned : pins) node.inputs.push_back(pinned.source);
    const convgrad::Status status = pins_are_full(*node.op, pins);
    if (!status.ok()) blame(static_cast<int>(index), status);
  }

  // One wire a pin, and no gap in a list. The wires are in the order of the pins.
  static convgrad::Status pins_are_full(const OpSpec& op, const std::vector<Pinned>& pins) {
    auto next = pins.begin();
    for (std::size_t row = 0; row < op.inputs.size(); ++row) {
      const PinSpec& spec = op.inputs[row];
      std::size_t entry = 0;
      for (; next != pins.end() && next->pin.row == row; ++next, ++entry) {
        if (next->pin.entry < entry) return two_wires(op, *next);
        if (next->pin.entry > entry) return not_wired(op, concat(spec.name, ":", entry));
      }
      if (entry == 0) return not_wired(op, spec.list ? spec.name + ":0" : spec.name);
    }
    return {};
  }

  static convgrad::Status two_wires(const OpSpec& op, const Pinned& pinned) {
    return refuse(op.name, {.rule = Rule::graph_input,
                            .argument = pinned.edge->to.pin,
                            .reason = concat("two wires go to input ", shown(pinned.edge->to.pin)),
                            .got = concat("one more from ", shown(pinned.edge->from.node)),
                            .wanted = "one wire a pin"});
  }

  static convgrad::Status not_wired(const OpSpec& op, const string& pin) {
    return refuse(op.name, {.rule = Rule::graph_input,
                            .argument = pin,
                            .reason = concat("input '", pin, "' is not wired"),
                            .got = "nothing",
                            .wanted = "a wire"});
  }

  void find_order() {
    std::vector<std::vector<int>> sources(wiring_.nodes.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const WiredNode& node = wiring_.nodes[i];
      for (const PinSource& source : node.inputs) sources[i].push_back(source.node);
      sources[i].insert(sources[i].end(), node.control_inputs.begin(), node.control_inputs.end());
    }
    BuildOrder found = build_order(sources);
    wiring_.order = std::move(found.order);
    for (const std::vector<int>& cycle : found.cycles) blame_cycle(cycle);
  }

  void blame_cycle(const std::vector<int>& cycle) {
    constexpr std::size_t kNamed = 8;
    string names;
    for (std::size_t i = 0; i < std::min(cycle.size(), kNamed); ++i) names += shown(at(cycle[i]).page->id) + " <- ";
    names += cycle.size() > kNamed ? string("...") : shown(at(cycle.front()).page->id);
    const convgrad::Status status = refuse("page", {.rule = Rule::graph_cycle,
                                                    .argument = "edges",
                                                    .reason = concat("nodes wait for each other in a circle: ", names),
                                                    .got = concat("a circle of ", cycle.size(), " nodes"),
                                                    .wanted = "wires without a circle"});
    for (int node : cycle) blame(node, status);
  }

  void add_fetches() {
    for (const PagePin& pin : page_.fetch) {
      const int node = find(pin.node);
      if (node == kNobody) {
        wiring_.nowhere.push_back(no_node(pin, "fetch names"));
        continue;
      }
      if (at(node).op == nullptr) continue;  // it has its blame
      const int output = output_index(*at(node).op, pin.pin);
      if (output >= 0) {
        wiring_.fetch.push_back({node, output});
        continue;
      }
      wiring_.nowhere.push_back(at_node(refuse("page", {.rule = Rule::graph_fetch,
                                                        .argument = pin.pin,
                                                        .reason = concat("fetch names output ", shown(pin.pin),
                                                                         ", which node ", shown(pin.node), " has not"),
                                                        .got = shown(pin.pin),
                                                        .wanted = meant(pin.pin, names_of(at(node).op->outputs))}),
                                        pin.node));
    }
    if (page_.fetch.empty()) fetch_unread();
  }

  void fetch_unread() {
    std::vector<std::vector<bool>> read(wiring_.nodes.size());
    for (std::size_t i = 0; i < read.size(); ++i) {
      if (wiring_.nodes[i].op != nullptr) read[i].resize(wiring_.nodes[i].op->outputs.size());
    }
    for (const WiredNode& node : wiring_.nodes) {
      for (const PinSource& source : node.inputs) {
        std::vector<bool>& outputs = read[static_cast<std::size_t>(source.node)];
        if (!outputs.empty()) outputs[static_cast<std::size_t>(source.output)] = true;
      }
    }
    for (std::size_t i = 0; i < read.size(); ++i) {
      for (std::size_t output = 0; output < read[i].size(); ++output) {
        if (!read[i][output]) wiring_.fetch.push_back({static_cast<int>(i), static_cast<int>(output)});
      }
    }
  }

  const Page& page_;
  Wiring wiring_;
  std::vector<std::vector<Pinned>> pinned_;  // the wires into each node
};

}  // namespace

int output_index(const OpSpec& op, std::string_view pin) {
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (op.outputs[i].name == pin) return static_cast<int>(i);
  }
  return -1;
}

string input_name(const OpSpec& op, std::size_t input) {
  const std::size_t row = std::min(input, op.inputs.size() - 1);
  return op.inputs[row].list ? concat(op.inputs[row].name, ":", input - row) : op.inputs[row].name;
}

convgrad::Status Wiring::first_error() const {
  for (const WiredNode& node : nodes) {
    if (!node.status.ok()) return node.status;
  }
  return nowhere.empty() ? convgrad::Status() : nowhere.front();
}

Wiring wire(const Page& page) { return Wirer(page).wire(); }

}  // namespace convgrad::graph
