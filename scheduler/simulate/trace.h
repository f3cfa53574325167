// What is simulated: a site, how long searches take there, and the items that users enqueue.
// Times are seconds from the beginning of the trace.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "db/records.h"
#include "scheduler/config/config.h"
#include "scheduler/config/width.h"
#include "scheduler/policy/runtime_model.h"

namespace scheduler {

// Work is written and shown in GPU hours.
inline constexpr double kSecondsPerHour = 3600;
inline constexpr double kLeastWorkHours = 1e-6;

struct TraceItem {
  double arrival = 0;
  db::Priority priority = db::Priority::kNormal;
  int64_t group = 0;       // of its owner; each group counts as one user
  double work = 0;         // seconds on one GPU, as the policy expects them,
  double actual_work = 0;  // and as they turn out
  std::optional<double> deadline{};
};

// A job of somebody else that holds GPUs when the trace begins. The policy knows its end.
struct RunningJob {
  Width width{};
  double rest = 0;  // seconds until it ends
};

struct Trace {
  int nodes = 1;
  // Of the daemon's configuration: `policy`, and of `slurm` the limits of jobs and the GPUs of a
  // node.
  Config config{};
  RuntimeModel model{};
  double tick = 1;                    // seconds between two plans, at least
  std::vector<RunningJob> running{};  // each on the fullest nodes that have room, one by one
  std::vector<TraceItem> items{};     // in the order of their arrival
};

}  // namespace scheduler
