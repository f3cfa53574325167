// The cluster of the worked examples in docs/policy.md: 16 nodes with 4 GPUs each.
#pragma once

#include <cmath>

#include "scheduler/forecast/runtime_model.h"
#include "scheduler/forecast/wait_forecast.h"

namespace scheduler {

inline constexpr double kHour = 3600;
inline constexpr int kExampleNodes = 16;
inline constexpr int kExampleGpus = 64;
inline constexpr double kLong = 16 * kHour;  // of one search on one GPU

inline RuntimeModel example_model() {
  return {.straggler_loss = {{1, 0}, {4, 0.01}, {8, 0.02}, {16, 0.02}, {32, 0.03}, {64, 0.04}}};
}

inline ClusterForecast idle() { return ClusterForecast(kExampleNodes, NodeForecast(4, 0.0)); }

// When k of 16 nodes are free together on average, each running four jobs with rests that are
// evenly distributed up to 1: the mean of the k-th smallest of 16 maxima of four.
inline double mean_wait(int nodes) {
  return std::exp(std::lgamma(nodes + 0.25) + std::lgamma(17) - std::lgamma(nodes) -
                  std::lgamma(17.25));
}

// One GPU is free after the smallest of 64 rests.
inline ClusterForecast at_expected_rests(double length) {
  ClusterForecast cluster;
  for (int node = 1; node <= kExampleNodes; ++node) {
    cluster.push_back(NodeForecast(4, length * mean_wait(node)));
  }
  cluster[0][0] = length / 65;
  return cluster;
}

}  // namespace scheduler
