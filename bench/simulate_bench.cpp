// How long the simulation of a facility's year takes: 200,000 micrographs on 16 nodes with 4 GPUs,
// with each policy. One line for each.

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

#include "scheduler/simulate/summary.h"
#include "scheduler/simulate/trace_reader.h"

namespace {

using Steady = std::chrono::steady_clock;

// Micrographs that arrive one by one, in three classes, and each hour an urgent search: 85 % of the
// GPUs' time.
constexpr const char* kYear = R"(
tick: 1s
site: {nodes: 16, gpus_per_node: 4}
items:
  - {count: 95620, every: 330s, class: low, work_gpu_hours: 2.4, spread: 0.1, group: a}
  - {count: 47810, every: 660s, class: normal, work_gpu_hours: 2.4, spread: 0.1, group: b}
  - {count: 47810, every: 660s, class: high, work_gpu_hours: 2.4, spread: 0.1, group: c}
  - {count: 8760, every: 1h, class: urgent, work_gpu_hours: 2.4, spread: 0.1, group: d}
)";

void measure(const scheduler::Trace& trace, scheduler::SimulatedPolicy policy, const char* name) {
  const auto start = Steady::now();
  const scheduler::Simulation simulation = scheduler::simulate(trace, policy);
  const std::chrono::duration<double> seconds = Steady::now() - start;
  const scheduler::Summary summary = scheduler::summary_of(trace, simulation);
  std::printf("| %s | %.2f | %lld | %.1f |\n", name, seconds.count(),
              static_cast<long long>(simulation.plans), 100 * summary.utilisation);
}

}  // namespace

int main() {
  try {
    const scheduler::Trace trace = scheduler::parse_trace(kYear, "year");
    std::printf(
        "%zu items\n\n| policy | seconds | plans | utilisation, %% |\n"
        "| --- | --- | --- | --- |\n",
        trace.items.size());
    for (const auto& [policy, name] : scheduler::kSimulatedPolicies) measure(trace, policy, name);
    const scheduler::Trace cut =
        scheduler::parse_trace("policy: {segment: 1h}\n" + std::string(kYear), "year");
    measure(cut, scheduler::SimulatedPolicy::kOurs, "ours, segments of 1 h");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simulate_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
