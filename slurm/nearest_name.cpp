#include "slurm/nearest_name.h"

#include <algorithm>
#include <numeric>

namespace slurm {
namespace {

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known) {
  std::string best;
  size_t least = name.size() / 2 + 1;
  for (const std::string& word : known) {
    const size_t distance = edit_distance(name, word);
    if (distance <= least) {
      least = distance;
      best = word;
    }
  }
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}

}  // namespace slurm
