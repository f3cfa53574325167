// What becomes of an attempt, and of its item, given the evidence: a pure table.
//
// The manifest counts most, then the job's terminal state, its present state, and last its absence.
// Absence from the queue never means "finished", and a state that we do not know means alive.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "db/records.h"
#include "scheduler/policy/causes.h"
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
  bool claim_alive = false;     // a process still writes into the attempt's folder
  bool files_may_come = false;  // a shared file system may show a finished job's files late
  bool never_ran = false;       // no script of this attempt has begun
  bool no_progress = false;     // stopped no further than the checkpoint it began with
  std::string segment{};        // how long its segment was to be, if it was to run one: "1.0 h"
  // Why submissions pause if its device failed: it failed on other nodes, too. Empty: the item or
  // the host may be to blame.
  std::string hardware_pause;
  bool disk_full = false;           // the engine or the file system reports it
  bool checkpoint_refused = false;  // by the engine, of its job that was to resume from it
  std::string error;                // the engine's message, or the last line of the log
  std::string away;                 // how its micrograph is missing together with its folder
  std::string memory_error;         // the log's line that says so, if its memory did not suffice
  bool ended_unseen = false;        // the folder of jobs was away when its end was first seen
  bool cancel_requested = false;
  // How the micrograph differs from the enqueued one, or the volume from the registered one, by the
  // result or by what the engine refused to search; empty when neither does.
  std::string input_changed;
};

// `attempt` must be open.
Outcome judge(const db::Attempt& attempt, const Evidence& evidence, const Failures& failures,
              const RetryRules& rules);

// For a submission that got no answer and of which the cluster proved to know nothing.
Outcome judge_never_started(const Failures& failures, const RetryRules& rules);

// What a refused job asked for besides what every job of the site asks for.
struct Asked {
  std::map<std::string, std::string> own_options{};  // the item's, not the site's
  std::string lane{};                                // of its own (lanes.h); empty: the plain one
  // What makes its job wider or narrower than plain ones, as the configuration's keys; else empty.
  std::string shape_keys{};
  std::string class_name{};  // of a class with options of its own; else empty
  bool raised = false;       // more time or memory than at first, after earlier attempts
};

// For a submission that the cluster refused.
Outcome judge_rejected(const slurm::SubmitResult& answer, const Asked& asked,
                       const Failures& failures, const RetryRules& rules);

// Whether a refusal may be about the number of jobs: Slurm's one sentence for the limits of
// accounts and QOS covers that and the size of a job alike.
bool may_be_about_number(const std::string& message);

// Whether a line of a job's log, or Slurm's reason, says that the job used more memory than it had.
bool says_out_of_memory(const std::string& line);

}  // namespace scheduler
