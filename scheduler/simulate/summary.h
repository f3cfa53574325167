// Summarizes a simulation in figures for comparing policies. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "db/records.h"
#include "scheduler/simulate/simulate.h"

namespace scheduler {

// The median and the 90th percentile, in seconds.
struct Spread {
  double median = 0;
  double ninety = 0;
};

struct ClassSummary {
  db::Priority priority = db::Priority::kNormal;
  int64_t items = 0;
  Spread wait{};        // from its arrival to the start of its first job
  Spread completion{};  // from its arrival to its end
  int64_t missed = 0;   // missed deadlines
};

struct Summary {
  double makespan = 0;      // seconds from the first arrival to the last end
  double first_result = 0;  // seconds from the first arrival to the first end
  double utilisation = 0;  // the share of the site's GPU time that all jobs held until the last end
  double gpu_hours = 0;    // held by the items' jobs
  double wasted = 0;       // part of gpu_hours not spent on correlations
  int64_t missed = 0;
  std::vector<ClassSummary> classes{};  // most urgent first; only those of the trace
};

Summary summary_of(const Trace& trace, const Simulation& simulation);

// The GPUs that the jobs of one class held, averaged over each of equal parts of the makespan.
struct BusyGpus {
  std::optional<db::Priority> priority{};  // unset: the jobs of others
  std::vector<double> gpus{};
};

// Most urgent class first, the jobs of others last; only those that occur in the trace.
std::vector<BusyGpus> busy_gpus(const Trace& trace, const Simulation& simulation, size_t parts);

}  // namespace scheduler
