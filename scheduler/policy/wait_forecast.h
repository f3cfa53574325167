// When a cluster's GPUs are expected to be free, and how long a job of some width waits for them:
// list scheduling. Each busy GPU has an expected end; jobs that go first are placed first and take
// theirs. Times are seconds from now; at most zero means free.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "scheduler/config/width.h"

namespace scheduler {

// One value for each GPU of a node. A node that is down or drained has no end: it is left out.
using NodeForecast = std::vector<double>;
using ClusterForecast = std::vector<NodeForecast>;

// The earliest instant at which as many nodes have as many GPUs free together; nullopt when the
// cluster has fewer.
std::optional<double> earliest_start(const ClusterForecast& cluster, const Width& width);

// The same for several widths, quicker: what they have in common is computed once. The cluster must
// outlive it.
class EarliestStarts {
 public:
  explicit EarliestStarts(const ClusterForecast& cluster) : cluster_(cluster) {}
  std::optional<double> of(const Width& width);

 private:
  const ClusterForecast& cluster_;
  // When so many GPUs of a node are free together, for the nodes that have as many, the first to be
  // free first; by that number.
  std::map<int, std::vector<double>> free_{};
};

// Places a job that runs for `seconds` at its earliest start, on the GPUs that are free first, and
// returns the start. One that does not start before a later time takes those that are free last
// until then, so that the others stay free for what is done before. nullopt, and nothing is placed,
// when the cluster is too small for it.
std::optional<double> place(ClusterForecast& cluster, const Width& width, double seconds,
                            double not_before = 0);

}  // namespace scheduler
