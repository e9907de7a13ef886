// Whole files, with refusals instead of exceptions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "convgrad/graph/status.h"
#include "convgrad/graph/types.h"

namespace convgrad::graph {

// A plain file of at most `limit` bytes.
Result<string> read_file(const string& path, std::size_t limit);
// Parts one after the other, into a file beside it that takes its name when it is whole; a device is written to.
convgrad::Status write_file(const string& path, std::span<const std::string_view> parts);
// A file that cannot be used, and why.
convgrad::Status bad_file(std::string_view path, string reason, string got, string wanted);

}  // namespace convgrad::graph
