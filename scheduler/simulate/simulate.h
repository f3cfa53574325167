// The daemon's own policy over virtual time: plan() (policy/policy.h) decides what is submitted to
// a virtual cluster and what is stopped for a wider job, so that policies can be compared on a
// trace. Pure, and the same on every machine.
//
// A plan is made when something has arrived, started or ended, at most once a tick. Submissions and
// stops take no time, and nothing fails. A search that is stopped keeps what it has done. Each
// group is one user: groups take turns by their jobs, not by the GPUs' time that they have used.
// The jobs of others are those that run when the trace begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/words.h"
#include "scheduler/config/width.h"
#include "scheduler/simulate/trace.h"

namespace scheduler {

// kOurs is the daemon's. With the next three every job has the same width, and the order is that of
// kOurs. kFirstCome knows no classes and no deadlines: every item is a `normal` one of the same
// user, in the order of arrival.
enum class SimulatedPolicy { kOurs, kOneGpu, kOneNode, kWholePartition, kFirstCome };
inline constexpr base::Words<SimulatedPolicy, 5> kSimulatedPolicies = {
    {{SimulatedPolicy::kOurs, "ours"},
     {SimulatedPolicy::kOneGpu, "one-gpu"},
     {SimulatedPolicy::kOneNode, "one-node"},
     {SimulatedPolicy::kWholePartition, "whole-partition"},
     {SimulatedPolicy::kFirstCome, "fcfs"}}};

struct SimulatedItem {
  double started = 0;  // its first job
  double ended = 0;
  Width width{};  // of its last job
  int jobs = 0;
};

// A job that ran, until it ended or was stopped.
struct SimulatedRun {
  size_t item = 0;  // of the trace
  int gpus = 0;
  double started = 0;
  double ended = 0;
};

struct Simulation {
  std::vector<SimulatedItem> items{};  // in the order of the trace's
  std::vector<SimulatedRun> runs{};    // in the order of their ends
  double gpu_seconds = 0;              // that jobs held
  int64_t plans = 0;
};

// Throws std::invalid_argument where the trace's running jobs do not fit on its nodes.
Simulation simulate(const Trace& trace, SimulatedPolicy policy);

}  // namespace scheduler
