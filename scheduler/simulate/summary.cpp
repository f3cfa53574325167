#include "scheduler/simulate/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace scheduler {
namespace {

struct Times {
  std::vector<double> waits{};
  std::vector<double> completions{};
  int64_t missed = 0;
};

// The smallest of the values that at least this share of them does not exceed.
double quantile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(1, rank) - 1];
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {.median = quantile(values, 0.5), .ninety = quantile(values, 0.9)};
}

std::map<db::Priority, Times> times_by_class(const Trace& trace, const Simulation& simulation) {
  std::map<db::Priority, Times> classes;
  for (size_t i = 0; i < trace.items.size(); ++i) {
    const TraceItem& item = trace.items[i];
    const SimulatedItem& result = simulation.items[i];
    Times& times = classes[item.priority];
    times.waits.push_back(result.started - item.arrival);
    times.completions.push_back(result.ended - item.arrival);
    if (item.deadline && result.ended > *item.deadline) ++times.missed;
  }
  return classes;
}

// GPU seconds that the jobs of others held.
double held_by_others(const Trace& trace, double begin, double end) {
  double held = 0;
  for (const RunningJob& job : trace.running) {
    held += job.width.gpus() * std::max(0.0, std::min(job.rest, end) - begin);
  }
  return held;
}

// Adds what a job held in each of the parts, which are `length` seconds long.
void add_run(const SimulatedRun& run, double begin, double length, std::vector<double>& gpus) {
  const double first = std::max(0.0, (run.started - begin) / length);
  const double last = std::min((run.ended - begin) / length, static_cast<double>(gpus.size()));
  for (auto part = static_cast<size_t>(first); part < gpus.size(); ++part) {
    const auto from = static_cast<double>(part);
    if (from >= last) break;
    gpus[part] += run.gpus * (std::min(last, from + 1) - std::max(first, from));
  }
}

}  // namespace

Summary summary_of(const Trace& trace, const Simulation& simulation) {
  Summary summary;
  if (trace.items.empty()) return summary;
  const double begin = trace.items.front().arrival;
  double first = simulation.items.front().ended;
  double last = first;
  double work = 0;
  for (size_t i = 0; i < trace.items.size(); ++i) {
    first = std::min(first, simulation.items[i].ended);
    last = std::max(last, simulation.items[i].ended);
    work += trace.items[i].actual_work;
  }
  const double gpus = trace.nodes * trace.config.slurm.gpus_per_node;
  summary.makespan = last - begin;
  summary.first_result = first - begin;
  if (summary.makespan > 0) {
    summary.utilisation =
        (simulation.gpu_seconds + held_by_others(trace, begin, last)) / (gpus * summary.makespan);
  }
  summary.gpu_hours = simulation.gpu_seconds / kSecondsPerHour;
  summary.wasted = summary.gpu_hours - work / kSecondsPerHour;
  for (auto& [priority, times] : times_by_class(trace, simulation)) {
    summary.classes.push_back({.priority = priority,
                               .items = static_cast<int64_t>(times.waits.size()),
                               .wait = spread_of(std::move(times.waits)),
                               .completion = spread_of(std::move(times.completions)),
                               .missed = times.missed});
    summary.missed += summary.classes.back().missed;
  }
  return summary;
}

std::vector<BusyGpus> busy_gpus(const Trace& trace, const Simulation& simulation, size_t parts) {
  std::map<db::Priority, std::vector<double>> classes;
  for (const TraceItem& item : trace.items) classes[item.priority].resize(parts);
  std::vector<double> others(trace.running.empty() ? 0 : parts);
  const double makespan = summary_of(trace, simulation).makespan;
  if (makespan > 0) {
    const double begin = trace.items.front().arrival;
    const double length = makespan / static_cast<double>(parts);
    for (const SimulatedRun& run : simulation.runs) {
      add_run(run, begin, length, classes[trace.items[run.item].priority]);
    }
    for (const RunningJob& job : trace.running) {
      add_run({.gpus = job.width.gpus(), .ended = job.rest}, begin, length, others);
    }
  }
  std::vector<BusyGpus> all;
  for (auto& [priority, gpus] : classes) {
    all.push_back({.priority = priority, .gpus = std::move(gpus)});
  }
  if (!others.empty()) all.push_back({.gpus = std::move(others)});
  return all;
}

}  // namespace scheduler
