#include "pages/refusals.h"

#include "convgrad/nearest.h"

namespace convgrad::graph {

string meant(std::string_view word, std::span<const string> known) {
  string text;
  for (const string& candidate : known) text += (text.empty() ? "" : ", ") + candidate;
  if (text.empty()) text = "none";
  const string* near = nearest_name(word, known);
  return near == nullptr ? text : concat(text, "; did you mean '", *near, "'?");
}

convgrad::Status unknown_op(const string& op) {
  std::vector<string> names;
  for (const OpSpec* spec : all_graph_ops()) names.push_back(spec->name);
  const string* near = nearest_name(op, names);
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
