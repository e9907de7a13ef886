// "Did you mean" in the command line's sentences.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace convgrad::cli {

// "; did you mean 'run'?" when a candidate is near enough, otherwise nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace convgrad::cli
