// Traces of the worked examples in docs/policy.md, and what came of them.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "scheduler/simulate/simulate.h"
#include "scheduler/simulate/summary.h"
#include "tests/unit/scheduler/policy/example_cluster.h"

namespace scheduler {

inline constexpr Width kNarrow{};
inline constexpr Width kOneNode{.gpus_per_node = 4};
inline constexpr Width kWholeCluster{.nodes = kExampleNodes, .gpus_per_node = 4};

inline Trace example_trace(std::vector<TraceItem> items = {}) {
  Trace trace{.nodes = kExampleNodes, .model = example_model(), .items = std::move(items)};
  trace.config.cluster = ClusterKind::kSlurm;
  trace.config.policy.widths = WidthsBy::kChosen;
  trace.config.slurm.gpus_per_node = 4;
  trace.config.slurm.max_jobs = 1'000'000;
  return trace;
}

inline TraceItem item_at(double arrival, db::Priority priority, double work = kLong) {
  return {.arrival = arrival, .priority = priority, .work = work, .actual_work = work};
}

inline Trace with_items(size_t count, db::Priority priority) {
  return example_trace(std::vector<TraceItem>(count, item_at(0, priority)));
}

// In the order of the items.
inline std::vector<double> ends(const Simulation& simulation) {
  std::vector<double> ends;
  for (const SimulatedItem& item : simulation.items) ends.push_back(item.ended);
  return ends;
}

inline std::vector<Width> widths(const Simulation& simulation) {
  std::vector<Width> widths;
  for (const SimulatedItem& item : simulation.items) widths.push_back(item.width);
  return widths;
}

inline Summary summary_with(const Trace& trace, SimulatedPolicy policy = SimulatedPolicy::kOurs) {
  return summary_of(trace, simulate(trace, policy));
}

}  // namespace scheduler
