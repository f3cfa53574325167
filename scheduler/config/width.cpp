#include "scheduler/config/width.h"

#include <tuple>

#include "base/text.h"

namespace scheduler {

std::strong_ordering operator<=>(const Width& a, const Width& b) {
  return std::tuple(a.gpus(), a.nodes) <=> std::tuple(b.gpus(), b.nodes);
}

std::string to_string(const Width& width) {
  const bool one_node = width.nodes == 1;
  if (one_node && width.gpus_per_node == 0) return "CPU";
  if (one_node && width.gpus_per_node == 1) return "1 GPU";
  const std::string devices = width.gpus() == 0 ? "CPU" : base::counted(width.gpus(), "GPU");
  return base::counted(width.nodes, "node") + " (" + devices + ")";
}

std::vector<Width> widths_of(int gpus_per_node, int most_nodes) {
  if (gpus_per_node < 1 || most_nodes < 1) return {};
  std::vector<Width> widths = {{}};
  for (int nodes = 1; nodes <= most_nodes; nodes *= 2) {
    const Width width{.nodes = nodes, .gpus_per_node = gpus_per_node};
    if (width != widths.front()) widths.push_back(width);
  }
  return widths;
}

}  // namespace scheduler
