#include "scheduler/forecast/wait_forecast.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace scheduler {
namespace {

// When `gpus` of the node's GPUs are free together; nullopt when it has fewer. It is mostly asked
// for one of them or for all, which needs no copy.
std::optional<double> free_at(const NodeForecast& node, int gpus) {
  if (gpus < 1 || static_cast<size_t>(gpus) > node.size()) return std::nullopt;
  if (gpus == 1) return std::max(0.0, *std::min_element(node.begin(), node.end()));
  if (static_cast<size_t>(gpus) == node.size()) {
    return std::max(0.0, *std::max_element(node.begin(), node.end()));
  }
  NodeForecast ordered = node;
  const auto last = ordered.begin() + (gpus - 1);
  std::nth_element(ordered.begin(), last, ordered.end());
  return std::max(0.0, *last);
}

// The nodes that can take the job's share of one node, the first to be free first.
std::vector<std::pair<double, size_t>> by_free_time(const ClusterForecast& cluster, int gpus) {
  std::vector<std::pair<double, size_t>> nodes;
  nodes.reserve(cluster.size());
  for (size_t i = 0; i < cluster.size(); ++i) {
    if (const auto free = free_at(cluster[i], gpus)) nodes.emplace_back(*free, i);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace

std::optional<double> earliest_start(const ClusterForecast& cluster, const Width& width) {
  return EarliestStarts(cluster).of(width);
}

std::optional<double> EarliestStarts::of(const Width& width) {
  const auto [known, is_new] = free_.try_emplace(width.gpus_per_node);
  std::vector<double>& free = known->second;
  if (is_new) {
    free.reserve(cluster_.size());
    for (const NodeForecast& node : cluster_) {
      if (const auto time = free_at(node, width.gpus_per_node)) free.push_back(*time);
    }
    std::sort(free.begin(), free.end());
  }
  if (width.nodes < 1 || static_cast<size_t>(width.nodes) > free.size()) return std::nullopt;
  return free[static_cast<size_t>(width.nodes) - 1];
}

std::optional<double> place(ClusterForecast& cluster, const Width& width, double seconds,
                            double not_before) {
  const auto nodes = by_free_time(cluster, width.gpus_per_node);
  if (width.nodes < 1 || static_cast<size_t>(width.nodes) > nodes.size()) return std::nullopt;
  const double earliest = nodes[static_cast<size_t>(width.nodes) - 1].first;
  const double start = std::max(earliest, not_before);
  // Of the nodes that are free by then, the last ones.
  size_t first = 0;
  if (start > earliest) {
    const auto late = std::upper_bound(nodes.begin(), nodes.end(), start,
                                       [](double at, const auto& node) { return at < node.first; });
    first = static_cast<size_t>(late - nodes.begin() - width.nodes);
  }
  for (int n = 0; n < width.nodes; ++n) {
    NodeForecast& gpus = cluster[nodes[first + static_cast<size_t>(n)].second];
    std::sort(gpus.begin(), gpus.end());
    const auto taken = start > earliest
                           ? std::upper_bound(gpus.begin(), gpus.end(), start) - width.gpus_per_node
                           : gpus.begin();
    std::fill_n(taken, width.gpus_per_node, start + seconds);
  }
  return start;
}

}  // namespace scheduler
