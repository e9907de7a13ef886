// The rules of convgrad/rules.inc as an enum, and the one way to make a refusal of them.
#pragma once

#include <string>
#include <string_view>

#include "convgrad/status.h"

namespace convgrad {

enum class Rule {
#define CONVGRAD_RULE(name, id, meaning) name,
#include "convgrad/rules.inc"
#undef CONVGRAD_RULE
};

std::string_view id_of(Rule rule);

struct Refusal {
  Rule rule;
  std::string_view argument;
  std::string reason;  // holds the fragment that TensorFlow's users match on, where there is one
  std::string got;
  std::string wanted;
  StatusCode code = StatusCode::invalid_argument;
};

// "<who>: <reason> (<argument>: got <got>, wanted <wanted>)".
Status refuse(std::string_view who, Refusal refusal);

// The same refusal with the node of a graph that it is about, named behind the sentence as TensorFlow does. A node that
// it has already stays.
Status at_node(const Status& status, const std::string& node);

}  // namespace convgrad
