// Slurm's words for what a job is doing. Pure.
#pragma once

#include <set>
#include <string>

#include "slurm/cluster.h"

namespace slurm {

// The job's state. Slurm shows a base state and flags at once ({"CANCELLED", "COMPLETING"}).
// COMPLETING and flags that announce more to come take precedence over an end, so that a job is
// over only when it really is; an end with an unknown word, or no known word at all, counts as
// alive. Words are as squeue, sacct and slurmrestd write them, "CANCELLED by 1000" included. A new
// word goes into the table in job_states.cpp, into job_states_test and into docs/slurm.md; one of a
// job that holds its nodes and does not compute also into is_computing() of
// scheduler/daemon/tracker.cpp. A new JobState: see slurm/cluster.h.
JobState state_of(const std::set<std::string>& words);
// Whether the job is over, however it ended.
bool is_over(JobState state);
// The words of "CANCELLED+COMPLETING", "CANCELLED,COMPLETING" or "CANCELLED by 0", in capitals.
std::set<std::string> split_words(const std::string& text);
// "CANCELLED+COMPLETING", the base state first.
std::string join_words(const std::set<std::string>& words);

// What a reason (Resources, Priority, QOSMaxJobsPerUserLimit, AssocGrpGRES ...) means to the user,
// one clause; the word itself when it is not known.
std::string meaning_of_reason(const std::string& reason);
// Whether the job never starts unless somebody acts: it is held, or beyond a limit on one job.
bool needs_somebody(const std::string& reason);

// What a pending job waits for.
enum class WaitsFor {
  kTurn,   // nodes in use: it starts when jobs before it have ended, or the cause is not known yet
  kPlace,  // its partition, account, QOS, reservation or nodes: other jobs may wait for these, too
  kJob,    // its own settings: it is held, begins later, or asks for more than it may have
};
WaitsFor what_it_waits_for(const std::string& reason);

// Whether a pending job with this reason waits until somebody releases it: "JobHeldUser", "launch
// failed requeued held", "job requeued in held state".
bool says_held(const std::string& reason);

// Sets exit code or signal from a raw wait status, as v0.0.38 gives it.
void set_exit_of_wait_status(int wait_status, JobStatus& job);

}  // namespace slurm
