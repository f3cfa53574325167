// Runs the daemon's own policy over virtual time: plan() (policy/policy.h) decides what is
// submitted to a virtual cluster and what is stopped for a wider job, so that policies can be
// compared on a trace. Pure, and the same on every machine.
//
// A plan is made when something has arrived, started or ended, at most once a tick. Submissions and
// stops take no time, and nothing fails. A search that is stopped keeps what it has done. Each
// group is one user: groups take turns by their jobs, not by the GPUs' time that they have used.
// The only jobs of others are those that run when the trace begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/words.h"
#include "scheduler/config/width.h"
#include "scheduler/simulate/trace.h"

namespace scheduler {

// kOurs is the daemon's policy. With the next three every job has the same width, in the order of
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
  double started = 0;  // start of its first job
  double ended = 0;
  Width width{};  // width of its last job
  int jobs = 0;
};

// The run of a job until it ended or was stopped.
struct SimulatedRun {
  size_t item = 0;  // index into the trace's items
  int gpus = 0;
  double started = 0;
  double ended = 0;
};

struct Simulation {
  std::vector<SimulatedItem> items{};  // in the order of the trace
  std::vector<SimulatedRun> runs{};    // in the order of their ends
  double gpu_seconds = 0;              // held by all jobs
  int64_t plans = 0;
};

// Throws std::invalid_argument where the trace's running jobs do not fit on its nodes.
Simulation simulate(const Trace& trace, SimulatedPolicy policy);

}  // namespace scheduler
