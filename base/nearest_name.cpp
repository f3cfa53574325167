#include "base/nearest_name.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"

namespace base {
namespace {

constexpr size_t kLongestName = 200;  // nobody meant a known name by a longer one

// Optimal string alignment.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest_name(const std::string& name,
                                        const std::vector<std::string>& known) {
  if (name.size() > kLongestName) return std::nullopt;
  std::optional<std::string> best;
  size_t best_distance = std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(lower(name), lower(candidate));
    if (distance < best_distance && 2 * distance <= candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known) {
  const std::optional<std::string> near = nearest_name(name, known);
  return near ? "; did you mean '" + *near + "'?" : "";
}

std::string names_to_use(const std::string& name, const std::vector<std::string>& known) {
  const std::string nearest = did_you_mean(name, known);
  return (nearest.empty() ? "; use " : nearest + " Known: ") + joined(known);
}

}  // namespace base
