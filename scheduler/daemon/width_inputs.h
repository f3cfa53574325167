// What a plan needs besides the queue: how long searches take, for widths, deadlines and the shares
// of groups, and when the cluster's GPUs are free, for widths. If one of these is missing, every
// item gets the site's width.
//
// The cluster is asked at most every half minute, and only where there is a width to choose. Not
// thread-safe; only the tick uses it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/records.h"
#include "scheduler/daemon/context.h"
#include "scheduler/forecast/rates.h"
#include "scheduler/policy/queue_snapshot.h"
#include "slurm/cluster_facts.h"

namespace scheduler {

class WidthInputs {
 public:
  explicit WidthInputs(const DaemonContext& context) : context_(context) {}

  // Asks the cluster if it is time to. `limits` are the site's. Nothing is asked when the limit of
  // requests leaves no room.
  void look(const ClusterLimits& limits);
  void add_to(QueueSnapshot& snapshot);

 private:
  void read_measures();
  // Logs the problem once.
  void say(const std::string& problem);
  void add_times(QueueSnapshot& snapshot);
  void add_gpus(QueueSnapshot& snapshot);
  void add_bounds(QueueSnapshot& snapshot);
  JobBounds bounds_at(const std::map<std::string, std::string>& place);
  GpuForecast forecast(const QueueSnapshot& snapshot, const std::vector<db::Attempt>& open) const;
  int started_since(const std::vector<db::Attempt>& open) const;

  const DaemonContext& context_;
  slurm::ClusterFacts facts_{};
  int64_t asked_ms_ = -1;    // by the boot clock; -1: never
  int64_t read_ = 0;         // when the facts were read, seconds since the epoch; 0: never
  std::string problem_{};    // the last look's problem
  std::string partition_{};  // partition of plain jobs; empty: not known
  int most_nodes_ = 0;       // most nodes of a job there; 0: not limited
  std::map<std::map<std::string, std::string>, JobBounds> bounds_{};  // by account and QOS
  Measures measures_{};
  int64_t measured_ms_ = -1;  // when measures_ was read, by the boot clock; -1: never
  std::map<int64_t, db::SearchCounts> counts_{};  // by template
  // With thousands of jobs in the queue a forecast takes a tenth of a second: it is renewed only
  // when the facts or our own jobs have changed.
  std::optional<GpuForecast> forecast_{};  // seconds from read_
  std::vector<std::pair<std::string, db::AttemptState>> forecast_for_{};
};

}  // namespace scheduler
