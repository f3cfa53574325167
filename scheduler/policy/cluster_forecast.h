// When each GPU of a cluster is expected to be free, from what the cluster says of itself: the
// input of wait_forecast.h and choose_width.h. Pure. The daemon does not plan by it yet.
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

// Seconds, as expected and with 90 % certainty: of a job that runs until its end, of one that waits
// how long it will run.
struct JobForecast {
  double likely = 0;
  double late = 0;
};

struct ForecastQuestion {
  // Whose nodes are asked for; empty: the default one's, or all where nobody says which that is, as
  // slurmrestd does not from v0.0.40 on.
  std::string partition{};
  std::map<std::string, JobForecast> ours{};  // by the job's name, the attempt's token
  // How much of their time limit other people's jobs take in the mean, as learned; 1 until it is
  // known. Of what is `late` the limit itself counts.
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
  // Jobs that go first and of which no more were placed, since there are too many: what is free
  // behind them is so later than forecast.
  int64_t not_placed = 0;
};

// Of a site whose facts are not complete it says what is known: nothing without nodes. Our jobs
// that `ours` lacks count as other people's while they run, and are left out while they wait.
LaneForecast forecast_lane(const slurm::ClusterFacts& facts, const ForecastQuestion& question);

}  // namespace scheduler
