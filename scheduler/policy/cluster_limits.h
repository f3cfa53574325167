// How much of the cluster the site's configuration grants, in the form that the policy uses. Pure.
#pragma once

#include "scheduler/config/config.h"
#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

ClusterLimits limits_of(const Config& config);

}  // namespace scheduler
