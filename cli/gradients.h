// Gradients of pages: their nodes added, and their check. For grad, gradcheck and the studio.
#pragma once

#include <vector>

#include "convgrad/graph/gradients.h"
#include "convgrad/graph/page.h"
#include "convgrad/graph/session.h"

namespace convgrad::cli {

struct Derivative {
  std::vector<graph::Output> of, wrt;
};

// Adds the nodes of the gradients behind those of the page, which stay as they are, and answers the gradients: one of
// each of wrt. graph is the page's.
Result<std::vector<graph::PagePin>> add_gradients(graph::Page& page, const graph::PageGraph& graph,
                                                  const Derivative& derivative);

// Differentiates at what is fed, else at a constant's own value, else at random numbers.
Result<graph::GradientCheck> check_gradients(const graph::PageGraph& graph, const Derivative& derivative,
                                             const graph::ClientSession::FeedType& feeds = {});

}  // namespace convgrad::cli
