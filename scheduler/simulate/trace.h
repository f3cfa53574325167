// The input of a simulation: a site, how long searches take there, and the items that users
// enqueue. Times are seconds from the beginning of the trace.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "db/records.h"
#include "scheduler/config/config.h"
#include "scheduler/config/width.h"
#include "scheduler/forecast/runtime_model.h"

namespace scheduler {

// Work is written and shown in GPU hours.
inline constexpr double kSecondsPerHour = 3600;
inline constexpr double kLeastWorkHours = 1e-6;

struct TraceItem {
  double arrival = 0;
  db::Priority priority = db::Priority::kNormal;
  int64_t group = 0;       // its owner's; each group counts as one user
  double work = 0;         // seconds on one GPU, as the policy expects
  double actual_work = 0;  // seconds on one GPU, as it turns out
  std::optional<double> deadline{};
};

// Another user's job that holds GPUs when the trace begins. The policy knows its end.
struct RunningJob {
  Width width{};
  double rest = 0;  // seconds until it ends
};

struct Trace {
  int nodes = 1;
  // From the daemon's configuration: `policy`, and of `slurm` the limits of jobs and the GPUs of a
  // node.
  Config config{};
  RuntimeModel model{};
  double tick = 1;                    // least seconds between two plans
  std::vector<RunningJob> running{};  // placed in order, each on the fullest nodes that have room
  std::vector<TraceItem> items{};     // in the order of their arrival
};

}  // namespace scheduler
