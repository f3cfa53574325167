#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

std::string text_of(const ClusterLimits& limits, const Width& width) {
  return limits.queues ? to_string(width) : "1 device";
}

}  // namespace scheduler
