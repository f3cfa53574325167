// Decides the outcome of an attempt and its item from the evidence: a pure table.
//
// The manifest counts most, then the job's terminal state, its present state, and last its absence.
// Absence from the queue never means "finished", and an unknown state means alive.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "db/records.h"
#include "scheduler/states/causes.h"
#include "slurm/cluster.h"

namespace scheduler {

enum class ManifestWitness {
  kAbsent,
  kAccepted,  // from this attempt, complete, and of the registered template
  kRefused,   // from another attempt, damaged, or without its files
};

struct Evidence {
  ManifestWitness manifest = ManifestWitness::kAbsent;
  std::string manifest_problem;  // for kRefused, one sentence
  std::optional<slurm::JobStatus> job;
  bool vanished = false;        // missing from complete snapshots for longer than a job may be
  bool claim_alive = false;     // a process still writes into the attempt's folder
  bool files_may_come = false;  // a shared file system may show a finished job's files late
  bool never_ran = false;       // no script of this attempt has begun
  bool no_progress = false;     // it stopped no further than the checkpoint that it began with
  std::string segment{};        // the length of its segment, if it had one: "1.0 h"
  // Why submissions pause if its device failed, since devices failed on other nodes, too. Empty:
  // the item or the host may be to blame.
  std::string hardware_pause;
  bool disk_full = false;  // the engine or the file system reports it
  // The engine refused the checkpoint from which its job was to resume.
  bool checkpoint_refused = false;
  std::string error;  // the engine's message, or the last line of the log
  std::string away;   // how its micrograph and its folder are missing; empty: they are not
  // The log's line that says that its memory did not suffice; empty: none does.
  std::string memory_error;
  bool ended_unseen = false;  // the folder of jobs was missing when its end was first seen
  bool cancel_requested = false;
  // How the micrograph differs from the enqueued one, or the volume from the registered one,
  // according to the result or to what the engine refused to search; empty when neither differs.
  std::string input_changed;
};

// `attempt` must be open.
Outcome judge(const db::Attempt& attempt, const Evidence& evidence, const Failures& failures,
              const RetryRules& rules);

// For a submission that got no answer and whose job the cluster proved not to have.
Outcome judge_never_started(const Failures& failures, const RetryRules& rules);

// What a refused job asked for in addition to what every job of the site asks for.
struct Asked {
  std::map<std::string, std::string> own_options{};  // the item's own, not the site's
  std::string lane{};                                // its lane (lanes.h); empty: the plain one
  // The configuration's keys that make its job wider or narrower than plain ones; else empty.
  std::string shape_keys{};
  std::string class_name{};  // its class, if that has options of its own; else empty
  bool raised = false;  // it asked for more time or memory than at first, after earlier attempts
};

// For a submission that the cluster refused.
Outcome judge_rejected(const slurm::SubmitResult& answer, const Asked& asked,
                       const Failures& failures, const RetryRules& rules);

// Whether a refusal may be about the number of jobs: Slurm uses one sentence for the limits of
// accounts and QOS, on the number of jobs and on the size of one.
bool may_be_about_number(const std::string& message);

// Whether a line of a job's log, or Slurm's reason, says that the job used more memory than it had.
bool says_out_of_memory(const std::string& line);

}  // namespace scheduler
