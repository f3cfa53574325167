// What the policy needs to choose a width, besides how wide the jobs of a class may be: how long
// searches take, and when the cluster's GPUs are free.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "scheduler/config/class_widths.h"
#include "scheduler/forecast/runtime_model.h"
#include "scheduler/forecast/wait_forecast.h"

namespace scheduler {

// The time of the searches of one kind: with the same template and size of micrograph.
struct SearchTime {
  double work = 0;  // seconds on one GPU
  RuntimeModel model{};
  std::string source{};  // from describe() (rates.h)
  // The rate and its spread come from enough searches to set a time limit by them.
  bool well_known = false;
};

// The GPUs that Margay's jobs may use, as the last look at the cluster showed them.
struct GpuForecast {
  ClusterForecast likely{};  // when they are free, as expected, in seconds from the snapshot's time
  ClusterForecast late{};    // when they are free, with 90 % certainty
  // Jobs that go first but were left out since there are too many: GPUs may be free later than
  // forecast.
  int64_t not_placed = 0;
  // When our waiting jobs in the cluster are expected to start, by item: as `likely` and `late`.
  std::map<int64_t, double> starts{};
  std::map<int64_t, double> late_starts{};
  // Seconds after which our jobs that run in segments stop with a checkpoint, by item.
  std::map<int64_t, int64_t> segments{};
  int free_now = 0;            // GPUs that no job holds, whether or not a job waits for them
  int held_by_others = 0;      // GPUs that other people's jobs hold
  int64_t others_waiting = 0;  // other people's jobs that wait for these GPUs
};

}  // namespace scheduler
