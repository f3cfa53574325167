// What becomes of an attempt, and of its item, given the evidence: a pure table.
//
// Order of evidence: the manifest, the job's terminal state, its present state, absence. Not being
// in the queue is never "finished", and an unknown word means alive.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "db/records.h"
#include "scheduler/policy/circuit_breaker.h"
#include "slurm/cluster.h"

namespace scheduler {

enum class ManifestWitness {
  kAbsent,
  kAccepted,  // of this attempt, complete, and of the registered template
  kRefused,   // of another attempt, damaged, or without its files
};

struct Evidence {
  ManifestWitness manifest = ManifestWitness::kAbsent;
  std::string manifest_problem;  // of kRefused, one sentence
  std::optional<slurm::JobStatus> job;
  bool vanished = false;        // absent from complete snapshots for longer than a job may be
  bool claim_alive = false;     // somebody still writes into the attempt's folder
  bool files_may_come = false;  // a shared file system may show a finished job's files late
  bool never_ran = false;       // no script of this attempt has begun
  bool no_progress = false;     // stopped, and no further than the checkpoint it began with
  bool disk_full = false;       // the engine, or the file system, says so
  std::string error;            // the engine's, or what the log says last
  bool cancel_requested = false;
  std::string micrograph_changed;  // since it was enqueued: how; empty = it did not
};

// How often each cause ended an attempt at this item since the user last said `retry`.
using Failures = std::map<std::string, int>;

struct RetryRules {
  std::chrono::milliseconds first{60'000};  // wait before another try, doubled each time
  std::chrono::milliseconds longest{3'600'000};
};

struct Outcome {
  db::AttemptState attempt = db::AttemptState::kPending;
  std::string cause{};    // of an ended attempt that is not DONE
  std::string message{};  // for the user
  // Set when the attempt ended: what the item becomes, why, and how long it then waits.
  std::optional<db::ItemState> item{};
  std::string reason{};
  std::chrono::milliseconds wait{0};
  // Set: the whole lane stops, since the fault is not the item's, and why.
  SiteFault site_fault = SiteFault::kNone;
  std::string pause_reason{};
};

// `attempt` must be open.
Outcome judge(const db::Attempt& attempt, const Evidence& evidence, const Failures& failures,
              const RetryRules& rules);

// A submission without an answer, of which the cluster proved to know nothing.
Outcome judge_never_started(const Failures& failures, const RetryRules& rules);

// A submission that the cluster refused; `own_options` are the item's, not the site's.
Outcome judge_rejected(const slurm::SubmitResult& answer,
                       const std::map<std::string, std::string>& own_options,
                       const Failures& failures, const RetryRules& rules);

// How much longer the next job may take than the site's template says.
double time_factor(const Failures& failures);

}  // namespace scheduler
