// "Did you mean": the nearest known word to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace convgrad::cli {

// Letters to change, insert or delete between two words.
std::size_t edit_distance(std::string_view a, std::string_view b);

// "; did you mean 'run'?" when a candidate is near enough, otherwise nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace convgrad::cli
