// What an item gets, and why, in the words of a plan. Pure.
#pragma once

#include <string>

#include "scheduler/policy/item_widths.h"
#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

// "1 node (4 GPUs): 16.0 GPU hours ...", with the text of explain().
std::string what_it_gets(const PlanItem& item, const ItemWidth& width,
                         const QueueSnapshot& snapshot);

// "has 4 nodes (16 GPUs), more than its class may have, and with 1 GPU it is done in ..."
std::string narrowing_text(const PlanItem& item, const ItemWidth& width,
                           const ClusterLimits& limits);

// "has 1 GPU, and urgent items get 4 nodes (16 GPUs)"
std::string widening_text(const PlanItem& item, const ItemWidth& width,
                          const ClusterLimits& limits);

}  // namespace scheduler
