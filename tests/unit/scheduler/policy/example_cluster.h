// The cluster of the worked examples in docs/policy.md: 16 nodes with 4 GPUs each.
#pragma once

#include "scheduler/policy/runtime_model.h"

namespace scheduler {

inline constexpr double kHour = 3600;
inline constexpr int kExampleNodes = 16;
inline constexpr int kExampleGpus = 64;

inline RuntimeModel example_model() {
  return {.straggler_loss = {{1, 0}, {4, 0.01}, {8, 0.02}, {16, 0.02}, {32, 0.03}, {64, 0.04}}};
}

}  // namespace scheduler
