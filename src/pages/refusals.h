// Refusals of pages: with the node they are about, and with the word that was probably meant.
#pragma once

#include <span>

#include "base/rules.h"
#include "base/text.h"
#include "convgrad/graph/node.h"
#include "pages/json.h"

namespace convgrad::graph {

// "input, filter", with the nearest first when one is near: "input (did you mean 'input'?)".
string meant(std::string_view word, std::span<const string> known);

// There is no such op.
convgrad::Status unknown_op(const string& op);
// The op has no such attribute, or its inputs decide it.
convgrad::Status unknown_attr(const OpSpec& op, const string& attr);

}  // namespace convgrad::graph
