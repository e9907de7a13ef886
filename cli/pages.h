// Graph files as commands read them, and their outputs by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convgrad/graph/page.h"
#include "convgrad/graph/session.h"

namespace convgrad::cli {

// Whether a word of the command line names a graph file: it ends in .json, or is - for standard input.
bool names_page(std::string_view word);

// A graph file, or an enuSpace page with its .dat file beside it; which of them, its content tells. A file that cannot
// be read is a std::runtime_error.
Result<graph::Page> read_page(const std::string& path);

// The same of a file's text; folder is where its tensors lie, dat what stands in the .dat file.
Result<graph::Page> page_from_text(std::string_view text, const graph::PageFolder& folder, std::string_view dat = {});

// To a file, with large tensors as files beside it, or to standard output as one text when there is no path. Answers
// the exit code.
int write_page(const graph::Page& page, const std::string& path);

struct LoadedGraph {
  graph::Page page;
  graph::PageGraph graph;
};
Result<LoadedGraph> read_graph(const std::string& path);

// "name:index", "name" for the first output.
std::string label(const graph::Output& output);
std::string_view pin_name(const graph::Output& output);

// The outputs of words like "loss,dw" and "split:1". option names them in refusals.
Result<std::vector<graph::Output>> find_outputs(const graph::PageGraph& graph, const std::vector<std::string>& words,
                                                std::string_view option);
// The output of a pin by its name. argument names it in refusals.
Result<graph::Output> find_output(const graph::PageGraph& graph, const graph::PagePin& pin, std::string_view argument);
// Tensors of words like "x=x.npy".
Result<graph::ClientSession::FeedType> read_feeds(const graph::PageGraph& graph, const std::vector<std::string>& words);

}  // namespace convgrad::cli
