// When each GPU of a cluster is expected to be free, from what the cluster says of itself: the
// input of wait_forecast.h and choose_width.h. Pure.
//
// A GPU is busy until its job's end: of our jobs as predicted, of other people's by their time
// limit, and one that no job is shown for until it was first seen busy plus the longest time that
// its partitions allow. Jobs that wait and go first are placed in Slurm's order, not before the
// start that Slurm itself expects. Nodes that are down, drained or reserved are left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/policy/site_widths.h"
#include "slurm/cluster_facts.h"

namespace scheduler {

// Seconds, as expected and with 90 % certainty: until the end of a job that runs; how long one that
// waits will run.
struct JobForecast {
  double likely = 0;
  double late = 0;
};

// Of a job that runs this share of a search at this width, and has run for so many seconds. One
// that takes longer than expected still has a small part of the expected time left. With a segment
// it ends after that at the latest.
JobForecast forecast_job(const SearchTime& time, const Width& width, double ran, double left = 1,
                         int64_t segment = 0);

struct ForecastQuestion {
  // Whose nodes are asked for; empty: the default one's, or all where nobody says which that is, as
  // slurmrestd does not from v0.0.40 on.
  std::string partition{};
  std::map<std::string, JobForecast> ours{};  // by the job's name, the attempt's token
  // The daemon sets none of the following yet: it learns no ratio, does not know the priority that
  // Slurm will give its next job, and chooses no width on a site without GPUs.
  //
  // Which part of their time limit other people's jobs take on average; 1: not known. `late` takes
  // the whole limit.
  double limit_ratio = 1;
  // Slurm's priority of the job that is asked for: other people's jobs with less do not go first.
  // Unset: all of them do.
  std::optional<int64_t> priority{};
  // On a site without GPUs, how many processors stand in the place of one; 0: GPUs are meant.
  int cpus_per_device = 0;
};

struct LaneForecast {
  GpuForecast gpus{};                // seconds from the facts' time
  std::vector<std::string> nodes{};  // their names, in the same order
  // When those of `ours` that wait are expected to start, by the job's name: as `likely`, and with
  // 90 % certainty.
  std::map<std::string, double> starts{};
  std::map<std::string, double> late_starts{};
};

// From facts that are not complete it forecasts what it can: nothing without nodes. Our jobs that
// `ours` lacks count as other people's while they run, and are left out while they wait.
LaneForecast forecast_lane(const slurm::ClusterFacts& facts, const ForecastQuestion& question);

}  // namespace scheduler
