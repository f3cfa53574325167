// When each GPU of a cluster is expected to be free, from what the cluster reports: the input of
// wait_forecast.h and choose_width.h. Pure.
//
// A GPU is busy until its job's end: our jobs as predicted, other people's until their time limit.
// A busy GPU without a visible job is busy for the longest time that its partitions allow, from
// when it was first seen busy. Waiting jobs that go first are placed in Slurm's order, not before
// the start that Slurm itself expects. Nodes that are down, drained or reserved are left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/forecast/site_widths.h"
#include "slurm/cluster_facts.h"

namespace scheduler {

// Seconds, as expected and with 90 % certainty: until the end of a running job, or the run time of
// a waiting one.
struct JobForecast {
  double likely = 0;
  double late = 0;
};

// Forecast for a job that does the share `left` of a search at this width and has run for `ran`
// seconds. A job that takes longer than expected still has a small part of the expected time left.
// With a segment (seconds) it ends after that at the latest; 0: no segment.
JobForecast forecast_job(const SearchTime& time, const Width& width, double ran, double left = 1,
                         int64_t segment = 0);

struct ForecastQuestion {
  // The partition whose nodes count; empty: the default partition's, or all nodes where the cluster
  // does not say which that is, as slurmrestd does not from v0.0.40 on.
  std::string partition{};
  std::map<std::string, JobForecast> ours{};  // by the job's name, the attempt's token
  // The daemon sets none of the following yet: it learns no ratio, does not know the priority that
  // Slurm will give its next job, and chooses no width on a site without GPUs.
  //
  // The part of their time limit that other people's jobs take on average; 1: not known. `late`
  // takes the whole limit.
  double limit_ratio = 1;
  // Slurm's priority of the job in question: other people's jobs with a lower one do not go first.
  // Unset: all of them do.
  std::optional<int64_t> priority{};
  // On a site without GPUs, how many processors count as one device; 0: devices are GPUs.
  int cpus_per_device = 0;
};

struct LaneForecast {
  GpuForecast gpus{};                // seconds from the facts' time
  std::vector<std::string> nodes{};  // their names, in the same order
  // When the waiting jobs of `ours` are expected to start, by the job's name: as expected, and with
  // 90 % certainty.
  std::map<std::string, double> starts{};
  std::map<std::string, double> late_starts{};
};

// Incomplete facts give as much of a forecast as possible; without nodes it is empty. Our jobs that
// are not in `ours` count as other people's while they run, and are left out while they wait.
LaneForecast forecast_lane(const slurm::ClusterFacts& facts, const ForecastQuestion& question);

}  // namespace scheduler
