#include "cli/suggest.h"

#include <fmt/core.h>

#include "convgrad/nearest.h"

namespace convgrad::cli {

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string* nearest = nearest_name(word, candidates);
  return nearest == nullptr ? std::string() : fmt::format("; did you mean '{}'?", *nearest);
}

}  // namespace convgrad::cli
