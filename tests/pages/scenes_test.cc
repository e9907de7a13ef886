// The scenes of tests/data/scenes.json through graph files, with their numbers.
#include <gtest/gtest.h>

#include "convgrad/graph/page.h"
#include "convgrad/graph/session.h"
#include "support/cases.h"

namespace convgrad::graph {
namespace {}  // namespace
}  // namespace convgrad::graph
