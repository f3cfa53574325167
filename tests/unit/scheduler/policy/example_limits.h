// What the worked examples of docs/policy.md let each class have.
#pragma once

#include "scheduler/policy/policy.h"
#include "tests/unit/scheduler/policy/example_cluster.h"

namespace scheduler {

inline constexpr Width kNarrow{};
inline constexpr Width kOneNode{.gpus_per_node = 4};
inline constexpr Width kFourNodes{.nodes = 4, .gpus_per_node = 4};
inline constexpr Width kWholeCluster{.nodes = kExampleNodes, .gpus_per_node = 4};

inline ClusterLimits example_limits() {
  using db::Priority;
  return {.slots = 1000,
          .queues = true,
          .max_pending = 1000,
          .width = kNarrow,
          .menu = widths_of(4, kExampleNodes),
          .classes = {{Priority::kLow, {kNarrow, kNarrow, kOneNode, 0.98}},
                      {Priority::kNormal, {kNarrow, kOneNode, kOneNode, 0.97}},
                      {Priority::kHigh, {kNarrow, kOneNode, kFourNodes, 0.80}},
                      {Priority::kUrgent, {kNarrow, kWholeCluster, kWholeCluster, 0.50}}}};
}

}  // namespace scheduler
