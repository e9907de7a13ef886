#include "pages/refusals.h"

#include <algorithm>

namespace convgrad::graph {
namespace {

// Letters to insert, leave out or replace, capitals aside.
std::size_t distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = corner + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      corner = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

const string* nearest(std::string_view word, std::span<const string> known) {
  const string* best = nullptr;
  std::size_t least = word.size() / 3 + 2;
  if (word.size() > 60) return nullptr;
  for (const string& candidate : known) {
    const std::size_t apart = distance(word, candidate);
    if (apart >= least) continue;
    least = apart;
    best = &candidate;
  }
  return best;
}

}  // namespace

convgrad::Status about_node(const convgrad::Status& status, const string& node) {
  if (status.ok() || !status.node().empty()) return status;
  return convgrad::Status(ErrorDetail{.code = status.code(),
                                      .message = concat(status.message(), "\n\t [[{{node ", node, "}}]]"),
                                      .argument = status.argument(),
                                      .got = status.got(),
                                      .wanted = status.wanted(),
                                      .rule = status.rule(),
                                      .node = node});
}

string meant(std::string_view word, std::span<const string> known) {
  string text;
  for (const string& candidate : known) text += (text.empty() ? "" : ", ") + candidate;
  if (text.empty()) text = "none";
  const string* near = nearest(word, known);
  return near == nullptr ? text : concat(text, "; did you mean '", *near, "'?");
}

convgrad::Status unknown_op(const string& op) {
  std::vector<string> names;
  for (const OpSpec* spec : all_graph_ops()) names.push_back(spec->name);
  const string* near = nearest(op, names);
  return refuse("page", {.rule = Rule::op_name,
                         .argument = "op",
                         .reason = concat("there is no op ", shown(op)),
                         .got = shown(op),
                         .wanted = near == nullptr ? string("an op of the table")
                                                   : concat("an op of the table; did you mean '", *near, "'?")});
}

convgrad::Status unknown_attr(const OpSpec& op, const string& attr) {
  const AttrSpec* spec = op.attr(attr);
  if (spec != nullptr)
    return refuse(op.name, {.rule = Rule::graph_attr,
                            .argument = attr,
                            .reason = concat("attr '", attr, "' is decided by the inputs"),
                            .got = "a value",
                            .wanted = "none"});
  std::vector<string> names;
  for (const AttrSpec& known : op.attrs) {
    if (!known.from_inputs) names.push_back(known.name);
  }
  return refuse(op.name, {.rule = Rule::graph_attr,
                          .argument = attr,
                          .reason = concat("there is no attr ", shown(attr)),
                          .got = shown(attr),
                          .wanted = meant(attr, names)});
}

}  // namespace convgrad::graph
