// Levenshtein distance, one row at a time.
#include "convgrad/nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace convgrad {
namespace {

constexpr std::size_t kLongestWord = 64;  // no known name is longer; keeps a huge word cheap

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

const std::string* nearest_name(std::string_view word, std::span<const std::string> known) {
  if (word.empty() || word.size() > kLongestWord) return nullptr;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  const std::string* nearest = nullptr;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= least || distance >= candidate.size()) continue;
    least = distance;
    nearest = &candidate;
  }
  return nearest;
}

}  // namespace convgrad
