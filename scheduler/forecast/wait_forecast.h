// When a cluster's GPUs are expected to be free, and how long a job of some width waits for them:
// list scheduling. Each busy GPU has an expected end; jobs that go first are placed first and take
// their GPUs. Times are seconds from now; zero or less means free.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "scheduler/config/width.h"

namespace scheduler {

// When each GPU of a node is free. A node that is down or drained has no such time and is left out.
using NodeForecast = std::vector<double>;
using ClusterForecast = std::vector<NodeForecast>;

// The earliest time at which the width's number of nodes each have its number of GPUs free; nullopt
// when the cluster has fewer.
std::optional<double> earliest_start(const ClusterForecast& cluster, const Width& width);

// The same for several widths, faster: the common part is computed once. The cluster must outlive
// it.
class EarliestStarts {
 public:
  explicit EarliestStarts(const ClusterForecast& cluster) : cluster_(cluster) {}
  std::optional<double> of(const Width& width);

 private:
  const ClusterForecast& cluster_;
  // By number of GPUs: when that many GPUs of a node are free together, for each node that has as
  // many, earliest first.
  std::map<int, std::vector<double>> free_{};
};

// Places a job that runs for `seconds` at its earliest start, on the GPUs that are free first, and
// returns the start. A job with a later `not_before` takes the GPUs that are free last until then,
// so that the others stay free for earlier jobs. Returns nullopt and places nothing when the
// cluster is too small.
std::optional<double> place(ClusterForecast& cluster, const Width& width, double seconds,
                            double not_before = 0);

}  // namespace scheduler
